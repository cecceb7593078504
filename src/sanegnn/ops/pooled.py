"""Aggregators that first pool the neighbours' states, then transform: SAGE, GCN, GIN.

Each names the pool it needs, so that all of a layer can share one pass over the edges.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import relu

from sanegnn.kernels import Graph, aggregate
from sanegnn.ops.base import NodeAggregator, Shape, linear, node_ops, weight
from sanegnn.seeds import Noise


class Pooled(NodeAggregator):
    """transform(h_v, pool of the neighbours of v)."""

    partial = True
    pool: ClassVar[str]

    @abstractmethod
    def transform(self, x: Tensor, pooled: Tensor) -> Tensor:
        """(R, D), (R, D) -> (R, D)."""

    def forward(self, x: Tensor, graph: Graph, noise: Noise | None = None) -> Tensor:
        """Pool, then transform."""
        (pooled,) = aggregate(x, graph, (self.pool,))
        return self.transform(x[: graph.num_targets], pooled)


class LinearlyPooled(Pooled):
    """Ends in products with weights: Σ_t X_t W_tᵀ + b; a mixture of several can mix the weights instead."""

    @abstractmethod
    def terms(self, x: Tensor, pooled: Tensor) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
        """The pairs X_t (N, D), W_t (D, D), and b (D,)."""

    def transform(self, x: Tensor, pooled: Tensor) -> Tensor:
        """The sum of the products."""
        ((first, its_weight), *rest), bias = self.terms(x, pooled)
        out = linear(first, its_weight, bias)
        for more, its_weight in rest:
            out = out + linear(more, its_weight)
        return out


class Sage(LinearlyPooled):
    """W_root h_v + W pool({h_u, u in N(v)}) + b: the node itself keeps a weight of its own.

    GraphSAGE concatenates h_v with the pooled neighbours before its weight, which is this sum; so v is
    part of the neighbourhood of Table XI without being averaged into it.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.root = weight(shape.width, shape.width)
        self.neighbour = weight(shape.width, shape.width)
        self.bias = weight(shape.width)

    def terms(self, x: Tensor, pooled: Tensor) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
        """One product for the node, one for its neighbours."""
        return [(x, self.root), (pooled, self.neighbour)], self.bias


@node_ops.add("sage_sum", source="Hamilton, Ying, Leskovec: GraphSAGE, NeurIPS 2017")
class SageSum(Sage):
    """GraphSAGE with pool = the sum over N(v)."""

    pool = "sum"


@node_ops.add("sage_mean", source="Hamilton, Ying, Leskovec: GraphSAGE, NeurIPS 2017")
class SageMean(Sage):
    """GraphSAGE with pool = the mean over N(v), zero for an isolated node."""

    pool = "mean"


@node_ops.add("sage_max", source="Hamilton, Ying, Leskovec: GraphSAGE, NeurIPS 2017")
class SageMax(Sage):
    """GraphSAGE with pool = the largest value of each channel over N(v), zero for an isolated node."""

    pool = "max"


@node_ops.add("gcn", source="Kipf, Welling: GCN, ICLR 2017")
class Gcn(LinearlyPooled):
    """W sum_{u in Ñ(v)} h_u / sqrt(d(v) d(u)) + b, with d the degree in the graph with self-loops."""

    pool = "gcn"

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.weight = weight(shape.width, shape.width)
        self.bias = weight(shape.width)

    def terms(self, x: Tensor, pooled: Tensor) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
        """One product; the node itself is in the pool."""
        return [(pooled, self.weight)], self.bias


@node_ops.add("gin", source="Xu, Hu, Leskovec, Jegelka: GIN, ICLR 2019")
class Gin(LinearlyPooled):
    """MLP((1 + eps) h_v + sum_{u in N(v)} h_u) with two linear layers, ReLU between, eps learned."""

    pool = "sum"

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.eps = weight(1)
        self.inner = weight(shape.width, shape.width)
        self.inner_bias = weight(shape.width)
        self.outer = weight(shape.width, shape.width)
        self.outer_bias = weight(shape.width)

    def terms(self, x: Tensor, pooled: Tensor) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
        """The MLP of the injective multiset function."""
        inner = relu(linear(torch.addcmul(pooled, x, 1 + self.eps), self.inner, self.inner_bias))
        return [(inner, self.outer)], self.outer_bias
