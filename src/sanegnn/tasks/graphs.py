"""Telling the class of whole graphs, or a number for each: graphs in a part are seen in no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from sanegnn.aims import GraphsKnobs
from sanegnn.data import WholeGraphs
from sanegnn.errors import BadSplit, SealedTest
from sanegnn.kernels import Features, Segments
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets import Inputs
from sanegnn.seeds import Noise, generator
from sanegnn.settings import Knobs
from sanegnn.space import Architecture, pooled_designs
from sanegnn.tasks.base import Batch, Finished, Keeping, tasks
from sanegnn.tasks.targets import Class, Number, target_of

if TYPE_CHECKING:
    from sanegnn.bundle.graphs import GraphsModel


@dataclass(frozen=True, eq=False)
class GraphsSearch(Keeping["ReadyGraphs"]):
    """The task as a search sees it: the graphs of training and validation alone."""

    name: str
    split: str
    metric: str
    target: Class | Number
    settings: GraphsKnobs
    train: WholeGraphs
    val: WholeGraphs

    def tensors(self, features: str, device: str) -> ReadyGraphs:
        """The graphs under that scaling."""
        return ReadyGraphs(self, self.scaling(features), device)

    def scaling(self, features: str) -> Scaling:
        """A scaling, fitted on the training graphs."""
        return Scaling.fit(Features.of(self.train.x), features)

    def parts(self) -> dict[str, WholeGraphs]:
        """The parts that may be looked at."""
        return {"train": self.train, "val": self.val}


@tasks.add("graphs", source="classes of whole graphs, or numbers: SANE, Section VII, future work")
@dataclass(frozen=True, eq=False)
class GraphsTask(GraphsSearch):
    """The whole task."""

    takes: ClassVar[type] = WholeGraphs
    knobs: ClassVar[type[Knobs]] = GraphsKnobs
    space: ClassVar[str] = "graph"
    depth: ClassVar[int] = 3
    rivals: ClassVar[tuple[str, ...]] = (
        *("graph-gin", "graph-gcn", "graph-gat", "graph-sage", "graph-dgcnn", "graph-topk"),
    )

    test: WholeGraphs = field(kw_only=True)

    @classmethod
    def of(
        cls,
        data: WholeGraphs,
        split: str | None = None,
        metric: str | None = None,
        knobs: GraphsKnobs | None = None,
    ) -> GraphsTask:
        """The task of one split: i for fold i of ten, or the name of one of the data's own."""
        chosen = data.resolve(split or data.usual_splits[0])
        train, val, test = (data.among(ids) for ids in (chosen.train, chosen.val, chosen.test))
        _every_class_is_trained(train, chosen.name)
        target, judged = target_of(train), metric or data.metric
        target.metrics.entry(judged)
        shown = (data.name, chosen.name, judged, target, knobs or GraphsKnobs())
        return cls(*shown, train, val, test=test)

    def without_test(self) -> GraphsSearch:
        """The same without the test graphs."""
        shown = (self.name, self.split, self.metric, self.target, self.settings)
        return GraphsSearch(*shown, self.train, self.val)

    @staticmethod
    def designs(depth: int) -> Sequence[Architecture]:
        """What a person would try first, with a pooling."""
        return pooled_designs(depth)

    def parts(self) -> dict[str, WholeGraphs]:
        """All three parts."""
        return {**super().parts(), "test": self.test}

    @property
    def sizes(self) -> dict[str, int]:
        """The graphs of each part."""
        return {name: len(part) for name, part in self.parts().items()}

    def model(self, finished: Finished) -> GraphsModel:
        """The nets, with what they need to read other graphs; calibrated on the validation graphs."""
        from sanegnn.bundle.graphs import GraphsModel

        constants: dict[str, Any] = dict(self.target.constants)
        model = GraphsModel(
            finished.architecture,
            finished.setting,
            finished.states,
            self.scaling(finished.setting.scaling),
            self.train.classes,
            self.train.preprocessing,
            **constants,
            undirected=finished.undirected,
            about=finished.about,
            device=finished.device,
        )
        return model.calibrated_on(self.val)


def _every_class_is_trained(train: WholeGraphs, split: str) -> None:
    missing = sorted(set(range(len(train.classes))) - set(train.y.tolist()))
    if missing:
        names = ", ".join(repr(train.classes[place]) for place in missing)
        raise BadSplit(
            f"split {split!r} has no training graph of class {names}: label some, or merge or drop the class"
        )


class ReadyGraphs:
    """The task as tensors: a batch is the disjoint union of some graphs, made once and kept.

    Which graphs stand together stays as it is; an epoch goes through the batches in an order of its own.
    """

    head = "linear"

    def __init__(self, task: GraphsSearch, scaling: Scaling, device: str) -> None:
        self.num_features, self.num_outputs = scaling.width, task.target.outputs
        self.target, self.metric = task.target, task.target.metrics[task.metric]
        self.loss_of, self.together = task.target.loss, task.target.together
        self._batches = {
            name: tuple(
                Batch(inputs_of(piece, scaling, device), self.target.tensor(piece.y).to(device))
                for piece in pieces(part, task.settings.batch)
            )
            for name, part in task.parts().items()
        }

    def batches(self, part: str, noise: Noise | None = None) -> Sequence[Batch]:
        """The batches of a part; those of training in the order that the noise says."""
        if part not in self._batches:
            raise SealedTest(f"the {part} part is sealed: a search sees training and validation graphs alone")
        made = self._batches[part]
        if noise is None or part != "train":
            return made
        return [made[place] for place in generator(noise.key, "order").permutation(len(made))]

    def loss(self, output: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy, or the absolute error."""
        return self.loss_of(output, batch.target)

    def score(self, outputs: Sequence[Tensor], part: str) -> float:
        """The metric over all graphs of the part."""
        target = torch.cat([batch.target for batch in self.batches(part)])
        return self.metric(self.target.said(torch.cat(list(outputs))), target)


def pieces(part: WholeGraphs, batch: int) -> list[WholeGraphs]:
    """The graphs in batches of nearly equal numbers, at most `batch` each, mixed by chance."""
    order = generator(0, "batches").permutation(len(part))
    return [part.among(some) for some in np.array_split(order, -(-len(part) // batch))]


def inputs_of(graphs: WholeGraphs, scaling: Scaling, device: str) -> Inputs:
    """What a net reads of a union of graphs."""
    segments = Segments.of(torch.as_tensor(graphs.sizes, device=device))
    return replace(Inputs.of(graphs, scaling, device), segments=segments)
