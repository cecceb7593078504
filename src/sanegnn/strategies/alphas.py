"""Alphas: how much every operation of every slot is preferred, learned by gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from sanegnn.seeds import generator
from sanegnn.space import Architecture, SearchSpace


class Alphas:
    """A row of alpha for every slot, nearly equal at first, and the Adam that moves them."""

    def __init__(self, space: SearchSpace, seed: int, like: Tensor, lr: float, weight_decay: float) -> None:
        self.space = space
        self.rows = {slot.key: _first(seed, slot.key, len(slot.choices), like) for slot in space.slots}
        self.adam = torch.optim.Adam(
            list(self.rows.values()), lr=lr, betas=(0.5, 0.999), weight_decay=weight_decay
        )

    def odds(self) -> dict[str, Tensor]:
        """softmax(alpha) for every slot (Eq. 2)."""
        return {slot.key: torch.softmax(self.rows[slot.key], dim=0) for slot in self.space.slots}

    def move(self, gradients: Sequence[Tensor]) -> None:
        """A step against the gradients, one a row."""
        for row, gradient in zip(self.rows.values(), gradients, strict=True):
            row.grad = gradient
        self.adam.step()

    def table(self) -> dict[str, list[float]]:
        """Every row by slot key, as records keep it."""
        return {key: row.detach().tolist() for key, row in self.rows.items()}

    def state(self) -> dict[str, Any]:
        """The rows and how they were moving."""
        return {
            "alpha": {key: row.detach() for key, row in self.rows.items()},
            "alpha_adam": self.adam.state_dict(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""
        with torch.no_grad():
            for key, row in self.rows.items():
                row.copy_(state["alpha"][key])
        self.adam.load_state_dict(state["alpha_adam"])


def _first(seed: int, key: str, choices: int, like: Tensor) -> Tensor:
    start = 1e-3 * generator(seed, "alpha", key).standard_normal(choices)
    return torch.tensor(start, dtype=like.dtype, device=like.device, requires_grad=True)


def strongest(space: SearchSpace, alphas: Mapping[str, list[float]], top: int) -> list[Architecture]:
    """The `top` architectures with the largest product of softmax(alpha), the first being the argmax."""
    beam: list[tuple[float, dict[str, int]]] = [(0.0, {})]
    for slot in space.slots:
        row = alphas[slot.key]
        grown = [
            (total + value, {**taken, slot.key: place})
            for total, taken in beam
            for place, value in enumerate(row)
        ]
        beam = sorted(grown, key=lambda pair: -pair[0])[:top]
    return [space.decode(taken) for _, taken in beam]
