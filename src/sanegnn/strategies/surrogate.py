"""What some architectures scored, as a guess at the score of any other.

Two architectures are alike if they compute alike. A layer above the last one that reaches the output computes
nothing, and with all skips zero no layer does; an operation often matters more than the layer that it stands
in. So an architecture is told by

    the operation of every living layer          zeros for a dead one
    the operations that stand in some living layer
    the choice in every other slot, and how many layers live

and a forest of regression trees, each grown on a sample of what was seen, guesses the rest. Their mean is
what can be expected, and where little is known they differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sanegnn.space import Architecture, SearchSpace

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestRegressor

Matrix = np.ndarray[Any, np.dtype[np.float64]]
TREES = 200


def told(space: SearchSpace, architecture: Architecture) -> list[float]:
    """What an architecture computes, as numbers of zero and one."""
    picks, alive = space.encode(architecture), architecture.reach
    inner = {kind for kind, _ in space.nodes.components}
    own: list[float] = []
    somewhere: dict[str, Matrix] = {}
    for slot in space.slots:
        chosen = np.eye(len(slot.choices))[picks[slot.key]]
        if slot.kind in inner:
            chosen *= slot.layer < alive
            somewhere[slot.kind] = np.maximum(chosen, somewhere.get(slot.kind, 0.0))
        own += (chosen * (alive > 0)).tolist()
    depths = np.eye(space.depth + 1)[alive].tolist()
    return [*own, *(number for row in somewhere.values() for number in row.tolist()), *depths]


class Surrogate:
    """A forest that has seen the scores of some architectures; the same seed gives the same forest."""

    def __init__(self, space: SearchSpace, scores: Mapping[Architecture, float], seed: int) -> None:
        self.space, self.lowest = space, min(scores.values())
        self.forest = _grown(self._table(list(scores)), np.array(list(scores.values())), seed)

    def expected(self, architectures: Sequence[Architecture]) -> list[float]:
        """The score that each can expect; without a living layer it is the lowest that was seen."""
        guesses = self.forest.predict(self._table(architectures)).tolist()
        pairs = zip(guesses, architectures, strict=True)
        return [guess if one.reach else self.lowest for guess, one in pairs]

    def draws(self, architectures: Sequence[Architecture], count: int) -> Matrix:
        """What `count` of the trees guess for all of them, (count, architectures)."""
        table = self._table(architectures)
        return np.stack([tree.predict(table) for tree in self.forest.estimators_[:count]])

    def _table(self, architectures: Sequence[Architecture]) -> Matrix:
        return np.array([told(self.space, one) for one in architectures])


def _grown(table: Matrix, scores: Matrix, seed: int) -> RandomForestRegressor:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(TREES, min_samples_leaf=2, random_state=seed % 2**32).fit(table, scores)
