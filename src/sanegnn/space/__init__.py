"""Architectures and the spaces they are searched in; knows names, no torch."""

from sanegnn.space.architecture import Architecture
from sanegnn.space.designs import plain_designs, pooled_designs
from sanegnn.space.family import Family
from sanegnn.space.presets import presets, space
from sanegnn.space.recipe import Recipe
from sanegnn.space.space import SearchSpace, Slot

__all__ = [
    "Architecture",
    "Family",
    "Recipe",
    "SearchSpace",
    "Slot",
    "plain_designs",
    "pooled_designs",
    "presets",
    "space",
]
