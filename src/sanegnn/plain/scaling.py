"""The ways to scale node features."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Row(nn.Module):
    """Every row divided by the sum of its absolute values, then by `size`."""

    def __init__(self, size: float = 1.0) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        """(N, F) -> (N, F)."""
        return x / x.abs().sum(dim=1, keepdim=True).clamp(min=1e-12) / self.size


class Standard(nn.Module):
    """(x - mean) / deviation for every feature, by constants of the training graph."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("deviation", torch.ones(features))

    def forward(self, x: Tensor) -> Tensor:
        """(N, F) -> (N, F)."""
        return (x - self.mean) / self.deviation
