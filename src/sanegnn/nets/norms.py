"""PairNorm, which torch does not have."""

from __future__ import annotations

from torch import Tensor, nn


class PairNorm(nn.Module):
    """x_v^c / sqrt(mean_u |x_u^c|^2), with x^c the states less their mean over the nodes.

    It keeps the mean squared distance of two nodes what it is in every layer, so that depth does not make
    all nodes alike. It has no weights, and reads the whole matrix: nodes that are predicted apart from
    their graph get another norm. Zhao, Akoglu: PairNorm, ICLR 2020, with scale 1 and without individual
    scaling.
    """

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.width, self.eps = width, eps

    def forward(self, x: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        centred = x - x.mean(dim=0)
        return centred * (self.eps + centred.square().sum(dim=1).mean()).rsqrt()
