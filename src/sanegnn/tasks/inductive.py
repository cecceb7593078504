"""Classifying the nodes of graphs that were never seen, from other graphs of one schema.

A node has one class, or several labels that are each true or false. Of the test part a search sees nothing:
neither labels nor graphs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from sanegnn.aims import InductiveKnobs
from sanegnn.data import GraphData
from sanegnn.data.graphset import GraphSet, Union, features_of
from sanegnn.errors import BadSplit, SealedTest
from sanegnn.kernels import Features
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets import Inputs, mean_chances, mean_odds
from sanegnn.registry import Registry
from sanegnn.seeds import Noise, generator
from sanegnn.settings import Knobs
from sanegnn.space import Architecture, plain_designs
from sanegnn.tasks.base import Batch, Finished, Keeping, tasks
from sanegnn.tasks.metrics import Metric, label_metrics, metrics

if TYPE_CHECKING:
    from sanegnn.bundle import Model

Graphs = tuple[GraphData, ...]


@dataclass(frozen=True, eq=False)
class InductiveSearch(Keeping["ReadyGraphs"]):
    """The task as a search sees it: the graphs of training and validation alone."""

    name: str
    split: str
    metric: str
    classes: tuple[str, ...]
    several: bool
    group: int
    train: Graphs
    val: Graphs

    def tensors(self, features: str, device: str) -> ReadyGraphs:
        """The graphs, under a scaling whose constants are those of the training graphs."""
        return ReadyGraphs(self, self.scaling(features), device)

    def scaling(self, mode: str) -> Scaling:
        """The constants of the training graphs."""
        return Scaling.fit(Features.of(features_of(self.train)), mode)

    def parts(self) -> dict[str, Graphs]:
        """The parts that may be looked at."""
        return {"train": self.train, "val": self.val}


@tasks.add("inductive", source="the classes, or the labels, of the nodes of graphs that were never seen")
@dataclass(frozen=True, eq=False)
class InductiveTask(InductiveSearch):
    """The whole task."""

    takes: ClassVar[type] = GraphSet
    knobs: ClassVar[type[Knobs]] = InductiveKnobs
    space: ClassVar[str] = "paper"
    depth: ClassVar[int] = 3
    rivals: ClassVar[tuple[str, ...]] = ()

    test: Graphs = field(kw_only=True)
    data: GraphSet = field(kw_only=True, repr=False)

    @classmethod
    def of(
        cls,
        data: GraphSet,
        split: str = "0",
        metric: str | None = None,
        knobs: InductiveKnobs | None = None,
    ) -> InductiveTask:
        """The task of one split of the graphs: a seed, or the name of one of its own."""
        chosen = data.resolve(split)
        data.refuse_strange(chosen)
        judged = metric or (data.metric if data.metric in scores(data.several) else "micro_f1")
        scores(data.several).entry(judged)
        train, val, test = (
            tuple(data.graphs[place] for place in part) for part in (chosen.train, chosen.val, chosen.test)
        )
        for part, graphs in (("train", train), ("val", val), ("test", test)):
            _has_labels(part, graphs, chosen.name)
        _all_are_trained(data, train, chosen.name)
        shown = (data.name, chosen.name, judged, data.classes, data.several)
        return cls(*shown, (knobs or InductiveKnobs()).batch, train, val, test=test, data=data)

    def without_test(self) -> InductiveSearch:
        """The same without the test graphs."""
        shown = (self.name, self.split, self.metric, self.classes, self.several, self.group)
        return InductiveSearch(*shown, self.train, self.val)

    @staticmethod
    def designs(depth: int) -> Sequence[Architecture]:
        """Plain stacks."""
        return plain_designs(depth)

    def parts(self) -> dict[str, Graphs]:
        """All three parts."""
        return {**super().parts(), "test": self.test}

    @property
    def sizes(self) -> Mapping[str, int]:
        """The graphs of each part."""
        return {name: len(graphs) for name, graphs in self.parts().items()}

    def model(self, finished: Finished) -> Model:
        """The nets, with what they need to read another graph; calibrated on the validation graphs."""
        from sanegnn.bundle import Model

        source = self.train[0].source
        model = Model(
            finished.architecture,
            finished.setting,
            finished.states,
            self.scaling(finished.setting.scaling),
            self.classes,
            source.preprocessing if source else None,
            finished.undirected,
            several=self.several,
            about=finished.about,
            device=finished.device,
        )
        return model.calibrated_on(self.val)


def scores(several: bool) -> Registry[Metric]:
    """The metrics for nodes with several labels, or with one class."""
    return label_metrics if several else metrics


def _has_labels(part: str, graphs: Graphs, split: str) -> None:
    """Fail if no node of a part has a label."""
    if not any((one.y >= 0).any() for one in graphs):
        names = ", ".join(one.name for one in graphs[:3])
        raise BadSplit(f"split {split!r}: no node of the graphs in {part} ({names}) has a label")


def _all_are_trained(data: GraphSet, train: Graphs, split: str) -> None:
    """Fail if a class, or a label, is never seen in training."""
    if data.several:
        seen = np.sum([one.y.sum(0) for one in train], axis=0) > 0
    else:
        seen = np.isin(np.arange(data.num_classes), np.concatenate([one.y for one in train]))
    missing = [repr(name) for name, there in zip(data.classes, seen, strict=True) if not there]
    if missing:
        what = "label" if data.several else "class"
        raise BadSplit(
            f"split {split!r}: no training graph of {data.name} has a node of {what} "
            f"{', '.join(missing[:5])}: train on other graphs, or drop it"
        )


class ReadyGraphs:
    """The task as tensors: some whole graphs a batch, the same ones always."""

    head = "linear"

    def __init__(self, task: InductiveSearch, scaling: Scaling, device: str) -> None:
        self.num_features, self.num_outputs = scaling.width, len(task.classes)
        self.several, self.metric = task.several, scores(task.several)[task.metric]
        self.together = mean_chances if task.several else mean_odds
        make = partial(self._batch, scaling=scaling, device=device)
        self._batches = {name: _grouped(part, task.group, make) for name, part in task.parts().items()}

    def _batch(self, graphs: Graphs, scaling: Scaling, device: str) -> Batch:
        """Some graphs as one; only nodes with a label are asked for."""
        union = Union.of(graphs)
        inputs = Inputs.of(union, scaling, device)
        if self.several:
            return Batch(inputs, torch.as_tensor(union.y, dtype=torch.float32, device=device))
        rows = np.flatnonzero(union.y >= 0)
        if len(rows) < len(union.y):
            inputs = Inputs(inputs.features, inputs.graph, torch.as_tensor(rows, device=device))
        return Batch(inputs, torch.as_tensor(union.y[rows], device=device))

    def batches(self, part: str, noise: Noise | None = None) -> Sequence[Batch]:
        """The batches of a part, in another order for every noise."""
        if part not in self._batches:
            raise SealedTest(f"the {part} part is sealed: a search sees training and validation graphs alone")
        found = self._batches[part]
        if noise is None or len(found) == 1:
            return found
        order = generator(noise.key, "batches").permutation(len(found))
        return tuple(found[place] for place in order)

    def loss(self, output: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy over the nodes, of every label by itself where there are several."""
        if self.several:
            return binary_cross_entropy_with_logits(output, batch.target)
        return cross_entropy(output, batch.target)

    def score(self, outputs: Sequence[Tensor], part: str) -> float:
        """The metric over the nodes of all graphs of the part."""
        return self.metric(torch.cat(list(outputs)), torch.cat([one.target for one in self._batches[part]]))


def _grouped(graphs: Graphs, size: int, make: Any) -> tuple[Batch, ...]:
    """Batches of so many graphs, the last perhaps of fewer; graphs without a label are left out."""
    labelled = [one for one in graphs if (one.y >= 0).any()]
    return tuple(make(tuple(labelled[at : at + size])) for at in range(0, len(labelled), size))
