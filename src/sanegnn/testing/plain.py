"""What the plain form of an operation promises: it computes the same, with and without edge weights."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn

from sanegnn.exporting import form
from sanegnn.exporting.design import renamed
from sanegnn.kernels import Graph
from sanegnn.ops import Carrying, NodeAggregator, layer_ops, node_ops
from sanegnn.testing.examples import (
    DEPTH,
    NODES,
    WIDTH,
    close,
    example_edges,
    filled,
    numbers,
    require,
    shape,
)


def check_plain_node_aggregator(op: str | type[NodeAggregator]) -> None:
    """The plain form of a node aggregator equals it, forward and in the gradient, for any number of heads."""
    build = node_ops[op] if isinstance(op, str) else op
    for heads in (1, 2):
        for weight in (None, 0.1 + numbers(example_edges().shape[1]).abs()):
            _equal(filled(build(shape(heads))), weight)


def _equal(op: NodeAggregator, weight: Tensor | None) -> None:
    """Two steps, so that a memory is carried once."""
    plain, edges = as_plain(op), example_edges()
    ones = numbers(edges.shape[1]).fill_(1.0) if weight is None else weight
    graph = Graph.from_edges(edges, NODES, weight)
    x = [numbers(NODES, WIDTH).requires_grad_() for _ in range(2)]
    if isinstance(op, Carrying):
        one, memory = op.step(x[0], graph, None)
        other, kept = plain.step(x[1], edges, ones, None)
        if op.out_width == WIDTH:
            one, other = op.step(one, graph, memory)[0], plain.step(other, edges, ones, kept)[0]
    else:
        one, other = op(x[0], graph), plain(x[1], edges, ones)
    require(close(one, other), "the plain form gives other states")
    push = numbers(*one.shape)
    ends = (one, x[0]), (other, x[1])
    slope, again = (torch.autograd.grad((out * push).sum(), leaf)[0] for out, leaf in ends)
    require(close(slope, again), "the plain form gives another gradient")


def check_plain_layer_aggregator(name: str) -> None:
    """The plain form of a layer aggregator equals it."""
    op, states = filled(layer_ops[name](shape())), numbers(DEPTH, NODES, WIDTH)
    require(close(op(states), as_plain(op)(states)), "the plain form gives another embedding")


def as_plain(op: nn.Module) -> Any:
    """The plain form of an operation with its weights."""
    plain: nn.Module = form(op).build().double()
    own = {f"layers.0.{name}": value for name, value in op.state_dict().items()}
    plain.load_state_dict({name.removeprefix("layers.0.op."): value for name, value in renamed(own)})
    return cast("Any", plain.eval())
