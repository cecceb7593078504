"""Short turns on shared weights, a ranking by slot, and a last round in which the best train alone.

    turns     again and again a path is drawn, every operation of a slot as often as another, and trained
              for `turn` steps in a row on the weights that all share; then its validation score is noted
    ranking   score ≈ Σ_slot effect(operation) + trend, by ridge regression over all turns
    alone     the `candidates` with the largest sums and the best turns go on, each with a copy of its
              shared weights: after `alone` epochs the best third stays, for twice as many more, and so on

A path is judged right after steps of its own: where the path changes with every step, or operations are
mixed, the shared weights fit the others as much as the path that is scored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import torch

from sanegnn.nets import inherit
from sanegnn.seeds import Noise, derive
from sanegnn.settings import Within, knob
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.alphas import strongest
from sanegnn.strategies.base import strategies
from sanegnn.strategies.effects import effects
from sanegnn.strategies.oneshot import OneSupernet, SupernetCourse, SupernetKnobs
from sanegnn.strategies.paths import Path, fair
from sanegnn.tasks import Ready
from sanegnn.training.loop import evaluate, learn

LAST = 3
"""The epochs at the end of a round whose mean validation score counts."""

LOST = -1e9
"""The score of a net that went astray, so that a mean with it is a number."""


@dataclass(frozen=True)
class Turns(SupernetKnobs):
    """The knobs of SANE's own search."""

    epochs: Annotated[int, knob("T, the turns on shared weights"), Within(1)] = 40
    heads: Annotated[int, knob("attention heads of the supernet"), Within(1, 64)] = 4
    dropout: Annotated[float, knob("share of hidden entries dropped"), Within(0, 0.99)] = 0.2
    turn: Annotated[int, knob("steps in a row on the path of a turn"), Within(1)] = 10
    candidates: Annotated[int, knob("architectures that train alone in the end"), Within(1)] = 9
    alone: Annotated[int, knob("epochs of the first round alone; the next has twice as many"), Within(1)] = 20


class Turning(SupernetCourse[Turns]):
    """The state after `epoch` turns: the weights, and the validation score at the end of every turn."""

    def __init__(self, space: SearchSpace, ready: Ready, settings: Turns, seed: int) -> None:
        super().__init__(space, ready, settings, seed)
        self.scores: list[float] = []

    def step(self) -> dict[str, float]:
        """One turn: steps on one path, whose score is noted at the end."""
        path = self.path(self.epoch)
        self.epoch += 1
        losses = [self.learn(path, self.noise.at(place)) for place in range(self.settings.turn)]
        train_loss = sum(losses) / len(losses)
        score, val_loss = self.validate(path)
        astray = min([0.0, *self.scores])  # it scores -inf, to which no effect could be fitted
        self.scores.append(score if math.isfinite(score) else astray)
        return {"train_loss": train_loss, "val_loss": val_loss, "val_score": score}

    def path(self, turn: int) -> Path:
        """The path of a turn."""
        return fair(self.space, self.seed, turn)

    def derive(self, top: int) -> list[tuple[Architecture, float]]:
        """The candidates that lasted longest, the best first, each with its score alone."""
        rivals = [Alone(self, one) for one in self.candidates(max(top, self.settings.candidates))]
        beaten: list[Alone] = []
        epochs = self.settings.alone
        while len(rivals) > 1 or not beaten:
            for rival in rivals:
                rival.train(epochs)
            rivals.sort(key=lambda rival: -rival.score)
            keep = len(rivals) // 3
            rivals, beaten = rivals[:keep], rivals[keep:] + beaten
            epochs *= 2
        return [(rival.architecture, rival.score) for rival in (rivals + beaten)[:top]]

    def candidates(self, count: int) -> list[Architecture]:
        """Those with the best turns, a half, and those with the largest sum of effects."""
        paths = [self.path(turn) for turn in range(len(self.scores))]
        rows, scores = effects(self.space, paths, self.scores)
        tried = sorted(zip(scores, map(self.space.decode, paths), strict=True), key=lambda pair: -pair[0])
        likely = strongest(self.space, rows, count)
        best = list(dict.fromkeys(architecture for _, architecture in tried))[: count // 2]
        return list(dict.fromkeys([*best, *likely]))[: min(count, self.space.size)]

    def state(self) -> dict[str, Any]:
        """The weights and the scores of the turns."""
        return {**super().state(), "scores": list(self.scores)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""
        super().restore(state)
        self.scores = list(state["scores"])


class Alone:
    """A candidate that goes on from the shared weights in a net of its own."""

    def __init__(self, course: Turning, architecture: Architecture) -> None:
        self.ready, self.architecture = course.ready, architecture
        self.net = inherit(course.net, architecture)
        settings = course.settings
        self.adam = torch.optim.Adam(
            self.net.parameters(), lr=settings.lr, weight_decay=settings.weight_decay, fused=True
        )
        self.seed = derive(course.seed, "alone", str(architecture))
        self.epoch, self.score = 0, 0.0

    def train(self, epochs: int) -> None:
        """Some more epochs, and the score after them."""
        scores = []
        for left in reversed(range(epochs)):
            self.epoch += 1
            learn(self.net, self.ready, self.adam, Noise(derive(self.seed, self.epoch)))
            if left < LAST:
                scores.append(max(LOST, evaluate(self.net, self.ready, "val")[0]))
        self.score = sum(scores) / len(scores)


@strategies.add("sane", source="sanegnn: single paths in turns, effects by slot, successive halving")
class Sane(OneSupernet[Turns]):
    """Turns on shared weights, then the best alone."""

    knobs = Turns
    course = Turning
