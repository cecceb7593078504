"""Pooling: the states of the nodes of every graph -> one state for each graph.

A union of graphs is pooled at once; `Segments` says which nodes belong together. What pools without
weights, by attention or by order stands here, hierarchies in `ops/pooling_topk.py`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sanegnn.kernels import Graph, Segments
from sanegnn.ops.base import Pooling, Shape, linear, pool_ops, weight


@pool_ops.add("sum", source="Xu, Hu, Leskovec, Jegelka: GIN, ICLR 2019")
class Sum(Pooling):
    """Σ_v x_v: it tells multisets of states apart, and so the sizes of graphs."""

    def forward(self, x: Tensor, segments: Segments, graph: Graph) -> Tensor:
        """(N, D) -> (G, D)."""
        return segments.sum(x)


@pool_ops.add("mean", source="Xu, Hu, Leskovec, Jegelka: GIN, ICLR 2019, Section 5")
class Mean(Pooling):
    """Σ_v x_v / n: it tells distributions of states apart; zero for a graph without nodes."""

    def forward(self, x: Tensor, segments: Segments, graph: Graph) -> Tensor:
        """(N, D) -> (G, D)."""
        return segments.mean(x)


@pool_ops.add("max", source="Xu, Hu, Leskovec, Jegelka: GIN, ICLR 2019, Section 5")
class Max(Pooling):
    """max_v x_v in each channel: it tells sets of states apart; zero for a graph without nodes."""

    def forward(self, x: Tensor, segments: Segments, graph: Graph) -> Tensor:
        """(N, D) -> (G, D)."""
        return segments.max(x)


@pool_ops.add("attention", source="Li et al.: GGNN, ICLR 2016, with PyG's softmax for the gate")
class GatedAttention(Pooling):
    """Σ_v a_v (W x_v + b) with a = softmax of g · x_v over the nodes of a graph.

    The gate has no bias: it would fall out of the softmax.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.gate = weight(1, shape.width)
        self.weight = weight(shape.width, shape.width)
        self.bias = weight(shape.width)

    def forward(self, x: Tensor, segments: Segments, graph: Graph) -> Tensor:
        """(N, D) -> (G, D)."""
        shares = segments.softmax(linear(x, self.gate))
        return segments.sum(shares * linear(x, self.weight, self.bias))


@pool_ops.add("set2set", source="Vinyals, Bengio, Kudlur: Order Matters, ICLR 2016")
class Set2Set(Pooling):
    """An LSTM that asks the set of states three times, and W [q || r] + b of its last answer.

        q_t = LSTM([q_(t-1) || r_(t-1)]),   a_v = softmax_v(x_v · q_t),   r_t = Σ_v a_v x_v

    The gates stand in the order i, f, g, o.
    """

    STEPS = 3

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        width = shape.width
        self.asked, self.state = weight(4 * width, 2 * width), weight(4 * width, width)
        self.gate_bias = weight(4 * width)
        self.weight, self.bias = weight(width, 2 * width), weight(width)

    def forward(self, x: Tensor, segments: Segments, graph: Graph) -> Tensor:
        """(N, D) -> (G, D)."""
        query = cell = x.new_zeros(segments.count, self.shape.width)
        answer = torch.cat([query, query], dim=1)
        for _ in range(self.STEPS):
            gates = linear(answer, self.asked, self.gate_bias) + linear(query, self.state)
            enter, forget, fresh, leave = gates.chunk(4, dim=1)
            cell = forget.sigmoid() * cell + enter.sigmoid() * fresh.tanh()
            query = leave.sigmoid() * cell.tanh()
            shares = segments.softmax((x * query[segments.graph]).sum(1, keepdim=True))
            answer = torch.cat([query, segments.sum(shares * x)], dim=1)
        return linear(answer, self.weight, self.bias)


@pool_ops.add("sort", source="Zhang, Cui, Neumann, Chen: DGCNN, AAAI 2018, SortPooling")
class Sort(Pooling):
    """W [r(y_1) || ... || r(y_k)] + b with y the k = 30 first nodes by their last channel, r = ReLU(V y + c).

    The largest comes first; nodes that are equal there are ordered by the sum of their channels. A smaller
    graph is filled up with states of zero. r has the width 16 (or D, if that is less) that DGCNN's first
    convolution has.
    """

    KEPT, NARROW = 30, 16

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        narrow = min(self.NARROW, shape.width)
        self.inner, self.inner_bias = weight(narrow, shape.width), weight(narrow)
        self.weight, self.bias = weight(shape.width, self.KEPT * narrow), weight(shape.width)

    def forward(self, x: Tensor, segments: Segments, graph: Graph) -> Tensor:
        """(N, D) -> (G, D)."""
        narrow = linear(self.first(x, segments).flatten(0, 1), self.inner, self.inner_bias).relu()
        return linear(narrow.view(segments.count, self.weight.shape[1]), self.weight, self.bias)

    def first(self, x: Tensor, segments: Segments) -> Tensor:
        """The first k states of each graph, (G, k, D)."""
        order = segments.ranked(x[:, -1], x.sum(1))
        kept = segments.place < self.KEPT
        out = x.new_zeros(segments.count, self.KEPT, x.shape[1])
        return out.index_put((segments.graph[kept], segments.place[kept]), x[order[kept]])
