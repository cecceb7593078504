"""What a prediction for one node can depend on: its surroundings, cut out of the graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch_geometric.utils import k_hop_subgraph

from sanegnn.bundle import Model
from sanegnn.data import GraphData
from sanegnn.errors import BadGraph
from sanegnn.explaining.gradients import masked
from sanegnn.exporting import plain
from sanegnn.ops import NodeAggregator


@dataclass(frozen=True, eq=False)
class Around:
    """A node at `place` among its surroundings.

    Args:
        net: the model in its plain form.
        ids: what the nodes are called.
        place: the number of the node that is explained.
        x: scaled features (N, F).
        edges: (2, E), source over target.
        weight: (E,).
        target: the number of the class that is explained.
    """

    net: Any
    ids: list[Any]
    place: int
    x: Tensor
    edges: Tensor
    weight: Tensor
    target: int = 0

    def odds(self, x: Tensor | None = None) -> Tensor:
        """The probabilities of the classes of the node (C,)."""
        odds: Tensor = self.net.joined(self.x if x is None else x, self.edges, self.weight)
        return odds[self.place]

    def chance(self, x: Tensor | None = None) -> Tensor:
        """p(class)."""
        return self.odds(x)[self.target]

    def chance_under(self, mask: Tensor) -> Tensor:
        """p(class) where every message is multiplied by the mask of its edge."""
        with masked(self.net, mask, self.edges):
            return self.chance()

    def without(self, gone: Tensor) -> float:
        """p(class) in the graph without some edges (E,) bool."""
        rest = replace(self, edges=self.edges[:, ~gone], weight=self.weight[~gone])
        with torch.no_grad():
            return float(rest.chance())

    @cached_property
    def distances(self) -> list[int]:
        """How many edges a message travels from each node to the one that is explained."""
        far = torch.full((len(self.ids),), -1)
        far[self.place], reached = 0, torch.tensor([self.place])
        while reached.numel():
            step = int(far[reached[0]]) + 1
            reached = torch.unique(self.edges[0][torch.isin(self.edges[1], reached)])
            reached = reached[far[reached] < 0]
            far[reached] = step
        return cast("list[int]", far.tolist())


def around(model: Model, data: GraphData, node: Any) -> Around:
    """Cut out what the prediction of a node depends on; of a model with `pair` norm, that is the graph.

    One step further than messages travel is kept, for the degrees of the outermost nodes.
    """
    number = place_of(data, node)
    edges = torch.from_numpy(data.edges)
    weight = torch.ones(data.num_edges) if data.weight is None else torch.from_numpy(data.weight)
    kept, place = torch.arange(data.num_nodes), number
    if model.setting.norm != "pair":
        kept, edges, (found,), inside = k_hop_subgraph(
            number, hops(model) + 1, edges, relabel_nodes=True, num_nodes=data.num_nodes
        )
        weight, place = weight[inside], int(found)
    rows = data.x[kept.numpy()]
    x = torch.from_numpy(rows if isinstance(rows, np.ndarray) else rows.toarray())
    net = plain(model).requires_grad_(False)
    one = Around(net, data.ids[kept.numpy()].tolist(), place, net.scaling(x), edges, weight)
    with torch.no_grad():
        return replace(one, target=int(one.odds().argmax()))


def hops(model: Model) -> int:
    """How many edges a message travels at the most."""
    net = model.nets[0]
    return sum(cast("NodeAggregator", net.layers[layer]).hops for layer in range(net.reach))


def place_of(data: GraphData, node: Any) -> int:
    """The number of the node of that id."""
    ids = data.ids.astype(str)
    found = np.flatnonzero(ids == str(node))
    if not len(found):
        few = ", ".join(repr(name) for name in ids[:3].tolist())
        raise BadGraph(f"{data.name} has no node {str(node)!r}; its ids are like {few}")
    return int(found[0])
