"""The operation that sees no edge: with it alone, a net is a multi-layer perceptron."""

from __future__ import annotations

from torch import Tensor

from sanegnn.kernels import Graph
from sanegnn.ops.base import NodeAggregator, Shape, linear, node_ops, weight
from sanegnn.seeds import Noise


@node_ops.add("linear", source="a layer of a multi-layer perceptron; reads no edge")
class Linear(NodeAggregator):
    """W h_v + b."""

    hops = 0

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.weight = weight(shape.width, shape.width)
        self.bias = weight(shape.width)

    def forward(self, x: Tensor, graph: Graph, noise: Noise | None = None) -> Tensor:
        """(N, D) -> (N, D)."""
        return linear(x, self.weight, self.bias)
