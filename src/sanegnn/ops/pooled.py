"""Aggregators that first pool the neighbours' states, then transform: SAGE, GCN, GIN.

Each names the pool it needs, so that all of a layer can share one pass over the edges.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from torch import Tensor

from sanegnn.kernels import Graph, add_scaled, aggregate, linear_sum
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
    """Ends in products with weights: Σ_k X_k W_kᵀ + b; a mixture of several can mix the weights instead.

    X_k is the node itself ("self"), the pool, or what `hidden` makes of the two.
    """

    @abstractmethod
    def weights(self) -> dict[str, Tensor]:
        """W_k (D, D) by "self", the name of the pool, or "hidden"."""

    @abstractmethod
    def shift(self) -> Tensor:
        """b (D,)."""

    def hidden(self, x: Tensor, pooled: Tensor) -> Tensor:
        """X_k for "hidden"."""
        raise AssertionError(f"{type(self).__name__} has weights for a hidden state that it does not compute")

    def transform(self, x: Tensor, pooled: Tensor) -> Tensor:
        """The sum of the products."""
        weights = self.weights()
        known = {"self": x, self.pool: pooled}
        inputs = [known[name] if name in known else self.hidden(x, pooled) for name in weights]
        return linear_sum(inputs, list(weights.values()), self.shift())


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

    def weights(self) -> dict[str, Tensor]:
        """One for the node, one for its neighbours."""
        return {"self": self.root, self.pool: self.neighbour}

    def shift(self) -> Tensor:
        """The bias."""
        return self.bias


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

    def weights(self) -> dict[str, Tensor]:
        """One; the node itself is in the pool."""
        return {self.pool: self.weight}

    def shift(self) -> Tensor:
        """The bias."""
        return self.bias


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

    def hidden(self, x: Tensor, pooled: Tensor) -> Tensor:
        """The inner half of the MLP, which makes the function of the multiset injective."""
        return linear(add_scaled(pooled, x, 1 + self.eps), self.inner, self.inner_bias).relu_()

    def weights(self) -> dict[str, Tensor]:
        """The outer half."""
        return {"hidden": self.outer}

    def shift(self) -> Tensor:
        """Its bias."""
        return self.outer_bias
