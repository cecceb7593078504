"""Compiled products with a tall matrix, which stands in the cache row by row: tiles of 8 × 32 in registers.

oneDNN is as fast where both matrices are large; it takes longer to start, and copies what is transposed.
"""
# ruff: noqa: ANN001, ANN201, ANN202 (numba infers the types)
# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call, misc, no-any-return"

from __future__ import annotations

from typing import Any

import torch
from numba.extending import register_jitable
from torch import Tensor

from sanegnn.kernels.cpu_tiles import kernel, run
from sanegnn.kernels.simd import LANES, fma, load, load_part, singles, splat, store, store_part
from sanegnn.kernels.units import cut_evenly

HIGH, WIDE = 8, 2 * LANES
BLOCK = 256  # the rows of both tall matrices that should stay in the cache


def _tile_with(part: Any, put: Any) -> Any:
    """The function of a tile, with the ways to load and to store a vector of which `left` lanes count."""

    @register_jitable
    def tile(count, x, at, step, apart, y, there, begin, from_, above, out, here, rows, wide, width):
        """Σ_i x[at + i step + r apart] y[there + i width + c], for 8 rows r and 32 columns c at most.

        The sum over `count` begins with what stands at `from_` of `begin`, in rows that are `above` one
        another, and goes to `here` of out; y and out have rows of `width` numbers.
        """
        r1, r2, r3 = min(1, rows - 1), min(2, rows - 1), min(3, rows - 1)
        r4, r5, r6, r7 = min(4, rows - 1), min(5, rows - 1), min(6, rows - 1), min(7, rows - 1)
        a0, b0 = part(begin, from_, wide), part(begin, from_ + LANES, wide - LANES)
        q = from_ + r1 * above
        a1, b1 = part(begin, q, wide), part(begin, q + LANES, wide - LANES)
        q = from_ + r2 * above
        a2, b2 = part(begin, q, wide), part(begin, q + LANES, wide - LANES)
        q = from_ + r3 * above
        a3, b3 = part(begin, q, wide), part(begin, q + LANES, wide - LANES)
        q = from_ + r4 * above
        a4, b4 = part(begin, q, wide), part(begin, q + LANES, wide - LANES)
        q = from_ + r5 * above
        a5, b5 = part(begin, q, wide), part(begin, q + LANES, wide - LANES)
        q = from_ + r6 * above
        a6, b6 = part(begin, q, wide), part(begin, q + LANES, wide - LANES)
        q = from_ + r7 * above
        a7, b7 = part(begin, q, wide), part(begin, q + LANES, wide - LANES)
        for i in range(count):
            k, j = at + i * step, there + i * width
            one, two = part(y, j, wide), part(y, j + LANES, wide - LANES)
            s = splat(x[k])
            a0, b0 = fma(s, one, a0), fma(s, two, b0)
            s = splat(x[k + r1 * apart])
            a1, b1 = fma(s, one, a1), fma(s, two, b1)
            s = splat(x[k + r2 * apart])
            a2, b2 = fma(s, one, a2), fma(s, two, b2)
            s = splat(x[k + r3 * apart])
            a3, b3 = fma(s, one, a3), fma(s, two, b3)
            s = splat(x[k + r4 * apart])
            a4, b4 = fma(s, one, a4), fma(s, two, b4)
            s = splat(x[k + r5 * apart])
            a5, b5 = fma(s, one, a5), fma(s, two, b5)
            s = splat(x[k + r6 * apart])
            a6, b6 = fma(s, one, a6), fma(s, two, b6)
            s = splat(x[k + r7 * apart])
            a7, b7 = fma(s, one, a7), fma(s, two, b7)
        put(out, here + r7 * width, a7, wide)
        put(out, here + r7 * width + LANES, b7, wide - LANES)
        put(out, here + r6 * width, a6, wide)
        put(out, here + r6 * width + LANES, b6, wide - LANES)
        put(out, here + r5 * width, a5, wide)
        put(out, here + r5 * width + LANES, b5, wide - LANES)
        put(out, here + r4 * width, a4, wide)
        put(out, here + r4 * width + LANES, b4, wide - LANES)
        put(out, here + r3 * width, a3, wide)
        put(out, here + r3 * width + LANES, b3, wide - LANES)
        put(out, here + r2 * width, a2, wide)
        put(out, here + r2 * width + LANES, b2, wide - LANES)
        put(out, here + r1 * width, a1, wide)
        put(out, here + r1 * width + LANES, b1, wide - LANES)
        put(out, here, a0, wide)
        put(out, here + LANES, b0, wide - LANES)

    return tile


