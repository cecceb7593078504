"""One restart of Algorithm 1: a supernet's weights and alphas, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from sanegnn.seeds import Noise, generator
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.alphas import Alphas, strongest
from sanegnn.strategies.hypergradient import hypergradient
from sanegnn.strategies.oneshot import Mix, Sight, SupernetCourse
from sanegnn.tasks import Ready

if TYPE_CHECKING:
    from sanegnn.strategies.darts import Algorithm1

SAMPLES = 200
"""The paths that are drawn and scored when no alpha has been learned (epsilon = 1)."""


class Course(SupernetCourse["Algorithm1"]):
    """The state of Algorithm 1 after `epoch` epochs; its kin replace a part of it."""

    def __init__(self, space: SearchSpace, ready: Ready, settings: Algorithm1, seed: int) -> None:
        super().__init__(space, ready, settings, seed)
        self.alphas = Alphas(space, seed, self.weights[0], settings.alpha_lr, settings.alpha_weight_decay)

    def mix(self) -> dict[str, Tensor]:
        """What is mixed: softmax(alpha) for every slot."""
        return self.alphas.odds()

    def drawn(self, rng: np.random.Generator) -> dict[str, int]:
        """A random path, every one as likely as another."""
        return self.space.encode(self.space.sample(rng))

    def step(self) -> dict[str, float]:
        """One epoch: the alpha step, then the weight step, for every training batch; or a random path."""
        self.epoch += 1
        rng = generator(self.seed, "explore", self.epoch)
        noise = self.noise
        if rng.random() < self.settings.epsilon:
            path = self.drawn(rng)
            score, val_loss = self.validate(path)
            train_losses = [self.weight_step(path, noise) for _ in range(self.steps)]
        else:
            sight, train_losses = Sight(self), []
            for _ in range(self.steps):
                self.alpha_step(noise, sight)
                train_losses.append(self.weight_step(None, noise))
            score, val_loss = sight.told(self.mix())
        return {"train_loss": fmean(train_losses), "val_loss": val_loss, "val_score": score}

    def alpha_step(self, noise: Noise, sight: Sight) -> None:
        """Move the alphas down the loss of the next validation batch."""

        def training() -> Tensor:
            return self._training(self.mix(), noise)

        rows = list(self.alphas.rows.values())

        def validation() -> Tensor:
            return sight.loss(self.mix())

        self.alphas.move(hypergradient(rows, self.weights, validation, training, self.settings.xi))

    def weight_step(self, path: Mix | None, noise: Noise) -> float:
        """Move the weights down the training loss of the mixture, or of one path."""
        return self.learn(path or {key: odds.detach() for key, odds in self.mix().items()}, noise)

    def derive(self, top: int) -> list[tuple[Architecture, float]]:
        """The strongest architectures, each with the supernet's own validation score."""
        if self.settings.epsilon == 1:
            return self._best_of_drawn(top)
        score, _ = self.validate(self.mix())
        return [(architecture, score) for architecture in strongest(self.space, self.alpha_table(), top)]

    def _best_of_drawn(self, top: int) -> list[tuple[Architecture, float]]:
        rng = generator(self.seed, "draw")
        drawn = dict.fromkeys(self.space.sample(rng) for _ in range(SAMPLES))
        scored = [(path, self.validate(self.space.encode(path))[0]) for path in drawn]
        return sorted(scored, key=lambda pair: -pair[1])[:top]

    def alpha_table(self) -> dict[str, list[float]]:
        """Every alpha row by slot key, as records keep it."""
        return self.alphas.table()

    def state(self) -> dict[str, Any]:
        """Weights, alphas and how both were moving."""
        return {**super().state(), **self.alphas.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""
        super().restore(state)
        self.alphas.restore(state)
