"""Perceptrons as node aggregators, without any knowledge of graphs but the sum (SANE, Table X).

A perceptron over the sum of a neighbourhood can be any continuous function of the multiset, as GIN's; so
the family is general, and hard to search.
"""

from __future__ import annotations

from itertools import product
from typing import ClassVar

from torch import Tensor, nn
from torch.nn.functional import relu

from sanegnn.ops.base import Shape, linear, node_ops, weight
from sanegnn.ops.pooled import Pooled

WIDTHS, DEPTHS = (8, 16, 32, 64), (1, 2, 3)


class Mlp(Pooled):
    """MLP(sum_{u in Ñ(v)} h_u), from D through d hidden layers of width w, each with ReLU, back to D."""

    pool = "sum"
    width: ClassVar[int]
    layers: ClassVar[int]

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        sizes = (shape.width, *(self.width,) * self.layers, shape.width)
        pairs = list(zip(sizes[1:], sizes[:-1], strict=True))
        self.weights = nn.ParameterList(weight(*pair) for pair in pairs)
        self.biases = nn.ParameterList(weight(out) for out, _ in pairs)

    def transform(self, x: Tensor, pooled: Tensor) -> Tensor:
        """v itself joins the sum over N(v)."""
        state = x + pooled
        *hidden, last = zip(self.weights, self.biases, strict=True)
        for inner, bias in hidden:
            state = relu(linear(state, inner, bias))
        return linear(state, *last)


def _member(width: int, layers: int) -> type[Mlp]:
    """The operation of one width and depth."""
    words = f"MLP(sum over Ñ(v)) with {layers} hidden layers of width {width}."
    return type(f"MlpW{width}D{layers}", (Mlp,), {"width": width, "layers": layers, "__doc__": words})


for _width, _depth in product(WIDTHS, DEPTHS):
    node_ops.add(f"mlp_w{_width}_d{_depth}", source="SANE, Table X")(_member(_width, _depth))
