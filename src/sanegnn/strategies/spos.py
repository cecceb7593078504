"""Single path one-shot: paths drawn fairly train the shared weights, then an evolution searches the paths.

    repeat T times
        path <- one operation for every slot, each as often as another
        w    <- Adam(∇_w L_tra(w, path))
    derive the paths with the best validation scores under w, found by an evolution

There are no alphas: what is compared is the score of the path itself. Its weights were trained while all
others were, a T-th part each, so the score of a path says less the shorter the training.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Annotated

from sanegnn.settings import Within, knob
from sanegnn.space import Architecture
from sanegnn.strategies.base import strategies
from sanegnn.strategies.oneshot import OneSupernet, SupernetCourse, SupernetKnobs
from sanegnn.strategies.paths import evolved, fair


@dataclass(frozen=True)
class SinglePath(SupernetKnobs):
    """The knobs of single path one-shot; its epochs cost a tenth of a mixture's."""

    epochs: Annotated[int, knob("T, the epochs of the supernet"), Within(1)] = 1000
    dropout: Annotated[float, knob("share of hidden entries dropped"), Within(0, 0.99)] = 0.2
    evaluations: Annotated[int, knob("paths scored by the evolution"), Within(2)] = 200
    alive: Annotated[int, knob("best paths so far that may have children"), Within(1)] = 10


class Uniform(SupernetCourse[SinglePath]):
    """The state of single-path training after `epoch` epochs."""

    def step(self) -> dict[str, float]:
        """One epoch, a path for every training batch."""
        self.epoch, train_losses = self.epoch + 1, []
        noise = self.noise
        for _ in range(self.steps):
            path = fair(self.space, self.seed, self.taken)
            train_losses.append(self.learn(path, noise))
        score, val_loss = self.validate(path)
        return {"train_loss": fmean(train_losses), "val_loss": val_loss, "val_score": score}

    def derive(self, top: int) -> list[tuple[Architecture, float]]:
        """The best paths that the evolution found, with their scores."""

        def score(architecture: Architecture) -> float:
            return self.validate(self.space.encode(architecture))[0]

        settings = self.settings
        return evolved(self.space, score, self.seed, settings.evaluations, settings.alive)[:top]


@strategies.add("spos", source="Guo et al.: Single Path One-Shot NAS with Uniform Sampling, ECCV 2020")
class Spos(OneSupernet[SinglePath]):
    """Paths trained in turn, the best found by evolution."""

    knobs = SinglePath
    course = Uniform
