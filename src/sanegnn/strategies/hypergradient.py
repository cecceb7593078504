"""The gradient of the validation loss for alpha (Eq. 8), first and second order.

    ∇_α L_val(w - ξ ∇_w L_tra(w, α), α)
        = ∇_α L_val(w', α) - ξ ∇²_{α,w} L_tra(w, α) ∇_{w'} L_val(w', α)

with w' = w - ξ ∇_w L_tra(w, α). The matrix-vector product is a central difference of ∇_α L_tra along
∇_{w'} L_val, so that first derivatives are all that is needed. With ξ = 0 only ∇_α L_val(w, α) is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

Tensors = Sequence[Tensor]
Loss = Callable[[], Tensor]
"""A loss under the current weights and alphas."""

REACH = 3e-4
"""The length of the central difference's step in weight space.

The loss has kinks (ReLU, max), and the difference errs where its step crosses one: at 0.01, the length that
DARTS took, by as much as the gradient itself on a small graph. Float32 still has three digits at this length.
"""


def hypergradient(
    alphas: Tensors, weights: Tensors, validation: Loss, training: Loss, xi: float, reach: float = REACH
) -> list[Tensor]:
    """The gradient of every alpha; weights and alphas are left as they were."""
    if not xi:
        with _held(weights):
            return list(torch.autograd.grad(validation(), alphas))
    inner = torch.autograd.grad(training(), weights, allow_unused=True)
    with _moved(weights, inner, -xi):
        outer = torch.autograd.grad(validation(), (*alphas, *weights), allow_unused=True)
    direct, along = outer[: len(alphas)], outer[len(alphas) :]
    length = float(torch.stack([part.square().sum() for part in along if part is not None]).sum().sqrt())
    step = reach / max(length, 1e-12)
    ahead, behind = (_slope(alphas, weights, training, along, sign * step) for sign in (1, -1))
    bent = [(a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
    return [one - xi * two for one, two in zip(_filled(direct, alphas), bent, strict=True)]


def _slope(
    alphas: Tensors, weights: Tensors, training: Loss, along: Sequence[Tensor | None], step: float
) -> list[Tensor]:
    """∇_α L_tra at w + step * along."""
    with _moved(weights, along, step), _held(weights):
        return _filled(torch.autograd.grad(training(), alphas, allow_unused=True), alphas)


def _filled(gradients: Sequence[Tensor | None], like: Tensors) -> list[Tensor]:
    return [torch.zeros_like(x) if g is None else g for g, x in zip(gradients, like, strict=True)]


@contextmanager
def _held(weights: Tensors) -> Iterator[None]:
    """Inside, no gradient is computed for the weights."""
    for weight in weights:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in weights:
            weight.requires_grad_(True)


@contextmanager
def _moved(weights: Tensors, along: Sequence[Tensor | None], step: float) -> Iterator[None]:
    """Inside, the weights stand at w + step * along."""
    before = [weight.detach().clone() for weight in weights]
    with torch.no_grad():
        for weight, part in zip(weights, along, strict=True):
            if part is not None:
                weight.add_(part, alpha=step)
    try:
        yield
    finally:
        with torch.no_grad():
            for weight, old in zip(weights, before, strict=True):
                weight.copy_(old)
