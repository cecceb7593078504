"""Ten stratified folds of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sanegnn.data.splits import Split
from sanegnn.errors import BadSplit
from sanegnn.seeds import generator

Ids = npt.NDArray[np.int64]
FOLDS = 10


def fold(y: npt.NDArray[Any], known: Ids, number: int) -> Split:
    """Split i: tested on fold i mod 10 of the ten by seed i // 10, chosen by the next, learned from the rest.

    So 0 to 9 are a tenfold cross-validation, 10 to 19 another one.
    """
    if len(known) < FOLDS:
        raise BadSplit(f"{len(known)} labelled graphs cannot make {FOLDS} folds: bring a split of your own")
    seed, test = divmod(number, FOLDS)
    dealt = deal(y[known], seed)
    val = (test + 1) % FOLDS
    parts = (~np.isin(dealt, (test, val)), dealt == val, dealt == test)
    return Split(f"fold {test} of {FOLDS}, seed {seed}", *(known[part] for part in parts))


def deal(y: npt.NDArray[Any], seed: int) -> Ids:
    """A fold for each label (n,): of every ten neighbours in the order of y, each fold gets one.

    So each class, and the low and high numbers alike, are in all folds in proportion.
    """
    rng = generator(seed, "folds")
    order = np.lexsort((rng.random(len(y)), y))
    rounds = -(-len(y) // FOLDS)
    numbers = np.concatenate([rng.permutation(FOLDS) for _ in range(rounds)])
    dealt = np.empty(len(y), dtype=np.int64)
    dealt[order] = numbers[: len(y)]
    return dealt
