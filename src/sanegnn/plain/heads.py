"""Heads: what becomes of the embedding z."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class Head(nn.Module):
    """W z + b of every node, after dropout."""

    def __init__(self, width: int, outputs: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.outer, self.dropout = nn.Linear(width, outputs), dropout

    def forward(self, z: Tensor) -> Tensor:
        """(N, D) -> (N, outputs)."""
        return self.outer(F.dropout(z, self.dropout, self.training))


class PairDot(nn.Module):
    """z_u · z_v of every pair."""

    def forward(self, z: Tensor, pairs: Tensor) -> Tensor:
        """(N, D), (2, P) -> (P, 1)."""
        return (z[pairs[0]] * z[pairs[1]]).sum(dim=1, keepdim=True)


class PairMlp(nn.Module):
    """Two layers with ReLU and dropout between, over z_u ⊙ z_v of every pair."""

    def __init__(self, width: int, outputs: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, width), nn.Linear(width, outputs)
        self.dropout = dropout

    def forward(self, z: Tensor, pairs: Tensor) -> Tensor:
        """(N, D), (2, P) -> (P, outputs)."""
        hidden = F.relu(self.inner(z[pairs[0]] * z[pairs[1]]))
        return self.outer(F.dropout(hidden, self.dropout, self.training))
