"""The compiled L1 distances of pairs of rows, and their way back, node by node."""
# ruff: noqa: ANN001, ANN201, ANN202 (numba infers the types)
# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call, misc, no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numba.extending import register_jitable
from torch import Tensor

from sanegnn.kernels.cpu_tiles import flat, kernel, run
from sanegnn.kernels.simd import LANES, bare, select, splat, total, zeros
from sanegnn.kernels.simd_math import load_up_to, store_up_to
from sanegnn.kernels.units import cut, cut_evenly


@kernel
def apart(bounds, first, last, pairs, arrays, width):
    """out[k] = Σ_c |x[left_k, c] - x[right_k, c]|."""
    _apart(bounds[first], bounds[last], *bare(pairs), *bare(arrays), width)


@register_jitable
def _apart(start, stop, left, right, x, out, width):
    for k in range(start, stop):
        sums = zeros(x)
        for c in range(0, width, LANES):
            gap = _gap(x, left[k] * width + c, right[k] * width + c, width - c)
            sums = sums + select(gap < 0.0, 0.0 * gap - gap, gap)
        out[k] = total(sums)


@register_jitable
def _gap(x, i, j, count):
    return load_up_to(x, i, count) - load_up_to(x, j, count)


@kernel
def pull(bounds, first, last, ends, arrays, width):
    """d_x[v] = Σ_k grad_k sign(x[v] - x[other_k]) over the pairs k that v is in."""
    _pull(bounds[first], bounds[last], *bare(ends), *bare(arrays), width)


@register_jitable
def _pull(start, stop, ptr, other, pair, x, grad, d_x, width):
    for v in range(start, stop):
        for c in range(0, width, LANES):
            sums = zeros(x)
            for k in range(ptr[v], ptr[v + 1]):
                g, gap = splat(grad[pair[k]]), _gap(x, v * width + c, other[k] * width + c, width - c)
                sums = sums + select(gap > 0.0, g, zeros(x)) - select(gap < 0.0, g, zeros(x))
            store_up_to(d_x, v * width + c, sums, width - c)


def _by_node(pairs: npt.NDArray[np.int64], nodes: int) -> tuple[npt.NDArray[np.int64], ...]:
    """The pairs of every node as a CSR: its bounds, the other ends, and the pairs' numbers."""
    ends, others = pairs.ravel(), pairs[::-1].ravel()
    order = np.argsort(ends, kind="stable")
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(ends, minlength=nodes))])
    return ptr, others[order], order % pairs.shape[1]


class Distances(torch.autograd.Function):
    """Keeps the rows and the pairs; the way back goes by node, so that no two threads meet."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, pairs: Tensor) -> Tensor:
        """(P,)."""
        ctx.save_for_backward(x)
        ctx.pairs = pairs.numpy()
        out, count = torch.empty(pairs.shape[1], dtype=x.dtype), pairs.shape[1]
        ends = tuple(np.ascontiguousarray(row) for row in ctx.pairs)
        run(apart, cut_evenly(count), count * x.shape[1], ends, (flat(x), flat(out)), x.shape[1])
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        """The signs of the gaps, each times its pair's gradient."""
        (x,) = ctx.saved_tensors
        ends, d_x = (
            _by_node(ctx.pairs, x.shape[0]),
            torch.empty_like(x, memory_format=torch.contiguous_format),
        )
        work = ctx.pairs.shape[1] * x.shape[1]
        run(
            pull, cut(torch.from_numpy(ends[0])), work, ends, (flat(x), flat(grads[0]), flat(d_x)), x.shape[1]
        )
        return d_x, None


def distances(x: Tensor, pairs: Tensor) -> Tensor:
    """The L1 distance of every pair of rows."""
    out: Tensor = Distances.apply(x, pairs)
    return out
