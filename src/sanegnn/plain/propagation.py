"""Aggregators that go back to an initial state."""

from __future__ import annotations

from math import log

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sanegnn.plain.pooled import GcnSum


class Appnp(GcnSum):
    """z_0 = h; z_k = (1 - α) pool(z_(k-1)) + α h; the output is the last z."""

    def __init__(self, teleport: float, steps: int) -> None:
        super().__init__()
        self.teleport, self.steps = teleport, steps

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        z = x
        for _ in range(self.steps):
            pooled = self.pool(z, edge_index, edge_weight)
            z = (1 - self.teleport) * pooled + self.teleport * x
        return z


class Gcnii(GcnSum):
    """m = (1 - α) pool(h) + α h_0; (1 - β_l) m + β_l W m, with β_l = log(θ / l + 1).

    The first such layer opens the stack: h_0 = ReLU(h), and l counts from there.
    """

    def __init__(self, width: int, teleport: float, theta: float) -> None:
        super().__init__()
        self.teleport, self.theta = teleport, theta
        self.weight = nn.Parameter(torch.zeros(width, width))

    def step(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_weight: Tensor,
        memory: tuple[Tensor, int] | None,
    ) -> tuple[Tensor, tuple[Tensor, int]]:
        """(N, D) -> (N, D), and what the next such layer is given: h_0 and l."""
        if memory is None:
            x = F.relu(x)
        origin, layer = (x, 1) if memory is None else (memory[0], memory[1] + 1)
        beta = log(self.theta / layer + 1)
        pooled = self.pool(x, edge_index, edge_weight)
        mixed = (1 - self.teleport) * pooled + self.teleport * origin
        out = (1 - beta) * mixed + beta * F.linear(mixed, self.weight)
        return out, (origin, layer)
