"""Progressive shrinking: slots lose their weakest operation again and again, weights and alphas adapt.

after `warm` epochs of Algorithm 1, spread evenly over the rest
close the operation with the smallest softmax(alpha) in the slot with the most open operations
until one operation a slot is left
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sanegnn.settings import Within, knob
from sanegnn.strategies.base import strategies
from sanegnn.strategies.darts import Algorithm1
from sanegnn.strategies.narrowing import Narrowing
from sanegnn.strategies.oneshot import OneSupernet


@dataclass(frozen=True)
class Shrinkage(Algorithm1):
    """The knobs of Algorithm 1, with alphas that move, and when operations are closed."""

    dropout: Annotated[float, knob("share of hidden entries dropped"), Within(0, 0.99)] = 0.2
    alpha_lr: Annotated[float, knob("Adam's learning rate for alpha"), Within(1e-7, 10)] = 0.01
    warm: Annotated[float, knob("share of the epochs before the first closing"), Within(0, 0.99)] = 0.2


class Shrinking(Narrowing):
    """The state of a shrinking search after `epoch` epochs."""

    settings: Shrinkage

    def step(self) -> dict[str, float]:
        """One epoch, then as many closings as are due."""
        told = super().step()
        for _ in range(self.due - self.closed):
            self.close()
        return told

    @property
    def all(self) -> int:
        """The operations to be closed in the end."""
        return sum(len(slot.choices) - 1 for slot in self.space.slots)

    @property
    def closed(self) -> int:
        """The operations closed so far."""
        return sum(len(slot.choices) - len(self.open[slot.key]) for slot in self.space.slots)

    @property
    def due(self) -> int:
        """The operations that are to be closed by now."""
        warm = self.settings.warm * self.settings.epochs
        return int(self.all * max(0.0, self.epoch - warm) / (self.settings.epochs - warm))

    def close(self) -> None:
        """Take the weakest operation out of the widest slot, the weakest such one of equally wide slots."""
        widest = max(map(len, self.open.values()))
        rows = {key: odds.tolist() for key, odds in self.mix().items() if len(self.open[key]) == widest}
        _, key, place = min((rows[key][place], key, place) for key in rows for place in self.open[key])
        self.open[key].remove(place)


@strategies.add("shrinking", source="Chen, Xie, Wu, Tian: Progressive DARTS, ICCV 2019, its shrinking spaces")
class Shrink(OneSupernet[Shrinkage]):
    """Algorithm 1 over slots that grow narrower."""

    knobs = Shrinkage
    course = Shrinking
