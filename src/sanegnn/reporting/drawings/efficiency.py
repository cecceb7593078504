"""Scores against the time they took: the course of one run, and contenders beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from sanegnn.reporting.axes import Frame, legend
from sanegnn.reporting.drawings import WIDTH
from sanegnn.reporting.looks import series
from sanegnn.reporting.scales import Linear, Log, low_end, scores_around
from sanegnn.reporting.scene import Mark, Picture, Point

LEFT, RIGHT, TALL = 58.0, 16.0, 250.0
PHASES = {"search": "s0", "tune": "s1", "retrain": "s2"}
SHOWN = 7
"""Contenders that have a colour of their own; the others are grey."""


@dataclass(frozen=True)
class Effort:
    """One training: the seconds of work up to its end, its validation score, and what it was."""

    phase: str
    seconds: float
    validation: float
    label: str


def plane(seconds: Iterable[float], scores: Iterable[float], top: float, high: float) -> Frame:
    """Logarithmic seconds across, scores upwards."""
    times = [one for one in seconds if one > 0] or [1.0]
    x = Log(max(min(times) * 0.9, 0.01), max(times) * 1.15, LEFT, WIDTH - RIGHT)
    return Frame(x, Linear(*scores_around(scores), top + high, top))


def course(efforts: Sequence[Effort], metric: str) -> Picture:
    """The trainings of one run with the best so far."""
    entries = [(name, PHASES[name], "circle") for name in PHASES if any(one.phase == name for one in efforts)]
    marks, top = legend(entries, LEFT, 16, WIDTH - LEFT - RIGHT)
    low = low_end([one.validation for one in efforts])
    frame = plane((one.seconds for one in efforts), (max(one.validation, low) for one in efforts), top, TALL)
    marks += frame.axes("seconds of work, added up over all processes", f"validation {metric}")
    best = list(accumulate((one.validation for one in efforts), max))
    steps = [(one.seconds, score) for one, score in zip(efforts, best, strict=True)]
    marks.append(
        frame.steps(steps, colour="ink", look="thin", tip=f"the best so far: {best[-1]:.4f} in the end")
    )
    marks += [
        frame.dot(one.seconds, one.validation, colour=PHASES[one.phase], tip=_tip(one)) for one in efforts
    ]
    words = (
        f"The best validation score rises from {best[0]:.4f} to {best[-1]:.4f} in {efforts[-1].seconds:.0f} s"
    )
    return Picture("efficiency", "Search efficiency", words, WIDTH, top + TALL + 46, marks)


def _tip(one: Effort) -> str:
    return f"{one.phase}: {one.label}, validation {one.validation:.4f}, after {one.seconds:,.1f} s"


@dataclass(frozen=True)
class Racer:
    """A contender's curve, held until its race ends."""

    name: str
    kind: str
    curve: Sequence[Point]
    end: float
    place: int

    @property
    def colour(self) -> str:
        """Its own, for the first ones."""
        return series(self.place) if self.place < SHOWN else "faint"


def race(racers: Sequence[Racer], name: str, ylabel: str) -> Picture:
    """A line for every contender, the first ones in colour."""
    coloured = [(one.name, one.colour, "line") for one in racers if one.place < SHOWN]
    others = [("the others", "faint", "line")] if len(racers) > len(coloured) else []
    marks, top = legend([*coloured, *others], LEFT, 16, WIDTH - LEFT - RIGHT)
    ends = _near([one.curve[-1][1] for one in racers])
    air = max(max(ends) - min(ends), 0.02)
    times = [second for one in racers for second in (one.curve[0][0], one.end)]
    frame = plane(times, [min(ends) - air / 2, *ends], top, TALL)
    marks += frame.axes("seconds of searching and tuning", ylabel)
    for one in reversed(racers):
        marks += _racer(one, frame)
    words = "; ".join(f"{one.name} ends at {one.curve[-1][1]:.4f} after {one.end:.0f} s" for one in racers)
    return Picture(name, ylabel, words, WIDTH, top + TALL + 46, marks)


def _near(ends: Sequence[float]) -> list[float]:
    """The ends without those far behind, which are drawn on the axis: they would flatten the rest."""
    best = max(ends)
    reach = max(4 * (best - median(ends)), 0.02)
    return [end for end in ends if best - end <= reach]


def _racer(one: Racer, frame: Frame) -> list[Mark]:
    score = one.curve[-1][1]
    tip = f"{one.name}: {score:.4f} after {one.end:,.0f} s"
    look = "line" if one.kind == "search" else "dashed"
    points = [*one.curve, (one.end, score)]
    return [
        frame.steps(points, look=look, colour=one.colour, tip=tip),
        frame.dot(one.end, score, colour=one.colour, tip=tip),
    ]
