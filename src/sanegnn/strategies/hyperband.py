"""Hyperband: many random architectures are trained briefly, the better third of them longer, and so on.

A bracket is a successive halving over random architectures: the n of its first rung may take R / η^s epochs,
the best n / η of them η times as many, until the last may take R (`epochs`). Whether few epochs tell
enough to judge by is not known beforehand, so the brackets s = s_max … 0 take turns, from the hastiest to
plain random search, each with about the same number of epochs (Li et al., Algorithm 1):

    n = ceil((s_max + 1) / (s + 1) · η^s)      s_max the largest s with R / η^s ≥ `least`

Brackets follow one another until `candidates` architectures were begun; the last one is begun with what is
left. A promoted architecture is trained again from scratch and from the same seed, so that its longer
training begins with the shorter one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle
from typing import Annotated

from sanegnn.settings import Within, knob
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.base import strategies
from sanegnn.strategies.candidates import Past, TrialAndError
from sanegnn.strategies.halving import Halving, Rung


@dataclass(frozen=True)
class Brackets(TrialAndError):
    """The knobs of Hyperband; `epochs` is R."""

    least: Annotated[int, knob("epochs that the first rung has at the least"), Within(1)] = 10
    eta: Annotated[int, knob("one in so many is promoted, to so many times the epochs"), Within(2, 100)] = 3


@strategies.add("hyperband", source="Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar: Hyperband, JMLR 2018")
class Hyperband(Halving[Brackets]):
    """The best of random architectures, of which only the promising are trained for long."""

    knobs = Brackets

    def ask(self, past: Past, count: int) -> list[Architecture]:
        """Random architectures for a first rung, else the best of the rung before."""
        number = len(past.candidates)
        rung = self.rung(number, past.space)
        count = min(count, rung.end - number)
        if rung.fed is None:
            return past.fresh(count, past.space.sample)
        below = sorted(past.scored[rung.fed.begin : rung.fed.end], key=lambda pair: -pair[1])
        return [architecture for architecture, _ in below[number - rung.begin :][:count]]

    def rungs(self, space: SearchSpace) -> tuple[Rung, ...]:
        """The plan of a restart."""
        settings = self.settings
        return plan(min(settings.candidates, space.size), settings.epochs, settings.least, settings.eta)


@lru_cache
def plan(candidates: int, epochs: int, least: int, eta: int) -> tuple[Rung, ...]:
    """The rungs of all brackets, one after the other."""
    deepest = 0
    while least * eta ** (deepest + 1) <= epochs:
        deepest += 1
    rungs: list[Rung] = []
    left = candidates
    for depth in cycle(range(deepest, -1, -1)):
        size = min(left, -(-(deepest + 1) * eta**depth // (depth + 1)))
        rungs += bracket(rungs[-1].end if rungs else 0, size, depth, epochs, eta)
        left -= size
        if not left:
            return tuple(rungs)
    raise AssertionError("the brackets take turns for ever")


def bracket(begin: int, size: int, depth: int, epochs: int, eta: int) -> Iterator[Rung]:
    """The rungs of one successive halving; one architecture at the least reaches the last."""
    rung = None
    for step in range(depth + 1):
        end = begin + max(1, size // eta**step)
        rung = Rung(begin, end, max(1, round(epochs / eta ** (depth - step))), rung)
        yield rung
        begin = end
