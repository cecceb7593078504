"""Recipe: what an architecture must hold to compute something whose answer is known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from sanegnn.space.architecture import Architecture

KEEPERS = frozenset({"sage_sum", "sage_mean", "sage_max"})
"""Aggregators with a weight of their own for the node, so that a layer can pass its state by unchanged."""


@dataclass(frozen=True)
class Recipe:
    """Aggregators that must follow one another, each step one of several.

    `architecture in recipe` asks whether the steps stand among its layers in their order, whether all other
    layers below the last step can keep what they are given, and whether its state reaches the output: by its
    own skip, or by that of a later layer when all layers between can keep it.
    """

    steps: tuple[tuple[str, ...], ...]

    def __contains__(self, architecture: Architecture) -> bool:
        places = combinations(range(architecture.depth), len(self.steps))
        return any(self._stands(architecture, chosen) for chosen in places)

    def _stands(self, architecture: Architecture, chosen: tuple[int, ...]) -> bool:
        nodes, last = architecture.nodes, chosen[-1]
        fits = all(nodes[place] in step for place, step in zip(chosen, self.steps, strict=True))
        others = [nodes[place] for place in range(last) if place not in chosen]
        return fits and KEEPERS.issuperset(others) and _reaches(architecture, last)


def _reaches(architecture: Architecture, layer: int) -> bool:
    """Whether the state of a layer can get to the output as it is."""
    top = architecture.depth - 1
    for place in range(layer, architecture.depth):
        if place > layer and architecture.nodes[place] not in KEEPERS:
            return False
        if architecture.skips[place] != "zero" if architecture.skips else place == top:
            return True
    return False
