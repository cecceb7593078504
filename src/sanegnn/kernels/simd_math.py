"""Functions of vectors in compiled code: exp and its kin, inner products, the hash; parts of rows."""
# ruff: noqa: ANN001, ANN201, ANN202 (numba infers the types)
# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call, misc, no-any-return"

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import overload, register_jitable

from sanegnn.kernels.noise import FIRST, SECOND
from sanegnn.kernels.simd import (
    LANES,
    add_exponent,
    fma,
    lane_numbers,
    like,
    load,
    load_part,
    select,
    store,
    store_part,
    total,
    zeros,
)


def _taylor(degree: int) -> Any:
    """The Taylor polynomial of exp as nested multiply-adds."""
    terms = [1.0]
    for k in range(1, degree + 1):
        terms.append(terms[-1] / k)
    steps = tuple(reversed(terms[:-1]))
    highest = terms[-1]

    @register_jitable
    def polynomial(r):
        y = like(r, highest)
        for k in range(len(steps)):
            y = fma(y, r, like(r, steps[k]))
        return y

    return polynomial


# The reduction x = n log 2 + r: the bounds that keep 2^n in range, the number whose addition rounds to whole
# n, and log 2 in two parts, the first with trailing zeros.
_SINGLE = (-87.0, 88.0, 1.5 * 2.0**23, 0.693145751953125, 1.42860682030941723212e-6)
_DOUBLE = (-707.0, 709.0, 1.5 * 2.0**52, 0.693147180369123816490, 1.90821492927058770002e-10)


def exp(x: Any) -> Any:
    """e^x, kept within the range of finite positive numbers; NaN stays NaN."""
    raise NotImplementedError("for compiled code only")


@overload(exp)
def _exp(x):
    single = x.dtype == types.float32
    low, high, rounder, log2_high, log2_low = _SINGLE if single else _DOUBLE
    polynomial = _taylor(6 if single else 13)
    per_log2 = 1.4426950408889634

    def code(x):
        x = select(x < low, like(x, low), x)
        x = select(x > high, like(x, high), x)
        shifted = fma(x, like(x, per_log2), like(x, rounder))
        n = shifted - rounder
        r = fma(n, like(x, -log2_high), x)
        r = fma(n, like(x, -log2_low), r)
        return add_exponent(polynomial(r), shifted)

    return code


@register_jitable
def tanh(x):
    """Tanh, to a few units of the last place of 1."""
    return 1.0 - 2.0 / (exp(x + x) + 1.0)


@register_jitable
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return 1.0 / (exp(0.0 - x) + 1.0)


@register_jitable
def highest(a, b):
    """The greater of each two lanes; NaN in a lane of b stays."""
    return select(a > b, a, b)


@register_jitable
def load_up_to(array, index, count):
    """array[index : index + min(count, 16)] and zeros behind."""
    if count >= LANES:
        return load(array, index)
    return load_part(array, index, count)


@register_jitable
def store_up_to(array, index, value, count):
    """array[index : index + min(count, 16)] = the first lanes of value."""
    if count >= LANES:
        store(array, index, value)
    else:
        store_part(array, index, value, count)


@register_jitable
def dot(x, i, y, j, count):
    """The inner product of x[i : i + count] and y[j : j + count]."""
    if count == 2 * LANES:  # the usual width, without a loop
        return total(fma(load(x, i), load(y, j), load(x, i + LANES) * load(y, j + LANES)))
    sums = zeros(x)
    for c in range(0, count, LANES):
        sums = fma(load_up_to(x, i + c, count - c), load_up_to(y, j + c, count - c), sums)
    return total(sums)


@register_jitable
def hash_lanes(start, low, high):
    """The hashes of start, start + 1, … under the two words of a key; see `noise.hashes`."""
    x = lane_numbers(start) ^ low
    x = (x ^ (x >> 16)) * FIRST
    x = (x ^ (x >> 15)) + high
    x = x * SECOND
    return x ^ (x >> 16)
