"""Algorithm 1 with a temperature: softmax(alpha / τ), τ falling, so that the mixture ends near one path.

The weights adapt while the mixture sharpens, and what is derived is close to what was trained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from sanegnn.settings import Within, knob
from sanegnn.strategies.base import strategies
from sanegnn.strategies.course import Course
from sanegnn.strategies.darts import Algorithm1
from sanegnn.strategies.oneshot import OneSupernet


@dataclass(frozen=True)
class Cooling(Algorithm1):
    """The knobs of Algorithm 1, with alphas that move, and the last temperature."""

    dropout: Annotated[float, knob("share of hidden entries dropped"), Within(0, 0.99)] = 0.2
    alpha_lr: Annotated[float, knob("Adam's learning rate for alpha"), Within(1e-7, 10)] = 0.01
    coldest: Annotated[
        float, knob("τ in the last epoch; it falls from 1 by equal factors"), Within(1e-6, 1)
    ] = 0.01


class Annealed(Course):
    """The state of an annealed search after `epoch` epochs."""

    settings: Cooling

    def mix(self) -> dict[str, Tensor]:
        """softmax(alpha / τ) for every slot."""
        tau = self.settings.coldest ** (self.epoch / self.settings.epochs)
        return {key: torch.softmax(row / tau, dim=0) for key, row in self.alphas.rows.items()}


@strategies.add("annealed", source="Xie, Zheng, Liu, Lin: SNAS, ICLR 2019, its temperature")
class Annealing(OneSupernet[Cooling]):
    """Algorithm 1 whose mixture sharpens."""

    knobs = Cooling
    course = Annealed
