"""`fit` in scikit-learn's manner.

model = NodeClassifier().fit(data)
model.architecture_, model.predict(), model.score()
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sanegnn.api import fit
from sanegnn.bundle import load
from sanegnn.data import GraphData
from sanegnn.data.opening import opened
from sanegnn.errors import BadGraph
from sanegnn.session import where
from sanegnn.settings import DataChoice, Machine, RunChoice, Search, Seed, Selection, Setting, Training
from sanegnn.space import Architecture
from sanegnn.tasks import NodeTask

Array = NDArray[Any]


class NodeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Designs, tunes and trains a graph neural network for the nodes of one graph.

    The parameters are those of `sanegnn.fit` by their short names. Without a `folder` the run is not
    kept. After `fit`: `architecture_`, `setting_`, `result_` (with the test score), `classes_` and
    `model_`, which predicts and can be saved.
    """

    def __init__(
        self,
        split: str = "0",
        metric: str | None = None,
        strategy: str = "paper",
        space: str = "paper",
        depth: int = 3,
        restarts: int = 2,
        trials: int = 2,
        rounds: int = 3,
        finalists: int = 3,
        repeats: int = 5,
        epochs: int = 300,
        patience: int = 50,
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
        found = opened(data, self._choice(), self._machine())
        if not isinstance(found, GraphData):
            raise BadGraph(f"{found.name} is no single graph: call sanegnn.fit with it")
        self.graph_ = found
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
        self.model_ = load(Path(folder) / self.result_.run, where(self.device))
        return self

    def _choice(self) -> DataChoice:
        return DataChoice(self.split, self.metric)

    def _machine(self) -> Machine:
        return Machine(self.device, self.workers)

    def predict_proba(self, data: Any = None) -> Array:
        """Class probabilities (N, C) for every node of `data`, by default of the fitted graph."""
        check_is_fitted(self, "model_")
        odds: Array = self.model_.predict_proba(self.graph_ if data is None else data)
        return odds

    def predict(self, data: Any = None) -> Array:
        """The most probable class (N,) of every node."""
        predicted: Array = self.classes_[self.predict_proba(data).argmax(1)]
        return predicted

    def score(self, data: Any = None, nodes: Any = None) -> float:
        """The accuracy on `nodes` of `data`; by default on the test nodes of the fitted graph."""
        known = self.graph_ if data is None else self.model_.graph(data)
        if nodes is None:
            labelled = np.flatnonzero(known.y >= 0)
            nodes = NodeTask.of(known, self.split).test.rows if data is None else labelled
        truth = np.asarray(known.classes)[known.y[nodes]]
        return float(np.mean(self.predict(data)[nodes] == truth))