@register_jitable
def _load_all(array, index, _left):
    return load(array, index)


@register_jitable
def _store_all(array, index, value, _left):
    store(array, index, value)


_full, _partial = _tile_with(_load_all, _store_all), _tile_with(load_part, store_part)


@register_jitable
def _tile(count, x, at, step, apart, y, there, begin, from_, above, out, here, rows, wide, width):
    if wide >= WIDE:
        _full(count, x, at, step, apart, y, there, begin, from_, above, out, here, rows, wide, width)
    else:
        _partial(count, x, at, step, apart, y, there, begin, from_, above, out, here, rows, wide, width)


@kernel
def by_rows(bounds, first, last, addresses, inner, width, above):
    """out = begin + a b; a (N, inner), b (inner, width), rows of begin that are `above` one another."""
    a, b, begin, out = addresses
    pointers = (singles(a), singles(b), singles(begin), singles(out))
    _by_rows(bounds[first], bounds[last], *pointers, inner, width, above)


@register_jitable
def _by_rows(start, stop, a, b, begin, out, inner, width, above):
    for n in range(start, stop, HIGH):
        for c in range(0, width, WIDE):
            here, rows = n * width + c, min(HIGH, stop - n)
            _tile(
                inner,
                a,
                n * inner,
                1,
                inner,
                b,
                c,
                begin,
                n * above + c,
                above,
                out,
                here,
                rows,
                width - c,
                width,
            )


@kernel
def over_rows(bounds, first, last, addresses, count, tall, width):
    """out (tall, width) += Σ_n x_n ⊗ y_n over `count` rows, for a range of its tiles."""
    x, y, out = addresses
    _over_rows(bounds[first], bounds[last], singles(x), singles(y), singles(out), count, tall, width)


@register_jitable
def _over_rows(start, stop, x, y, out, count, tall, width):
    high = -(-tall // HIGH)
    for n in range(0, count, BLOCK):
        for tile in range(start, stop):
            c, r = tile // high * WIDE, tile % high * HIGH
            size, rows, here = min(BLOCK, count - n), min(HIGH, tall - r), r * width + c
            _tile(
                size,
                x,
                n * tall + r,
                tall,
                1,
                y,
                n * width + c,
                out,
                here,
                width,
                out,
                here,
                rows,
                width - c,
                width,
            )


def tall_product(a: Tensor, b: Tensor, bias: Tensor | None, plus: Tensor | None) -> Tensor:
    """A B, plus one of the two; a (N, K), b (K, M), bias (M,), plus (N, M)."""
    inner, width = b.shape
    out = torch.empty(a.shape[0], width)
    a, b = a.contiguous(), b.contiguous()
    begin = bias if plus is None else plus.contiguous()
    begin = torch.zeros(width) if begin is None else begin
    addresses = (a.data_ptr(), b.data_ptr(), begin.data_ptr(), out.data_ptr())
    bounds = cut_evenly(a.shape[0], HIGH)
    run(by_rows, bounds, out.numel() * inner, addresses, inner, width, 0 if plus is None else width)
    return out


def tall_outer(x: Tensor, y: Tensor) -> Tensor:
    """Xᵀ Y; x (N, K), y (N, M)."""
    (count, tall), width = x.shape, y.shape[1]
    out = torch.zeros(tall, width)
    x, y = x.contiguous(), y.contiguous()
    addresses = (x.data_ptr(), y.data_ptr(), out.data_ptr())
    bounds = cut_evenly(-(-tall // HIGH) * -(-width // WIDE))
    run(over_rows, bounds, out.numel() * count, addresses, count, tall, width)
    return out
