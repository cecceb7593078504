"""Paths of a supernet: drawn fairly, and searched by a score."""

from __future__ import annotations

from collections.abc import Callable

from sanegnn.seeds import generator
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.evolution import mutated

Path = dict[str, int]
"""The place of one operation for every slot."""


def fair(space: SearchSpace, seed: int, turn: int) -> Path:
    """The path of a turn: in every slot each operation comes once before any comes again."""
    path = {}
    for slot in space.slots:
        lap, place = divmod(turn, len(slot.choices))
        order = generator(seed, "fair", slot.key, lap).permutation(len(slot.choices))
        path[slot.key] = int(order[place])
    return path


def evolved(
    space: SearchSpace, score: Callable[[Architecture], float], seed: int, evaluations: int, alive: int
) -> list[tuple[Architecture, float]]:
    """Every architecture scored by an evolution, the best first.

    It starts from random members; a child is another operation in one slot of one of the `alive` best so far.
    """
    rng = generator(seed, "evolution")
    scored: dict[Architecture, float] = {}
    for turn in range(evaluations):
        if turn < evaluations // 2:
            one = space.sample(rng)
        else:
            best = sorted(scored, key=scored.__getitem__, reverse=True)[:alive]
            one = mutated(space, best[rng.integers(len(best))], rng)
        if one not in scored:
            scored[one] = score(one)
    return sorted(scored.items(), key=lambda pair: -pair[1])
