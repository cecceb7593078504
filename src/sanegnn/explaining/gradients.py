"""Integrated gradients: how a prediction is shared out among what it was made of.

    share_i = x_i ∫_0^1 ∂p(t x) / ∂x_i dt

The shares add up to p(x) - p(0) (Sundararajan, Taly, Yan: Axiomatic attribution for deep networks, ICML
2017), up to what the sum over `STEPS` midpoints misses of the integral.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks

STEPS = 64


def integrated(predict: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """The share of every entry of x in predict(x), a single number."""
    slope = torch.zeros_like(x)
    for step in range(STEPS):
        part = (x * ((step + 0.5) / STEPS)).requires_grad_()
        slope += torch.autograd.grad(predict(part), part)[0]
    return x * slope / STEPS


@contextmanager
def masked(net: nn.Module, mask: Tensor, edges: Tensor) -> Iterator[None]:
    """Every message times the mask of its edge (E,), in all layers of a net of PyG's `MessagePassing`."""
    set_masks(net, mask, edges, apply_sigmoid=False)
    try:
        yield
    finally:
        clear_masks(net)
