"""A cheap ranking of a whole space from the scores of some of its paths: a sum of effects, one a slot.

    score of a path = mean + Σ_slot effect(slot, its operation) + trend(turn)

fitted by ridge regression. The trend takes up that shared weights get better: a late path has the better
score, not the better operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sanegnn.space import SearchSpace
from sanegnn.strategies.paths import Path

Matrix = np.ndarray[Any, np.dtype[np.float64]]
RIDGE = 1.0
"""An effect seen n times is drawn to zero by the factor n / (n + RIDGE)."""


def effects(
    space: SearchSpace, paths: Sequence[Path], scores: Sequence[float]
) -> tuple[dict[str, list[float]], list[float]]:
    """The effects of every slot by its key, and the scores without the trend."""
    trend = np.log(np.arange(len(paths)) + 5.0)
    trend = 3 * (trend - trend.mean())
    table = np.hstack([*(_taken(paths, slot.key, len(slot.choices)) for slot in space.slots), trend[:, None]])
    known = np.array(scores) - np.mean(scores)
    fitted = np.linalg.solve(table.T @ table + RIDGE * np.eye(table.shape[1]), table.T @ known)
    ends = np.cumsum([len(slot.choices) for slot in space.slots])
    rows = np.split(fitted[:-1], ends[:-1])
    found = {slot.key: row.tolist() for slot, row in zip(space.slots, rows, strict=True)}
    return found, (np.array(scores) - fitted[-1] * trend).tolist()


def _taken(paths: Sequence[Path], key: str, choices: int) -> Matrix:
    """Which operation of a slot each path took, (paths, choices)."""
    one_hot: Matrix = np.eye(choices)[[path[key] for path in paths]]
    return one_hot
