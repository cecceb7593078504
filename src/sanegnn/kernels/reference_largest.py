"""The largest values over neighbours, in plain torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from sanegnn.kernels.graph import Graph


def largest(x: Tensor, graph: Graph, k: int) -> Tensor:
    """Nodes are taken in groups of similar degree, so that padding at most doubles the work."""
    nothing = -torch.inf
    padded = torch.cat([x, x.new_full((1, x.shape[1]), nothing)])
    out = x.new_zeros(graph.num_targets, k, x.shape[1])
    for nodes, neighbours in _groups(graph, k):
        values = padded.index_select(0, neighbours.flatten()).view(*neighbours.shape, x.shape[1])
        top = values.topk(k, dim=1).values
        out = out.index_copy(0, nodes, top.masked_fill(top == nothing, 0.0))
    return out


def _groups(graph: Graph, k: int) -> list[tuple[Tensor, Tensor]]:
    """Nodes (n,) with at most k, 2k, 4k … neighbours, and these (n, width), filled up with N."""
    key = ("groups by degree", k)
    if key not in graph.memo:
        degree, groups, width, done = graph.ptr.diff().long() - 1, [], k, 0
        while done < max(1, int(degree.max())):
            nodes = torch.nonzero((degree > done) & (degree <= width))[:, 0]
            groups.append((nodes, _neighbours(graph, nodes, degree[nodes], width)))
            width, done = 2 * width, width
        graph.memo[key] = groups
    kept: list[tuple[Tensor, Tensor]] = graph.memo[key]
    return kept


def _neighbours(graph: Graph, nodes: Tensor, degree: Tensor, width: int) -> Tensor:
    """The neighbours of each node, (n, width), filled up with N."""
    place = torch.arange(width, device=graph.device)
    real = place < degree[:, None]
    first = graph.ptr[nodes].long() + 1  # the node itself stands before its neighbours
    found = graph.src[torch.where(real, first[:, None] + place, 0)].long()
    return torch.where(real, found, graph.num_nodes)
