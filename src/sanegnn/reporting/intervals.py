"""How sure a number is: intervals of 95 per cent, in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def reach(scores: Sequence[float]) -> float:
    """Half the width of Student's interval of the mean over trainings; NaN for a single one."""
    from scipy.stats import t

    if len(scores) < 2:
        return math.nan
    return float(t.ppf((1 + CONFIDENCE) / 2, len(scores) - 1)) * stdev(scores) / math.sqrt(len(scores))


def around_mean(scores: Sequence[float]) -> tuple[float, float, float]:
    """Mean and the ends of its interval; both are the mean where one training tells no noise."""
    mean, half = fmean(scores), reach(scores)
    half = 0.0 if math.isnan(half) else half
    return mean, mean - half, mean + half


def wilson(hits: float, count: int) -> tuple[float, float]:
    """The interval of a share of `count` draws (Wilson, 1927): it stays within 0 and 1."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, Z * Z / count
    middle = (share + square / 2) / (1 + square)
    half = Z / (1 + square) * math.sqrt(share * (1 - share) / count + square / (4 * count))
    return max(0.0, middle - half), min(1.0, middle + half)
