"""Short trainings, a surrogate that learns from them what the parts of a design are worth, and halving.

    first    two thirds of the `candidates` are drawn, every operation of a slot as often as another
    guided   the others are the best in the eyes of a tree of the surrogate each (Thompson sampling)
    alone    the best by the surrogate train anew, `grow` times as long, one in `keep`, and so on

An architecture is judged by weights of its own after a few epochs, and what a single short training leaves to
chance the surrogate takes from its likes. A design with all skips zero sees no node and is never tried.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Annotated

import numpy as np

from sanegnn.seeds import derive
from sanegnn.settings import SCALINGS, Among, Within, knob
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.base import strategies
from sanegnn.strategies.candidates import DRAWS, Past, TrialAndError
from sanegnn.strategies.evolution import mutated
from sanegnn.strategies.halving import Halving, Rung
from sanegnn.strategies.paths import fair
from sanegnn.strategies.surrogate import Surrogate

POOL = 500
"""Architectures among which the surrogate chooses."""
ELITE = 10
"""The best so far, whose neighbours are in the pool."""


@dataclass(frozen=True)
class Guided(TrialAndError):
    """The knobs of SANE's own search; `epochs` are those of the last trainings."""

    candidates: Annotated[int, knob("architectures that get a short training"), Within(2)] = 72
    epochs: Annotated[int, knob("epochs of the longest trainings"), Within(1)] = 90
    hidden: Annotated[int, knob("width of the hidden states"), Within(1, 4096)] = 32
    scaling: Annotated[
        str, knob("scaling of the input features; auto: unit if sparse, else standard"), Among(SCALINGS)
    ] = "auto"
    input_dropout: Annotated[float, knob("share of stored input entries dropped"), Within(0, 0.99)] = 0.2
    dropout: Annotated[float, knob("share of hidden entries dropped"), Within(0, 0.99)] = 0.2
    lr: Annotated[float, knob("Adam's learning rate"), Within(1e-7, 1)] = 0.01
    grow: Annotated[int, knob("how many times as long the next trainings are"), Within(2, 100)] = 3
    keep: Annotated[int, knob("one in so many is trained that long"), Within(2, 100)] = 4


@lru_cache
def plan(candidates: int, epochs: int, grow: int, keep: int) -> tuple[Rung, ...]:
    """Each rung has one in `keep` of the one before, for `grow` times its epochs; the last has `epochs`."""
    sizes = [candidates]
    while sizes[-1] >= 2 * keep:
        sizes.append(sizes[-1] // keep)
    rungs: list[Rung] = []
    for left, size in zip(reversed(range(len(sizes))), sizes, strict=True):
        fed = rungs[-1] if rungs else None
        begin = fed.end if fed else 0
        rungs.append(Rung(begin, begin + size, max(1, round(epochs / grow**left)), fed))
    return tuple(rungs)


@strategies.add("sane", source="sanegnn: short trainings, a surrogate over what computes, halving")
class Sane(Halving[Guided]):
    """Short trainings that a surrogate guides, then longer ones of the best."""

    knobs = Guided

    def rungs(self, space: SearchSpace) -> tuple[Rung, ...]:
        """The plan of a restart."""
        settings = self.settings
        return plan(min(settings.candidates, space.size), settings.epochs, settings.grow, settings.keep)

    def ask(self, past: Past, count: int) -> list[Architecture]:
        """What is drawn, fairly or by the surrogate; in later rungs the best of the rung before."""
        number = len(past.candidates)
        rung = self.rung(number, past.space)
        count, fairly = min(count, rung.end - number), 2 * rung.end // 3
        if rung.fed:
            return promoted(past, rung.fed)[number - rung.begin :][:count]
        return fair_draws(past, min(count, fairly - number)) if number < fairly else guided(past, count)

    def judged(self, past: Past) -> Past:
        """Those that were trained longest, as many rungs of them as it takes for `top`."""
        for rung in reversed(self.rungs(past.space)):
            last = replace(past, candidates=past.candidates[rung.begin :])
            if len(last.ranked()) >= self.settings.top:
                return last
        return past


def _living(architecture: Architecture) -> bool:
    return architecture.reach > 0


def fair_draws(past: Past, count: int) -> list[Architecture]:
    """New architectures whose layers live, every operation of a slot as often as another."""
    turns = itertools.count(len(past.candidates))

    def draw(_rng: np.random.Generator) -> Architecture:
        paths = (past.space.decode(fair(past.space, past.seed, turn)) for turn in islice(turns, DRAWS))
        return next(filter(_living, paths))

    return past.fresh(count, draw)


def guided(past: Past, count: int) -> list[Architecture]:
    """New architectures, each the best by one tree of the surrogate."""
    pool = _pool(past)
    chosen: list[int] = []
    for guesses in surrogate(past, past.scored).draws(pool, count):
        chosen.append(next(place for place in np.argsort(-guesses).tolist() if place not in chosen))
    return [pool[place] for place in chosen]


def _pool(past: Past) -> list[Architecture]:
    """New architectures that live: any, and neighbours of the best so far."""
    best = [architecture for architecture, _ in past.ranked()[:ELITE]]

    def draw(rng: np.random.Generator) -> Architecture:
        near = rng.random() < 0.5
        ways = (
            mutated(past.space, best[rng.integers(len(best))], rng) if near else past.space.sample(rng)
            for _ in range(DRAWS)
        )
        return next(filter(_living, ways))

    return past.fresh(POOL, draw)


def promoted(past: Past, rung: Rung) -> list[Architecture]:
    """The architectures of a rung, the best first: after short trainings by what the surrogate expects."""
    below = past.scored[rung.begin : rung.end]
    if rung.fed:
        return [architecture for architecture, _ in sorted(below, key=lambda pair: -pair[1])]
    architectures = [architecture for architecture, _ in below]
    expected = surrogate(past, below).expected(architectures)
    order = sorted(range(len(below)), key=lambda place: -expected[place])
    return [architectures[place] for place in order]


def surrogate(past: Past, scored: Sequence[tuple[Architecture, float]]) -> Surrogate:
    """What these say of others; a training that went astray counts as much as the worst."""
    worst = min((score for _, score in scored if math.isfinite(score)), default=0.0)
    seen = {architecture: max(score, worst) for architecture, score in scored}
    return Surrogate(past.space, seen, derive(past.seed, "surrogate", len(scored)))
