"""Predicting links: which pairs of nodes of a graph are joined.

Messages take the edges of the training part alone, in every part. Training pairs without an edge are drawn
anew for every epoch, and are not checked against the pairs that are held out; validation and test have fixed
ones, as many as they have joined pairs, of which none is an edge of any part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from sanegnn.aims import LinkKnobs
from sanegnn.data import GraphData
from sanegnn.data.pairs import Pairs, keys_of, pairs_apart, plain_features, split_pairs
from sanegnn.errors import SealedTest
from sanegnn.kernels import Features
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets import Inputs, mean_chances
from sanegnn.seeds import Noise, generator
from sanegnn.settings import Knobs
from sanegnn.space import Architecture, plain_designs
from sanegnn.tasks.base import Batch, Finished, Keeping, tasks
from sanegnn.tasks.metrics import link_metrics

if TYPE_CHECKING:
    from sanegnn.bundle.links import LinkModel

Ids = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class LinkSearch(Keeping["ReadyPairs"]):
    """The task as a search sees it: all nodes, the edges of training, the pairs of validation."""

    name: str
    split: str
    metric: str
    x: Any
    edges: Ids
    weight: Any
    knobs_given: LinkKnobs
    train: Ids
    val: Pairs

    def tensors(self, features: str, device: str) -> ReadyPairs:
        """The graph of training under that scaling."""
        return ReadyPairs(self, Inputs.of(self, features, device), device)

    def parts(self) -> dict[str, Pairs]:
        """The fixed parts that may be looked at."""
        return {"val": self.val}


@tasks.add("links", source="which pairs of nodes of one graph are joined")
@dataclass(frozen=True, eq=False)
class LinkTask(LinkSearch):
    """The whole task."""

    takes: ClassVar[type] = GraphData
    knobs: ClassVar[type[Knobs]] = LinkKnobs
    space: ClassVar[str] = "paper"
    depth: ClassVar[int] = 2
    rivals: ClassVar[tuple[str, ...]] = ()

    test: Pairs = field(kw_only=True)
    data: GraphData = field(kw_only=True, repr=False)

    @classmethod
    def of(
        cls, data: GraphData, split: str = "0", metric: str | None = None, knobs: LinkKnobs | None = None
    ) -> LinkTask:
        """The task of one split of the pairs, by a seed."""
        judged = metric or "roc_auc"
        link_metrics.entry(judged)
        parts = split_pairs(data, split)
        x = plain_features(data, parts.edges).x
        shown = (data.name, parts.name, judged, x, parts.edges, parts.weight, knobs or LinkKnobs())
        return cls(*shown, parts.train, parts.val, test=parts.test, data=data)

    def without_test(self) -> LinkSearch:
        """The same without the test pairs."""
        shown = (self.name, self.split, self.metric, self.x, self.edges, self.weight, self.knobs_given)
        return LinkSearch(*shown, self.train, self.val)

    @staticmethod
    def designs(depth: int) -> Sequence[Architecture]:
        """Plain stacks."""
        return plain_designs(depth)

    def parts(self) -> dict[str, Pairs]:
        """Both fixed parts."""
        return {**super().parts(), "test": self.test}

    @property
    def sizes(self) -> Mapping[str, int]:
        """The joined pairs of each part."""
        held = {name: part.joined.shape[1] for name, part in self.parts().items()}
        return {"train": self.train.shape[1], **held}

    def model(self, finished: Finished) -> LinkModel:
        """The nets, with what they need to read another graph."""
        from sanegnn.bundle.links import LinkModel

        source = self.data.source
        return LinkModel(
            finished.architecture,
            finished.setting,
            finished.states,
            Scaling.fit(Features.of(self.x), finished.setting.scaling),
            (),
            source.preprocessing if source else None,
            finished.undirected,
            head=self.knobs_given.head,
            about=finished.about,
            device=finished.device,
        )


class ReadyPairs:
    """The task as tensors: one batch a part."""

    num_outputs = 1
    together = staticmethod(mean_chances)

    def __init__(self, task: LinkSearch, inputs: Inputs, device: str) -> None:
        self.num_features, self.head = inputs.features.shape[1], task.knobs_given.head
        self.metric, self.inputs, self.device = link_metrics[task.metric], inputs, device
        self.nodes, self.joined, self.times = task.x.shape[0], task.train, task.knobs_given.negatives
        self.known = np.unique(keys_of(task.train, self.nodes))
        self._fixed = {name: (self._batch(part.joined, part.apart),) for name, part in task.parts().items()}

    def _batch(self, joined: Ids, apart: Ids) -> Batch:
        pairs = torch.as_tensor(np.concatenate([joined, apart], axis=1), device=self.device)
        target = torch.zeros(pairs.shape[1], device=self.device)
        target[: joined.shape[1]] = 1.0
        return Batch(replace(self.inputs, pairs=pairs), target)

    def batches(self, part: str, noise: Noise | None = None) -> Sequence[Batch]:
        """The one batch of a part; that of training has other pairs without an edge for every noise."""
        if part == "train":
            rng = generator(noise.key if noise else 0, "negatives")
            count = self.times * self.joined.shape[1]
            return (self._batch(self.joined, pairs_apart(rng, self.known, self.nodes, count)),)
        if part not in self._fixed:
            raise SealedTest(f"the {part} part is sealed: a search sees training and validation pairs alone")
        return self._fixed[part]

    def loss(self, output: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy of joined or not."""
        return binary_cross_entropy_with_logits(output[:, 0], batch.target)

    def score(self, outputs: Sequence[Tensor], part: str) -> float:
        """The metric over the pairs of the part."""
        (output,), (batch,) = outputs, self.batches(part)
        return self.metric(output[:, 0], batch.target)
