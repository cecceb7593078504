"""Matrix products: oneDNN's where torch has it, and compiled ones that fit tall matrices.

On some x86 processors oneDNN is twice as fast as torch's default.
"""
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from sanegnn.kernels.cpu_products import tall_outer, tall_product


def _find_onednn() -> Any:
    """Torch's entry to oneDNN's dense layer, or None where it is missing."""
    if platform.machine().lower() not in ("x86_64", "amd64") or not torch.backends.mkldnn.is_available():
        return None
    return getattr(torch.ops.mkldnn, "_linear_pointwise", None)


_ONEDNN = _find_onednn()
_TILES = torch.backends.cpu.get_cpu_capability() == "AVX512"
"""Whether a tile fits the registers."""
SMALL = 12_000
"""The numbers of a right factor that stays in the fastest cache, where tiles are as fast as anything."""


def _tiled(a: Tensor, b: Tensor) -> bool:
    return _TILES and a.device.type == "cpu" and a.dtype == b.dtype == torch.float32


def product(a: Tensor, b: Tensor, bias: Tensor | None = None, plus: Tensor | None = None) -> Tensor:
    """A B + bias + plus without a gradient; a (N, K), b (K, M), bias (M,), plus (N, M)."""
    if _tiled(a, b) and b.numel() <= SMALL and (bias is None or plus is None):
        return tall_product(a, b, bias, plus)
    if _ONEDNN is None or a.dtype != torch.float32 or a.device.type != "cpu" or a.numel() * b.numel() == 0:
        out = a @ b if bias is None else torch.addmm(bias, a, b)
        return out if plus is None else out.add_(plus)
    if plus is not None:
        summed: Tensor = _ONEDNN.binary(a, plus, b.T, bias, "add")
        return summed
    plain: Tensor = _ONEDNN(a, b.T, bias, "none", [], "")
    return plain


def outer(x: Tensor, y: Tensor) -> Tensor:
    """Xᵀ Y without a gradient; x (N, K), y (N, M)."""
    return tall_outer(x, y) if _tiled(x, y) else product(x.T, y)


class Linear(torch.autograd.Function):
    """X W + b with the gradients that are asked for."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """(N, M)."""
        ctx.save_for_backward(x, weight)
        return product(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of x, weight and bias."""
        x, weight = ctx.saved_tensors
        need_x, need_weight, need_bias = ctx.needs_input_grad
        return (
            product(grads[0], weight.T) if need_x else None,
            outer(x, grads[0]) if need_weight else None,
            grads[0].sum(0) if need_bias else None,
        )


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """X W + b."""
    out: Tensor = Linear.apply(x, weight, bias)
    return out


class LinearSum(torch.autograd.Function):
    """Σ_t X_t W_tᵀ + b."""

    @staticmethod
    def forward(ctx: Any, bias: Tensor, *terms: Tensor) -> Tensor:
        """`terms` are all X, then all W."""
        ctx.save_for_backward(*terms)
        (first, weight), *rest = _pairs(terms)
        out = product(first, weight.T, bias)
        for x, weight in rest:
            out = product(x, weight.T, None, out)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of bias, inputs and weights."""
        terms = _pairs(ctx.saved_tensors)
        grad, (need_bias, *need) = grads[0].contiguous(), ctx.needs_input_grad
        needed = zip(terms, need, strict=False)
        d_inputs = [product(grad, weight) if asked else None for (_, weight), asked in needed]
        needed = zip(terms, need[len(terms) :], strict=True)
        d_weights = [outer(grad, x) if asked else None for (x, _), asked in needed]
        return grad.sum(0) if need_bias else None, *d_inputs, *d_weights


def _pairs(terms: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
    half = len(terms) // 2
    return list(zip(terms[:half], terms[half:], strict=True))


def linear_sum(inputs: Sequence[Tensor], weights: Sequence[Tensor], bias: Tensor) -> Tensor:
    """Σ_t X_t W_tᵀ + b."""
    out: Tensor = LinearSum.apply(bias, *inputs, *weights)
    return out
