"""GDAS: one path is drawn in every step, and a straight-through gradient moves the alphas.

    o = alpha + Gumbel noise,  p = softmax(o / τ)  in every slot, k = argmax p
    the operation k alone is computed; its output is multiplied by 1 + p_k - p_k, where the second p_k is
    a constant: the forward pass is that of the path, the backward pass reaches every alpha through p_k

    repeat T times, τ falling from `hottest` to `coldest`
        alpha <- Adam(∇_α L_val(w, a path))
        w     <- Adam(∇_w L_tra(w, another path))
    derive the strongest operation of every slot

An epoch costs two paths in place of two mixtures, about a tenth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor

from sanegnn.nets import Gated
from sanegnn.seeds import generator
from sanegnn.settings import Within, knob
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.alphas import Alphas, strongest
from sanegnn.strategies.base import strategies
from sanegnn.strategies.oneshot import OneSupernet, Sight, SupernetCourse, SupernetKnobs
from sanegnn.tasks import Ready


@dataclass(frozen=True)
class Gumbel(SupernetKnobs):
    """The knobs of GDAS: its own for alpha and the temperature."""

    epochs: Annotated[int, knob("T, the epochs of the supernet"), Within(1)] = 400
    alpha_lr: Annotated[float, knob("Adam's learning rate for alpha"), Within(1e-7, 10)] = 3e-4
    alpha_weight_decay: Annotated[float, knob("L2 penalty on alpha"), Within(0, 1)] = 1e-3
    hottest: Annotated[float, knob("τ in the first epoch"), Within(1e-3, 1e3)] = 10.0
    coldest: Annotated[float, knob("τ in the last epoch"), Within(1e-3, 1e3)] = 0.1


class GumbelCourse(SupernetCourse[Gumbel]):
    """The state of GDAS after `epoch` epochs."""

    def __init__(self, space: SearchSpace, ready: Ready, settings: Gumbel, seed: int) -> None:
        super().__init__(space, ready, settings, seed)
        self.alphas = Alphas(space, seed, self.weights[0], settings.alpha_lr, settings.alpha_weight_decay)

    def step(self) -> dict[str, float]:
        """One epoch: for every training batch the alpha step on a path, then the weight step on another."""
        self.epoch += 1
        draws = {step: generator(self.seed, "gumbel", step, self.epoch) for step in ("alpha", "weight")}
        rows, noise = list(self.alphas.rows.values()), self.noise
        sight, train_losses = Sight(self), []
        for _ in range(self.steps):
            mix = self.draw(draws["alpha"])
            slope = torch.autograd.grad(sight.loss(mix), rows, allow_unused=True, materialize_grads=True)
            self.alphas.move(slope)
            path = {key: gated.place for key, gated in self.draw(draws["weight"]).items()}
            train_losses.append(self.learn(path, noise))
        score, val_loss = sight.told(mix)
        return {"train_loss": fmean(train_losses), "val_loss": val_loss, "val_score": score}

    @property
    def temperature(self) -> float:
        """τ of this epoch."""
        done = (self.epoch - 1) / max(1, self.settings.epochs - 1)
        return self.settings.hottest + done * (self.settings.coldest - self.settings.hottest)

    def draw(self, rng: np.random.Generator) -> dict[str, Gated]:
        """The next path of a stream."""
        noise = {key: rng.gumbel(size=len(row)) for key, row in self.alphas.rows.items()}
        return {
            key: straight_through(row, row.new_tensor(noise[key]), self.temperature)
            for key, row in self.alphas.rows.items()
        }

    def derive(self, top: int) -> list[tuple[Architecture, float]]:
        """The strongest architectures, each with the validation score of its own path."""
        found = strongest(self.space, self.alpha_table(), top)
        return [(one, self.validate(self.space.encode(one))[0]) for one in found]

    def alpha_table(self) -> dict[str, list[float]]:
        """Every alpha row by slot key."""
        return self.alphas.table()

    def state(self) -> dict[str, Any]:
        """Weights, alphas and how both were moving."""
        return {**super().state(), **self.alphas.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""
        super().restore(state)
        self.alphas.restore(state)


def straight_through(row: Tensor, gumbel: Tensor, temperature: float) -> Gated:
    """The operation with the largest alpha + noise, its factor 1 with the gradient of its p."""
    odds = torch.softmax((row + gumbel) / temperature, dim=0)
    place = int(odds.argmax())
    return Gated(place, 1 + odds[place] - odds[place].detach())


@strategies.add("gdas", source="Dong, Yang: Searching for a Robust Neural Architecture, CVPR 2019")
class Gdas(OneSupernet[Gumbel]):
    """One path in every step."""

    knobs = Gumbel
    course = GumbelCourse
