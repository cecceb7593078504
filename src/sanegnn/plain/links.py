"""What the outputs of a net mean: probabilities, the loss behind them, and a score."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class OneClass(nn.Module):
    """Every node has one of the classes; y holds their numbers (N,)."""

    def forward(self, logits: Tensor) -> Tensor:
        """Probabilities (N, C)."""
        return torch.softmax(logits, dim=1)

    def loss(self, logits: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy."""
        return F.cross_entropy(logits, y)

    def score(self, logits: Tensor, y: Tensor) -> float:
        """Accuracy."""
        return float((logits.argmax(dim=1) == y).float().mean())


class SeveralClasses(nn.Module):
    """A node may have several of the classes; y holds ones and zeros (N, C)."""

    def forward(self, logits: Tensor) -> Tensor:
        """Probabilities (N, C)."""
        return torch.sigmoid(logits)

    def loss(self, logits: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy of every class for itself."""
        return F.binary_cross_entropy_with_logits(logits, y.to(logits.dtype))

    def score(self, logits: Tensor, y: Tensor) -> float:
        """The share of entries that are right."""
        return float(((logits > 0) == (y > 0.5)).float().mean())
