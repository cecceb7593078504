"""The efficiency curve: the best validation score so far against time, and the test score of that net."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from sanegnn.comparison.told import Told
from sanegnn.records import Lap

Curve = list[tuple[float, float]]
"""Seconds and a score that holds from there on."""


@dataclass(frozen=True)
class Point:
    """From `seconds` on, this net was the best by validation; `test` was computed after the race."""

    contender: str
    split: str
    seconds: float
    phase: str
    label: str
    validation: float
    test: float


def best_so_far(laps: Iterable[Lap]) -> list[Lap]:
    """The laps that were better by validation than all before them."""
    best, found = -math.inf, []
    for lap in sorted(laps, key=lambda lap: lap.clock):
        if lap.validation > best:
            best = lap.validation
            found.append(lap)
    return found


def points(told: Sequence[Told]) -> Iterator[Point]:
    """The points of all lanes."""
    for lane in told:
        for lap in best_so_far(lane.race):
            scores = (lap.validation, lane.test_of(lap))
            yield Point(lane.contender, lane.split, lap.clock, lap.phase, lap.label, *scores)


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean of step functions, from the time on when all of them have begun."""
    if not curves or not all(curves):
        return []
    begin = max(curve[0][0] for curve in curves)
    times = sorted({begin} | {seconds for curve in curves for seconds, _ in curve if seconds > begin})
    return [(seconds, fmean(_at(curve, seconds) for curve in curves)) for seconds in times]


def _at(curve: Curve, seconds: float) -> float:
    return [score for begun, score in curve if begun <= seconds][-1]
