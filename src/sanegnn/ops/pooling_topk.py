"""Hierarchical pooling: a graph is made smaller in steps, and read at each size."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from sanegnn.kernels import Graph, Segments
from sanegnn.ops.base import Pooling, Shape, linear, pool_ops, weight
from sanegnn.ops.pooled import Gcn


@pool_ops.add("topk", source="Cangea et al.: Sparse Hierarchical Graph Classifiers, 2018; Gao, Ji: ICML 2019")
class TopK(Pooling):
    """W Σ_l [mean || max](x^l) + b over the graph at two sizes, each half of the one before.

        s_v = p · h_v / |p|,   keep the ⌈n / 2⌉ nodes of largest s,   x^l_v = h_v tanh(s_v)

    h is the state of the nodes at first, then ReLU(GCN(x^l)) on the graph of the kept nodes. The gate is how
    p learns.
    """

    LEVELS, SHARE = 2, 0.5

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.rate = nn.ParameterList(weight(1, shape.width) for _ in range(self.LEVELS))
        self.convolve = nn.ModuleList(Gcn(shape) for _ in range(self.LEVELS - 1))
        self.weight, self.bias = weight(shape.width, 2 * shape.width), weight(shape.width)

    def forward(self, x: Tensor, segments: Segments, graph: Graph) -> Tensor:
        """(N, D) -> (G, D)."""
        x, segments, graph = self.smaller(0, x, segments, graph)
        read = _read(x, segments)
        for level, op in enumerate(self.convolve, start=1):
            hidden = cast("Gcn", op)(x, graph).relu()
            x, segments, graph = self.smaller(level, hidden, segments, graph)
            read = read + _read(x, segments)
        return linear(read, self.weight, self.bias)

    def smaller(
        self, level: int, x: Tensor, segments: Segments, graph: Graph
    ) -> tuple[Tensor, Segments, Graph]:
        """The best half of the nodes of each graph, gated, and what is left of the graph."""
        toward = self.rate[level]
        score = linear(x, toward / toward.norm().clamp(min=torch.finfo(x.dtype).tiny))[:, 0]
        kept = best(score, segments, self.SHARE)
        left = Segments.of(_shares(segments, self.SHARE))
        return x[kept] * score[kept].tanh()[:, None], left, graph.among(kept)


def best(score: Tensor, segments: Segments, share: float) -> Tensor:
    """The ⌈share · n⌉ nodes of largest score (N,) of each graph, graph by graph."""
    order = segments.ranked(score)
    return order[segments.place < _shares(segments, share)[segments.graph]]


def _shares(segments: Segments, share: float) -> Tensor:
    return (segments.sizes * share).ceil().to(segments.ptr.dtype)


def _read(x: Tensor, segments: Segments) -> Tensor:
    """[mean || max], (G, 2 D)."""
    return torch.cat([segments.mean(x), segments.max(x)], dim=1)
