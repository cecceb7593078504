"""From numbers to places on a figure: linear, logarithmic, and by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol


class Scale(Protocol):
    """Where a number stands, and which numbers are written beside the axis."""

    @property
    def ends(self) -> tuple[float, float]:
        """The places of the two ends."""

    def at(self, value: float) -> float:
        """The place of a number; what lies outside stands at the nearer end."""

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers with their text."""


@dataclass(frozen=True)
class Linear:
    """Even steps between two numbers."""

    low: float
    high: float
    start: float
    end: float
    count: int = 5

    @property
    def ends(self) -> tuple[float, float]:
        return self.start, self.end

    def at(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        step = round_step((self.high - self.low) / self.count)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [(place * step, plain(place * step, step)) for place in range(first, last + 1)]


@dataclass(frozen=True)
class Log:
    """Even factors between two numbers above zero."""

    low: float
    high: float
    start: float
    end: float

    @property
    def ends(self) -> tuple[float, float]:
        return self.start, self.end

    def at(self, value: float) -> float:
        low, high = math.log(self.low), math.log(max(self.high, self.low * 1.01))
        inside = math.log(min(max(value, self.low), self.high))
        return self.start + (inside - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps: Sequence[float] = (1,) if len(decades) > 5 else (1, 3) if len(decades) > 3 else (1, 2, 5)
        found = [step * 10.0**decade for decade in decades for step in steps]
        inside = [value for value in found if self.low * 0.999 <= value <= self.high * 1.001]
        return [(value, f"{value:,g}") for value in inside]


@dataclass(frozen=True)
class Named:
    """A band for each name, in their order; `at(0)` is the middle of the first."""

    names: Sequence[str]
    start: float
    end: float

    @property
    def ends(self) -> tuple[float, float]:
        return self.start, self.end

    @property
    def band(self) -> float:
        """How wide a band is."""
        return (self.end - self.start) / max(1, len(self.names))

    def at(self, value: float) -> float:
        return self.start + (value + 0.5) * self.band

    def ticks(self) -> list[tuple[float, str]]:
        return [(float(place), name) for place, name in enumerate(self.names)]


def round_step(rough: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten."""
    if rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(step for step in (1, 2, 2.5, 5, 10) if step * power >= rough * 0.999)


def plain(value: float, step: float) -> str:
    """A number with as many decimals as its step asks for."""
    decimals = next((digits for digits in range(7) if math.isclose(step, round(step, digits))), 7)
    return f"{value:,.{decimals}f}"


def around(values: Iterable[float], air: float = 0.06, least: float = 0.01) -> tuple[float, float]:
    """Limits that hold all values with some air."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    room = max(air * (high - low), least / 2)
    return low - room, high + room


def low_end(scores: Sequence[float]) -> float:
    """What an axis should begin with: a tenth of the scores may lie below, and are drawn at its end."""
    return sorted(scores)[len(scores) // 10]


def scores_around(values: Iterable[float]) -> tuple[float, float]:
    """Limits for scores, which end at 1."""
    low, high = around(values)
    return max(low, 0.0) if low > -0.1 else low, min(high, 1.0) if high < 1.1 else high
