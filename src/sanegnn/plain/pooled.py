"""Aggregators that pool the neighbours, then transform."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import MessagePassing

from sanegnn.plain.edges import degree, gcn_norm, with_loops


class Linear(nn.Module):
    """W h_v + b: no edge is read."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width, width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        return F.linear(x, self.weight, self.bias)


class Sum(MessagePassing):
    """The sum over the neighbours, each times the weight of its edge."""

    def __init__(self, aggr: str = "sum") -> None:
        super().__init__(aggr=aggr)

    def pool(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        return self.propagate(edge_index, x=x, edge_weight=edge_weight)

    def message(self, x_j: Tensor, edge_weight: Tensor) -> Tensor:
        """What goes along every edge (E, D)."""
        return edge_weight[:, None] * x_j


class SageSum(Sum):
    """W_root h_v + W pool({h_u}) + b, with the sum over the neighbours."""

    def __init__(self, width: int, aggr: str = "sum") -> None:
        super().__init__(aggr)
        self.root = nn.Parameter(torch.zeros(width, width))
        self.neighbour = nn.Parameter(torch.zeros(width, width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        pooled = self.pool(x, edge_index, edge_weight)
        return F.linear(x, self.root) + F.linear(pooled, self.neighbour, self.bias)


class SageMean(SageSum):
    """The same with the mean, which is zero where there is no neighbour."""

    def pool(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        total = super().pool(x, edge_index, edge_weight)
        size = degree(edge_index, edge_weight, x.size(0))
        return total / torch.where(size > 0, size, 1.0)[:, None]


class SageMax(SageSum):
    """The same with the largest value of every channel; edge weights are not read."""

    def __init__(self, width: int) -> None:
        super().__init__(width, aggr="max")

    def message(self, x_j: Tensor, edge_weight: Tensor) -> Tensor:
        """What goes along every edge (E, D)."""
        return x_j


class GcnSum(Sum):
    """The sum over v and its neighbours u of w_uv h_u / sqrt(d_u d_v)."""

    def pool(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        edge_index, edge_weight = with_loops(edge_index, edge_weight, x.size(0))
        norm = gcn_norm(edge_index, edge_weight, x.size(0))
        return super().pool(x, edge_index, norm)


class Gcn(GcnSum):
    """W pool(h) + b."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width, width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        return F.linear(self.pool(x, edge_index, edge_weight), self.weight, self.bias)


class Gin(Sum):
    """MLP((1 + eps) h_v + sum of the neighbours), two layers with ReLU between."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.inner = nn.Parameter(torch.zeros(width, width))
        self.inner_bias = nn.Parameter(torch.zeros(width))
        self.outer = nn.Parameter(torch.zeros(width, width))
        self.outer_bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        total = (1 + self.eps) * x + self.pool(x, edge_index, edge_weight)
        hidden = F.relu(F.linear(total, self.inner, self.inner_bias))
        return F.linear(hidden, self.outer, self.outer_bias)


class Mlp(Sum):
    """MLP(h_v + sum of the neighbours), with ReLU between its layers."""

    def __init__(self, width: int, hidden: int, depth: int) -> None:
        super().__init__()
        sizes = [width, *[hidden] * depth, width]
        self.weights = nn.ParameterList(
            torch.zeros(after, before) for before, after in pairwise(sizes)
        )
        self.biases = nn.ParameterList(torch.zeros(after) for after in sizes[1:])

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        state = x + self.pool(x, edge_index, edge_weight)
        *inner, last = zip(self.weights, self.biases, strict=True)
        for weight, bias in inner:
            state = F.relu(F.linear(state, weight, bias))
        return F.linear(state, *last)
