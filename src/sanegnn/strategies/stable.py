"""Algorithm 1 that stops when what it would derive has been the same for a while."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from sanegnn.settings import Within, knob
from sanegnn.strategies.alphas import strongest
from sanegnn.strategies.base import strategies
from sanegnn.strategies.course import Course
from sanegnn.strategies.darts import Algorithm1
from sanegnn.strategies.oneshot import OneSupernet


@dataclass(frozen=True)
class Patience(Algorithm1):
    """The knobs of Algorithm 1, with alphas that move, and the epochs that suffice."""

    alpha_lr: Annotated[float, knob("Adam's learning rate for alpha"), Within(1e-7, 10)] = 0.01
    calm: Annotated[int, knob("epochs without a change that end the search"), Within(1)] = 25


class Stable(Course):
    """The state of the search after `epoch` epochs; `since` is the epoch of the last change."""

    settings: Patience
    since = 0
    named = ""

    def step(self) -> dict[str, float]:
        """One epoch, and a look at what would be derived."""
        told = super().step()
        (now,) = strongest(self.space, self.alpha_table(), 1)
        if str(now) != self.named:
            self.named, self.since = str(now), self.epoch
        return told

    @property
    def done(self) -> bool:
        """Whether the architecture has been calm, or T epochs are over."""
        return super().done or self.epoch - self.since >= self.settings.calm

    def state(self) -> dict[str, Any]:
        """Weights, alphas, and the last change."""
        return {**super().state(), "since": self.since, "named": self.named}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""
        super().restore(state)
        self.since, self.named = state["since"], state["named"]


@strategies.add("stable", source="Liang et al.: DARTS+, 2019, its early stopping")
class Stopping(OneSupernet[Patience]):
    """Algorithm 1 that knows when to stop."""

    knobs = Patience
    course = Stable
