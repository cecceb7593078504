"""Two contenders on the same splits: the difference, its noise, and a signed-rank test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

CONFIDENCE = 0.95
"""Of the interval that decides what is a tie."""

Scores = Mapping[str, Sequence[float]]
"""Of every split the scores of several trainings."""


@dataclass(frozen=True)
class Paired:
    """How far one is ahead of another: mean of the differences by split, and the standard error of that.

    `reach` is half the width of the 95% interval (Student's t), NaN where nothing tells the noise; `p` is of
    the two-sided Wilcoxon signed-rank test, NaN with less than two splits.
    """

    difference: float
    error: float
    reach: float
    p: float
    splits: int

    @property
    def tied(self) -> bool:
        """Whether the interval holds zero, or there is none."""
        return not abs(self.difference) > self.reach


def paired(ours: Scores, theirs: Scores) -> Paired | None:
    """Ours against theirs on the splits that both have; None if they share none."""
    shared = [split for split in ours if ours[split] and theirs.get(split)]
    if not shared:
        return None
    differences = [fmean(ours[split]) - fmean(theirs[split]) for split in shared]
    error, freedom = _error(differences), len(shared) - 1
    if len(shared) == 1:
        error, freedom = _between(ours[shared[0]], theirs[shared[0]])
    reach = _quantile(freedom) * error if freedom > 0 else math.nan
    return Paired(fmean(differences), error, reach, signed_rank(differences), len(shared))


def _quantile(freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + CONFIDENCE) / 2, freedom))


def _error(values: Sequence[float]) -> float:
    return math.sqrt(variance(values) / len(values)) if len(values) > 1 else math.nan


def _between(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, int]:
    """On a single split the trainings alone tell the noise: standard error and degrees of freedom."""
    if min(len(ours), len(theirs)) < 2:
        return math.nan, 0
    return math.hypot(_error(ours), _error(theirs)), len(ours) + len(theirs) - 2


def signed_rank(differences: Sequence[float]) -> float:
    """The p of the two-sided Wilcoxon signed-rank test; differences of zero are left out."""
    from scipy.stats import wilcoxon

    if len(differences) < 2:
        return math.nan
    moved = [one for one in differences if one != 0]
    return float(wilcoxon(moved).pvalue) if moved else 1.0


def smallest_p(splits: int) -> float:
    """What the test gives when all differences have the same sign: no result can be smaller."""
    return 2.0 ** (1 - splits)
