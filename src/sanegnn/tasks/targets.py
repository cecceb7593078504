"""What a graph is asked for: its class, or a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, l1_loss

from sanegnn.data import WholeGraphs
from sanegnn.nets import mean_odds
from sanegnn.registry import Registry
from sanegnn.tasks.metrics import Metric, metrics, number_metrics


@dataclass(frozen=True)
class Class:
    """One of so many classes: cross-entropy of logits."""

    outputs: int
    metrics: ClassVar[Registry[Metric]] = metrics
    together = staticmethod(mean_odds)
    constants: Mapping[str, float] = field(default_factory=dict)

    def tensor(self, y: Any) -> Tensor:
        """Places among the classes."""
        return torch.as_tensor(y, dtype=torch.long)

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """Cross-entropy."""
        return cross_entropy(output, target)

    def said(self, output: Tensor) -> Tensor:
        """The logits."""
        return output


@dataclass(frozen=True)
class Number:
    """A number: the absolute error in deviations of the training graphs."""

    mean: float = 0.0
    deviation: float = 1.0
    outputs: int = 1
    metrics: ClassVar[Registry[Metric]] = number_metrics

    def tensor(self, y: Any) -> Tensor:
        """The numbers as they are."""
        return torch.as_tensor(y, dtype=torch.float32)

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """The mean absolute error, in deviations."""
        return l1_loss(self.said(output), target.to(output.dtype)) / self.deviation

    def said(self, output: Tensor) -> Tensor:
        """The outputs, back from deviations: (G, 1) -> (G,)."""
        return output[:, 0] * self.deviation + self.mean

    def together(self, outputs: Sequence[Tensor]) -> Tensor:
        """Their mean."""
        return torch.stack(list(outputs)).mean(0)

    @property
    def constants(self) -> Mapping[str, float]:
        """What a model needs to speak of numbers again."""
        return {"mean": self.mean, "deviation": self.deviation}


def target_of(train: WholeGraphs) -> Class | Number:
    """What the graphs are asked for, with the constants of the training graphs."""
    if train.classes:
        return Class(len(train.classes))
    return Number(float(train.y.mean()), float(train.y.std()) or 1.0)
