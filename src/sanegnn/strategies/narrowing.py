"""A search whose slots lose operations on the way; what stays is mixed alone, and the weights adapt to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.alphas import strongest
from sanegnn.strategies.course import Course
from sanegnn.tasks import Ready

if TYPE_CHECKING:
    from sanegnn.strategies.darts import Algorithm1


class Narrowing(Course):
    """Algorithm 1 over the operations that are `open`, a list of places for every slot, never empty."""

    def __init__(self, space: SearchSpace, ready: Ready, settings: Algorithm1, seed: int) -> None:
        super().__init__(space, ready, settings, seed)
        self.open = {slot.key: list(range(len(slot.choices))) for slot in space.slots}

    def mix(self) -> dict[str, Tensor]:
        """softmax(alpha) over the open operations, zero for the others."""
        return {key: self.odds(key, self.open[key]) for key in self.open}

    def drawn(self, rng: np.random.Generator) -> dict[str, int]:
        """A random path of what is open."""
        return {key: places[rng.integers(len(places))] for key, places in self.open.items()}

    def odds(self, key: str, places: list[int]) -> Tensor:
        """softmax(alpha) of a slot if these places alone were open."""
        row = self.alphas.rows[key]
        closed = torch.full_like(row, -math.inf)
        closed[places] = 0.0
        return torch.softmax(row + closed, dim=0)

    def derive(self, top: int) -> list[tuple[Architecture, float]]:
        """The strongest of what is open, each with the mixture's validation score."""
        rows = {key: odds.detach().log().tolist() for key, odds in self.mix().items()}
        count = min(top, math.prod(map(len, self.open.values())))
        score, _ = self.validate(self.mix())
        return [(architecture, score) for architecture in strongest(self.space, rows, count)]

    def state(self) -> dict[str, Any]:
        """Weights, alphas, and what is open."""
        return {**super().state(), "open": {key: list(places) for key, places in self.open.items()}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""
        super().restore(state)
        self.open = {key: list(places) for key, places in state["open"].items()}
