"""Regularised evolution: a population in which the oldest dies, not the worst (Real et al., Algorithm 1).

    population <- `population` random architectures, trained
    repeat: parent <- the best of `sample` members drawn at random
            child  <- the parent with another operation in one slot, trained
            the child joins, the oldest member leaves

As members die of age, an architecture lasts only through children that score well again: a lucky training
does not rule the population. The children of one batch come from the population before the batch. In place
of a child that was tried already, another one is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sanegnn.settings import Within, knob
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.base import strategies
from sanegnn.strategies.candidates import Past, Searcher, TrialAndError


@dataclass(frozen=True)
class Aging(TrialAndError):
    """The knobs of regularised evolution, for a few hundred candidates."""

    population: Annotated[int, knob("P, the members that are alive"), Within(1)] = 40
    sample: Annotated[int, knob("S, the members among which a parent is the best"), Within(1)] = 10


@strategies.add("evolution", source="Real, Aggarwal, Huang, Le: Regularized Evolution, AAAI 2019")
class Evolution(Searcher[Aging]):
    """The best of an aging population of architectures."""

    knobs = Aging

    def ask(self, past: Past, count: int) -> list[Architecture]:
        """Random architectures until the population is full, then children of its members."""
        missing = self.settings.population - len(past.candidates)
        if missing > 0:
            return past.fresh(min(count, missing), past.space.sample)
        alive = past.scored[-self.settings.population :]

        def child(rng: np.random.Generator) -> Architecture:
            drawn = [alive[place] for place in rng.integers(len(alive), size=self.settings.sample)]
            parent, _ = max(drawn, key=lambda pair: pair[1])
            return mutated(past.space, parent, rng)

        return past.fresh(count, child)


def mutated(space: SearchSpace, parent: Architecture, rng: np.random.Generator) -> Architecture:
    """The parent with another operation in one slot, drawn among those that have a choice."""
    open_slots = [slot for slot in space.slots if len(slot.choices) > 1]
    if not open_slots:
        return parent
    slot = open_slots[rng.integers(len(open_slots))]
    choice = space.encode(parent)
    away = 1 + int(rng.integers(len(slot.choices) - 1))
    return space.decode({**choice, slot.key: (choice[slot.key] + away) % len(slot.choices)})
