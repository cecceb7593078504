"""Selection by perturbation: of a trained mixture, keep in every slot the operation that is missed most.

    train the mixture for T epochs, alphas as in Algorithm 1
    for every slot, in an order drawn at random
        for every operation: validate the mixture without it
        keep the one whose absence leaves the largest loss, close the others
        train for `settle` epochs

An alpha says how much an operation is used; that its loss hurts says that it is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sanegnn.seeds import generator
from sanegnn.settings import Within, knob
from sanegnn.space import SearchSpace
from sanegnn.strategies.base import strategies
from sanegnn.strategies.darts import Algorithm1
from sanegnn.strategies.narrowing import Narrowing
from sanegnn.strategies.oneshot import OneSupernet


@dataclass(frozen=True)
class Perturbation(Algorithm1):
    """The knobs of Algorithm 1, T epochs before the first selection, and the epochs between two."""

    epochs: Annotated[int, knob("T, the epochs of the whole mixture"), Within(1)] = 100
    dropout: Annotated[float, knob("share of hidden entries dropped"), Within(0, 0.99)] = 0.2
    settle: Annotated[int, knob("epochs in which the weights adapt to a selection"), Within(1)] = 5


class Perturbed(Narrowing):
    """The state of the search after `epoch` epochs."""

    settings: Perturbation

    def step(self) -> dict[str, float]:
        """One epoch, before which the selections that are due are made."""
        for turn, key in enumerate(self.order):
            if self.epoch >= self.settings.epochs + turn * self.settings.settle and len(self.open[key]) > 1:
                self.open[key] = [self.missed(key)]
        return super().step()

    @property
    def order(self) -> list[str]:
        """The slots in the order of their selections."""
        keys = [slot.key for slot in self.space.slots]
        return [keys[place] for place in generator(self.seed, "slots").permutation(len(keys))]

    @property
    def done(self) -> bool:
        """Whether every slot was selected and the weights have settled."""
        return self.epoch >= self.settings.epochs + self.settings.settle * len(self.open)

    def missed(self, key: str) -> int:
        """The place of the operation without which the validation loss is largest."""
        losses = {}
        for place in self.open[key]:
            rest = [other for other in self.open[key] if other != place]
            losses[place] = self.validate({**self.mix(), key: self.odds(key, rest)})[1]
        return max(losses, key=losses.__getitem__)


@strategies.add("perturbed", source="Wang et al.: Rethinking Architecture Selection in DARTS, ICLR 2021")
class Perturb(OneSupernet[Perturbation]):
    """Algorithm 1 whose operations are chosen by how much they are missed."""

    knobs = Perturbation
    course = Perturbed

    def steps(self, space: SearchSpace) -> int:
        """T epochs and those between the selections."""
        return self.settings.epochs + self.settings.settle * len(space.slots)
