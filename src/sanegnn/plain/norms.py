"""The norm that torch does not have."""

from __future__ import annotations

from torch import Tensor, nn


class PairNorm(nn.Module):
    """The states less their mean, divided by the root of their mean squared length."""

    def forward(self, x: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        centred = x - x.mean(dim=0)
        return centred * (1e-5 + centred.square().sum(dim=1).mean()).rsqrt()
