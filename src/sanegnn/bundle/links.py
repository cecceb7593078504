"""The model of link prediction: how likely pairs of nodes are joined, and who is likely missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from sanegnn.bundle.model import Array, model_of, models
from sanegnn.bundle.saved import Saved
from sanegnn.data import GraphData
from sanegnn.nets import Inputs

BLOCK = 1 << 20
"""Pairs that are looked at together."""


@dataclass(frozen=True, eq=False)
class LinkModel(Saved):
    """What `fit --task links` leaves; it has no classes."""

    task: ClassVar[str] = "links"
    things: ClassVar[str] = "links"

    @property
    def num_outputs(self) -> int:
        """One: joined or not."""
        return 1

    def predict_proba(self, data: Any, pairs: Any) -> Array:
        """How likely each pair (2, P) of node numbers is joined (P,): the mean over the nets."""
        found: Array = self._chances(
            Inputs.of(self.graph(data), self.scaling, self.device), torch.as_tensor(pairs)
        )
        return found

    @torch.no_grad()
    def _chances(self, inputs: Inputs, pairs: Tensor) -> Array:
        embedded = [(net, net.embed(inputs)) for net in self.nets]
        blocks = []
        for block in torch.split(pairs.to(self.device), BLOCK, dim=1):
            asked = Inputs(inputs.features, inputs.graph, pairs=block)
            chances = [torch.sigmoid(net.outputs(z, asked, None)[:, 0]) for net, z in embedded]
            blocks.append(torch.stack(chances).mean(0))
        found: Array = torch.cat(blocks).cpu().numpy()
        return found

    def suggested(self, data: GraphData, each: int = 3) -> tuple[Array, Array]:
        """Of every node the `each` likeliest partners without an edge: pairs (2, P), their chances (P,)."""
        inputs = Inputs.of(data, self.scaling, self.device)
        pairs, chances = [], []
        for sources in _blocks(data.num_nodes):
            block = self._chances(inputs, _all_pairs(sources, data.num_nodes)).reshape(len(sources), -1)
            block[np.arange(len(sources)), sources] = -1
            known = np.isin(data.edges, sources).any(0)
            for one, other in (data.edges[:, known], data.edges[::-1, known]):
                inside = np.isin(one, sources)
                block[one[inside] - sources[0], other[inside]] = -1
            best = np.argsort(-block, axis=1, kind="stable")[:, :each]
            pairs.append(np.stack([np.repeat(sources, best.shape[1]), best.ravel()]))
            chances.append(np.take_along_axis(block, best, 1).ravel())
        found, odds = np.concatenate(pairs, axis=1), np.concatenate(chances)
        return found[:, odds >= 0], odds[odds >= 0]


def _blocks(nodes: int) -> Iterator[Array]:
    size = max(1, BLOCK // nodes)
    for begin in range(0, nodes, size):
        yield np.arange(begin, min(begin + size, nodes))


def _all_pairs(sources: Array, nodes: int) -> Tensor:
    return torch.stack([
        torch.as_tensor(np.repeat(sources, nodes)), torch.arange(nodes).repeat(len(sources))
    ])  # fmt: skip


models.add("links")(partial(model_of, LinkModel))
