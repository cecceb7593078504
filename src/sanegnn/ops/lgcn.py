"""LGCN: a learnable 1-D convolution over each node and the k largest neighbour values of every channel."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import conv1d

from sanegnn.kernels import Graph
from sanegnn.ops.base import NodeAggregator, Shape, node_ops, weight
from sanegnn.seeds import Noise

K = 8
WIDE, REST = (K + 1) // 2 + 1, K // 2 + 1


@node_ops.add("lgcn", source="Gao, Wang, Ji: LGCN, KDD 2018")
class Lgcn(NodeAggregator):
    """conv_5(conv_5([h_v; largest_1 … largest_8]) + b) along the nine rows, as many channels in as out.

    `largest_j` holds, channel by channel, the j-th largest value over N(v). As in the authors' code there
    is no activation between the two convolutions, so that it is a weighted sum of the sorted neighbours.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.wide = weight(shape.width, WIDE * shape.width)
        self.wide_bias = weight(shape.width)
        self.rest = weight(shape.width, REST * shape.width)
        self.bias = weight(shape.width)

    def forward(self, x: Tensor, graph: Graph, noise: Noise | None = None) -> Tensor:
        """(N, D) -> (N, D)."""
        rows = torch.cat([x[:, None], largest(x, graph, K)], dim=1).transpose(1, 2)
        width = self.shape.width
        narrowed = conv1d(rows, self.wide.view(width, width, WIDE), self.wide_bias)
        return conv1d(narrowed, self.rest.view(width, width, REST), self.bias)[:, :, 0]


def largest(x: Tensor, graph: Graph, k: int) -> Tensor:
    """The k largest values of each channel over N(v), largest first; zeros where N(v) is smaller.

    Nodes are taken in groups of similar degree, so that padding at most doubles the work.

    Shapes: x (N, D), out (N, k, D).
    """
    nothing = -torch.inf
    padded = torch.cat([x, x.new_full((1, x.shape[1]), nothing)])
    out = x.new_zeros(graph.num_nodes, k, x.shape[1])
    for nodes, neighbours in _groups(graph, k):
        values = padded.index_select(0, neighbours.flatten()).view(*neighbours.shape, -1)
        top = values.topk(k, dim=1).values
        out = out.index_copy(0, nodes, top.masked_fill(top == nothing, 0.0))
    return out


def _groups(graph: Graph, k: int) -> list[tuple[Tensor, Tensor]]:
    """Nodes (n,) with at most k, 2k, 4k … neighbours, and these (n, width), filled up with N."""
    key = ("groups by degree", k)
    if key not in graph.memo:
        degree, groups, width, done = graph.ptr.diff().long() - 1, [], k, 0
        while done < int(degree.max()):
            nodes = torch.nonzero((degree > done) & (degree <= width))[:, 0]
            if len(nodes):
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
