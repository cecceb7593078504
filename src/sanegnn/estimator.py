"""`fit` in scikit-learn's manner.

model = NodeClassifier().fit(data)
model.architecture_, model.predict(), model.score()
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sanegnn.api import fit
from sanegnn.data import GraphData
from sanegnn.errors import BadGraph
from sanegnn.nets import Net
from sanegnn.results import Result
from sanegnn.session import graph, where
from sanegnn.settings import DataChoice, Machine, RunChoice, Search, Seed, Selection, Setting, Training
from sanegnn.space import Architecture
from sanegnn.tasks import NodeTask
from sanegnn.training.jobs import restored
from sanegnn.training.select import Bench, retrain_jobs
from sanegnn.work import InOrder

Array = NDArray[Any]


class NodeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Designs, tunes and trains a graph neural network for the nodes of one graph.

    The parameters are those of `sanegnn.fit` by their short names. Without a `folder` the run is not
    kept. After `fit`: `architecture_`, `setting_`, `result_` (with the test score), `classes_` and
    `nets_`, one net for every retraining; predictions are the mean of their probabilities.
    """

    def __init__(
        self,
        split: str = "0",
        metric: str | None = None,
        strategy: str = "paper",
        space: str = "paper",
        depth: int = 3,
        restarts: int = 3,
        trials: int = 3,
        rounds: int = 3,
        finalists: int = 3,
        repeats: int = 5,
        epochs: int = 400,
        patience: int = 60,
        seed: int = 0,
        device: str = "auto",
        workers: int = 0,
        folder: str | None = None,
    ) -> None:
        self.split = split
        self.metric = metric
        self.strategy = strategy
        self.space = space
        self.depth = depth
        self.restarts = restarts
        self.trials = trials
        self.rounds = rounds
        self.finalists = finalists
        self.repeats = repeats
        self.epochs = epochs
        self.patience = patience
        self.seed = seed
        self.device = device
        self.workers = workers
        self.folder = folder

    def fit(self, data: Any, y: Any = None) -> Self:
        """Search, tune and train on `data`, which holds its labels; `y` replaces them if given."""
        self.graph_ = graph(data, self._choice(), self._machine())
        if y is not None:
            self.graph_ = GraphData.of((self.graph_.x, self.graph_.edges, y), self.graph_.name)
        self.classes_ = np.asarray(self.graph_.classes)
        if self.folder is not None:
            return self._fit_in(self.folder)
        with tempfile.TemporaryDirectory() as folder:
            return self._fit_in(folder)

    def _fit_in(self, folder: str) -> Self:
        selection = Selection(self.trials, self.rounds, self.finalists, self.repeats)
        self.result_ = fit(
            self.graph_,
            choice=self._choice(),
            search=Search(self.strategy, self.space, self.depth, self.restarts),
            selection=selection,
            training=Training(self.epochs, self.patience),
            seed=Seed(self.seed),
            run=RunChoice(folder=folder),
            machine=self._machine(),
        )
        self.architecture_ = Architecture.parse(self.result_.architecture)
        self.setting_ = Setting.of(self.result_.setting)
        self.nets_ = self._nets(self.result_, Path(folder))
        return self

    def _choice(self) -> DataChoice:
        return DataChoice(self.split, self.metric)

    def _machine(self) -> Machine:
        return Machine(self.device, self.workers)

    def _nets(self, result: Result, folder: Path) -> list[Net]:
        task = NodeTask.of(self.graph_, self.split, self.metric)
        training = Training(self.epochs, self.patience)
        bench = Bench(task.without_test(), InOrder(), training, self.seed, where(self.device))
        weights = folder / result.run / "nets"
        jobs = retrain_jobs(bench, self.architecture_, self.setting_, len(result.validations), weights)
        ready = task.ready(self.setting_.scaling, bench.device)
        return [restored(job, ready) for job in jobs]

    def predict_proba(self, data: Any = None) -> Array:
        """Class probabilities (N, C) for every node of `data`, by default of the fitted graph."""
        check_is_fitted(self, "nets_")
        known = self.graph_ if data is None else GraphData.of(data)
        if known.num_features != self.graph_.num_features:
            raise BadGraph(
                f"the model was fitted on {self.graph_.num_features} features, but {known.num_features} came"
            )
        inputs = NodeTask.inputs_of(known, self.setting_.scaling, where(self.device))
        with torch.no_grad():
            odds = torch.stack([torch.softmax(net(inputs), dim=1) for net in self.nets_]).mean(0)
        probabilities: Array = odds.cpu().numpy()
        return probabilities

    def predict(self, data: Any = None) -> Array:
        """The most probable class (N,) of every node."""
        predicted: Array = self.classes_[self.predict_proba(data).argmax(1)]
        return predicted

    def score(self, data: Any = None, nodes: Any = None) -> float:
        """The accuracy on `nodes` of `data`; by default on the test nodes of the fitted graph."""
        known = self.graph_ if data is None else GraphData.of(data)
        if nodes is None:
            labelled = np.flatnonzero(known.y >= 0)
            nodes = NodeTask.of(known, self.split).test.rows if data is None else labelled
        truth = np.asarray(known.classes)[known.y[nodes]]
        return float(np.mean(self.predict(data)[nodes] == truth))
