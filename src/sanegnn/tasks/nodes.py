"""Classifying the nodes of one graph, all of which is seen while only some labels are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from sanegnn.data import GraphData, resolve
from sanegnn.errors import BadSplit, SealedTest
from sanegnn.kernels import Features
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets import Inputs, mean_odds
from sanegnn.seeds import Noise
from sanegnn.settings import Knobs, NoKnobs
from sanegnn.space import Architecture, plain_designs
from sanegnn.tasks.base import Batch, Finished, Keeping, tasks
from sanegnn.tasks.metrics import metrics

if TYPE_CHECKING:
    from sanegnn.bundle import Model

Ids = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class Part:
    """Some nodes and their classes."""

    rows: Ids
    target: Ids


@dataclass(frozen=True, eq=False)
class NodeSearch(Keeping["ReadyNodes"]):
    """The task as a search sees it: all nodes and edges, the labels of training and validation alone."""

    name: str
    split: str
    metric: str
    x: Any
    edges: Ids
    weight: Any
    classes: tuple[str, ...]
    train: Part
    val: Part

    def tensors(self, features: str, device: str) -> ReadyNodes:
        """The graph under that scaling."""
        return ReadyNodes(self, Inputs.of(self, features, device), device)

    def parts(self) -> dict[str, Part]:
        """The parts that may be looked at."""
        return {"train": self.train, "val": self.val}


@tasks.add("nodes", source="the classes of the nodes of one graph")
@dataclass(frozen=True, eq=False)
class NodeTask(NodeSearch):
    """The whole task."""

    takes: ClassVar[type] = GraphData
    knobs: ClassVar[type[Knobs]] = NoKnobs
    space: ClassVar[str] = "paper"
    depth: ClassVar[int] = 3
    rivals: ClassVar[tuple[str, ...]] = ()

    test: Part = field(kw_only=True)
    data: GraphData = field(kw_only=True, repr=False)

    @classmethod
    def of(
        cls,
        data: GraphData,
        split: str = "0",
        metric: str | None = None,
        knobs: NoKnobs | None = None,  # noqa: ARG003
    ) -> NodeTask:
        """The task of one split of `data`: a seed, or the name of one of its own."""
        chosen = resolve(data, split)
        judged = metric or data.metric
        metrics.entry(judged)
        _every_class_is_trained(data, chosen.train, chosen.name)
        train, val, test = (Part(rows, data.y[rows]) for rows in (chosen.train, chosen.val, chosen.test))
        shown = (data.name, chosen.name, judged, data.x, data.edges, data.weight, data.classes)
        return cls(*shown, train, val, test=test, data=data)

    def without_test(self) -> NodeSearch:
        """The same without the test labels."""
        shown = (self.name, self.split, self.metric, self.x, self.edges, self.weight, self.classes)
        return NodeSearch(*shown, self.train, self.val)

    @staticmethod
    def designs(depth: int) -> Sequence[Architecture]:
        """Plain stacks."""
        return plain_designs(depth)

    def parts(self) -> dict[str, Part]:
        """All three parts."""
        return {**super().parts(), "test": self.test}

    @property
    def sizes(self) -> dict[str, int]:
        """The nodes of each part."""
        return {name: len(part.rows) for name, part in self.parts().items()}

    def model(self, finished: Finished) -> Model:
        """The nets, with what they need to read another graph; calibrated on the validation nodes."""
        from sanegnn.bundle import Model

        data = self.data
        model = Model(
            finished.architecture,
            finished.setting,
            finished.states,
            Scaling.fit(Features.of(data.x), finished.setting.scaling),
            data.classes,
            data.source.preprocessing if data.source else None,
            finished.undirected,
            about=finished.about,
            device=finished.device,
        )
        return model.calibrated_on([data], self.val.rows)


def _every_class_is_trained(data: GraphData, train: Ids, split: str) -> None:
    missing = sorted(set(range(data.num_classes)) - set(data.y[train].tolist()))
    if missing:
        names = ", ".join(repr(data.classes[place]) for place in missing)
        raise BadSplit(
            f"split {split!r} has no training node of class {names}: label some, or merge or drop the class"
        )


class ReadyNodes:
    """The task as tensors: one forward pass serves a whole part."""

    head = "linear"
    together = staticmethod(mean_odds)

    def __init__(self, task: NodeSearch, inputs: Inputs, device: str) -> None:
        self.num_features = inputs.features.shape[1]
        self.num_outputs = len(task.classes)
        self.metric = metrics[task.metric]
        self.inputs = inputs
        self._batches = {
            name: (Batch(replace(inputs, rows=_tensor(part.rows, device)), _tensor(part.target, device)),)
            for name, part in task.parts().items()
        }

    def batches(self, part: str, noise: Noise | None = None) -> Sequence[Batch]:
        """The one batch of a part."""
        if part not in self._batches:
            raise SealedTest(f"the {part} part is sealed: a search sees training and validation labels alone")
        return self._batches[part]

    def loss(self, output: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy over the rows of the part."""
        return cross_entropy(output, batch.target)

    def score(self, outputs: Sequence[Tensor], part: str) -> float:
        """The metric over the rows of the part."""
        (output,), (batch,) = outputs, self.batches(part)
        return self.metric(output, batch.target)


def _tensor(ids: Ids, device: str) -> Tensor:
    return torch.as_tensor(np.asarray(ids, dtype=np.int64), device=device)
