"""The largest values over neighbours, channel by channel: one compiled pass over the edges, and one back."""
# ruff: noqa: ANN001, ANN201 (numba infers the types)
# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sanegnn.kernels.cpu_tiles import kernel, run

if TYPE_CHECKING:
    from sanegnn.kernels.graph import Graph


@kernel
def rank(bounds, first, last, ptr, src, x, high, who):
    """Sort every neighbour of a node into its k largest: their values high and their nodes who (R, k, D).

    Both come filled, with -inf and -1; a place that stays empty gets a zero.
    """
    width, k = x.shape[1], high.shape[1]
    message, node = np.empty(width, x.dtype), np.empty(width, who.dtype)
    for v in range(bounds[first], bounds[last]):
        for e in range(ptr[v] + 1, ptr[v + 1]):
            message[:] = x[src[e]]
            node[:] = src[e]
            for place in range(min(k, e - ptr[v])):
                above, owner = high[v, place], who[v, place]
                for c in range(width):
                    beaten = message[c] > above[c]
                    larger, smaller = max(message[c], above[c]), min(message[c], above[c])
                    stays, falls = (node[c], owner[c]) if beaten else (owner[c], node[c])
                    above[c], message[c], owner[c], node[c] = larger, smaller, stays, falls
        high[v, ptr[v + 1] - ptr[v] - 1 :] = 0.0


@kernel
def unrank(who, grad, dx):
    """Add the gradient of every place to the node that holds it."""
    for v in range(who.shape[0]):
        for place in range(who.shape[1]):
            for c in range(who.shape[2]):
                if who[v, place, c] >= 0:
                    dx[who[v, place, c], c] += grad[v, place, c]


class Largest(torch.autograd.Function):
    """Keeps who has the largest values."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, graph: Graph, k: int) -> Tensor:
        """x (N, D)."""
        high = x.new_full((graph.num_targets, k, x.shape[1]), -torch.inf)
        who = torch.full(high.shape, -1, dtype=graph.src.dtype)
        ptr, src = graph.rows(x.dtype)[:2]
        work = graph.src.numel() * x.shape[1] * k
        run(rank, graph.units, work, ptr, src, x.contiguous().numpy(), high.numpy(), who.numpy())
        ctx.who, ctx.nodes = who, graph.num_nodes
        return high

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        """The gradient of x."""
        (grad,) = grads
        dx = grad.new_zeros(ctx.nodes, grad.shape[2])
        unrank(ctx.who.numpy(), grad.contiguous().numpy(), dx.numpy())
        return dx, None, None


def largest(x: Tensor, graph: Graph, k: int) -> Tensor:
    """The k largest values over N(v), and their gradient."""
    out: Tensor = Largest.apply(x, graph, k)
    return out
