"""Compiled dropout and the product of sparse features with a weight."""
# ruff: noqa: ANN001, ANN201, ANN202 (numba infers the types)
# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call, misc, no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numba.extending import register_jitable
from torch import Tensor

from sanegnn.kernels.cpu_tiles import AHEAD, flat, kernel, run
from sanegnn.kernels.noise import threshold, words
from sanegnn.kernels.simd import LANES, bare, fetch, fma, like, select, splat, zeros
from sanegnn.kernels.simd_math import hash_lanes, load_up_to, store_up_to
from sanegnn.kernels.units import cut_evenly

if TYPE_CHECKING:
    from sanegnn.kernels.features import Features
    from sanegnn.seeds import Noise

IN_CACHE = 2**18
"""Numbers of a gradient that a core's own cache holds."""
GRAIN = 16
"""Units of the features that share their sums."""


@kernel
def drop(bounds, first, last, arrays, low, high, least, scale):
    """From x to out, both (n,)."""
    _drop(bounds[first], bounds[last], *bare(arrays), low, high, least, scale)


@register_jitable
def _drop(start, stop, x, out, low, high, least, scale):
    for i in range(start, stop, LANES):
        h = hash_lanes(i, low, high)
        value = load_up_to(x, i, stop - i) * scale
        store_up_to(out, i, select(h >= like(h, least), value, zeros(x)), stop - i)


def _dropped(x: Tensor, rate: float, noise: Noise) -> Tensor:
    out = torch.empty(x.shape, dtype=x.dtype)
    bounds = cut_evenly(x.numel(), LANES)
    run(drop, bounds, x.numel(), (flat(x), flat(out)), *words(noise), threshold(rate), 1.0 / (1.0 - rate))
    return out


class Dropout(torch.autograd.Function):
    """Keeps nothing: the mask comes from the key again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: float, noise: Noise) -> Tensor:
        """x · mask / (1 - rate)."""
        ctx.rate, ctx.noise = rate, noise
        return _dropped(x, rate, noise)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        """The same of the gradient."""
        return _dropped(grads[0], ctx.rate, ctx.noise), None, None


def dropout(x: Tensor, rate: float, noise: Noise | None) -> Tensor:
    """Zero with probability `rate`, else divided by 1 - rate."""
    if noise is None or rate == 0.0:
        return x
    out: Tensor = Dropout.apply(x, rate, noise)
    return out


class AddScaled(torch.autograd.Function):
    """X + factor · Y; the gradient of the factor is an inner product, without the products one by one."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, factor: Tensor) -> Tensor:
        """(N, D)."""
        ctx.save_for_backward(y, factor)
        return torch.addcmul(x, y, factor)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of x, y and factor."""
        y, factor = ctx.saved_tensors
        _, need_y, need_factor = ctx.needs_input_grad
        d_factor = torch.dot(grads[0].flatten(), y.flatten()).view(1) if need_factor else None
        return grads[0], grads[0] * factor if need_y else None, d_factor


def add_scaled(x: Tensor, y: Tensor, factor: Tensor) -> Tensor:
    """X + factor · Y."""
    out: Tensor = AddScaled.apply(x, y, factor)
    return out


@kernel
def multiply(bounds, first, last, entries, arrays, width):
    """out[r] = Σ_k value[entry[k]] rows[column[k]] over the k of row r of a CSR."""
    _multiply(bounds[first], bounds[last], *bare(entries), *bare(arrays), width)


@register_jitable
def _multiply(start, stop, ptr, column, entry, value, rows, out, width):
    last = ptr[stop] - 1
    for r in range(start, stop):
        for c in range(0, width, LANES):
            sums = zeros(out)
            for k in range(ptr[r], ptr[r + 1]):
                fetch(rows, np.int64(column[min(k + AHEAD, last)]) * width + c)
                x = splat(value[entry[k]])
                sums = fma(x, load_up_to(rows, np.int64(column[k]) * width + c, width - c), sums)
            store_up_to(out, r * width + c, sums, width - c)


@kernel
def scatter(bounds, first, last, entries, arrays, width, size):
    """out[unit, column[k]] += value[entry[k]] rows[r] over the k of all rows r of a unit of a CSR."""
    for unit in range(first, last):
        _scatter(bounds[unit], bounds[unit + 1], *bare(entries), *bare(arrays), unit * size, width)


@register_jitable
def _scatter(start, stop, ptr, column, entry, value, rows, out, begin, width):
    for r in range(start, stop):
        for c in range(0, width, LANES):
            row = load_up_to(rows, r * width + c, width - c)
            for k in range(ptr[r], ptr[r + 1]):
                there = begin + np.int64(column[k]) * width + c
                sums = fma(splat(value[entry[k]]), row, load_up_to(out, there, width - c))
                store_up_to(out, there, sums, width - c)


class Project(torch.autograd.Function):
    """X W for sparse X; keeps X's values after dropout."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, values: Tensor, features: Features) -> Tensor:
        """(N, D)."""
        width = weight.shape[1]
        out = torch.empty(features.shape[0], width, dtype=weight.dtype)
        csr = tuple(features.part(name).numpy() for name in ("ptr", "col", "entry"))
        arrays = (flat(values), flat(weight), flat(out))
        run(multiply, features.units, features.nnz * width, csr, arrays, width)
        ctx.values, ctx.features, ctx.shape = values, features, weight.shape
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        """Xᵀ g, (F, D): row by row where it fits into a cache, else column by column."""
        features, size = ctx.features, ctx.shape.numel()
        arrays = flat(ctx.values), flat(grads[0])
        if size <= IN_CACHE:
            return _added(features, *arrays, ctx.shape), None, None
        d_weight = torch.empty(ctx.shape, dtype=grads[0].dtype)
        csc = tuple(features.part(name).numpy() for name in ("t_ptr", "t_row", "t_entry"))
        work = features.nnz * ctx.shape[1]
        run(multiply, features.t_units, work, csc, (*arrays, flat(d_weight)), ctx.shape[1])
        return d_weight, None, None


def _added(features: Features, values: Any, grad: Any, shape: torch.Size) -> Tensor:
    """Xᵀ g, each of a few units of rows into sums of its own, whatever the number of threads."""
    bounds = np.unique(np.append(features.units[::GRAIN], features.units[-1]))
    sums = torch.from_numpy(np.zeros((len(bounds) - 1, *shape), grad.dtype))
    csr = tuple(features.part(name).numpy() for name in ("ptr", "col", "entry"))
    work = features.nnz * shape[1]
    run(scatter, bounds, work, csr, (values, grad, flat(sums)), shape[1], shape.numel())
    return sums.sum(0)


def project(features: Features, weight: Tensor, rate: float, noise: Noise | None) -> Tensor:
    """X W with dropout on the stored entries of X."""
    values = dropout(features.values.to(weight.dtype), rate, noise)
    if not features.is_sparse:
        return values @ weight
    out: Tensor = Project.apply(weight, values, features)
    return out
