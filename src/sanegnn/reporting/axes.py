"""Axes with their grid, and the marks that stand on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sanegnn.reporting.scales import Scale
from sanegnn.reporting.scene import Box, Mark, Path, Point, Words, dot, wide


@dataclass(frozen=True)
class Frame:
    """A plane spanned by two scales; `y` starts at the bottom."""

    x: Scale
    y: Scale

    def axes(self, across: str = "", up: str = "", vertical: bool = True) -> Iterator[Mark]:
        """Grid, ticks and labels; a grid across as well where `vertical`."""
        (left, right), (bottom, top) = self.x.ends, self.y.ends
        ticks = [(self.y.at(value), text) for value, text in self.y.ticks()]
        for place, text in ticks:
            yield Path([(left, place), (right, place)], look="grid")
            yield Words(left - 7, place + 4, text, "end", look="tick")
        yield from self._across(vertical)
        yield Path([(left, bottom), (right, bottom)], look="axis")
        if across:
            yield Words((left + right) / 2, bottom + 35, across, "middle", look="label")
        if up:
            room = max((wide(text, 11) for _, text in ticks), default=0.0)
            yield Words(left - 15 - room, (bottom + top) / 2, up, "middle", True, look="label")

    def _across(self, vertical: bool) -> Iterator[Mark]:
        (left, right), (bottom, top) = self.x.ends, self.y.ends
        free = -math.inf
        for value, text in self.x.ticks():
            place = self.x.at(value)
            if vertical and left < place <= right:
                yield Path([(place, bottom), (place, top)], look="grid")
            if place - wide(text, 11) / 2 > free:
                yield Words(place, bottom + 17, text, "middle", look="tick")
                free = place + wide(text, 11) / 2 + 4

    def place(self, x: float, y: float) -> Point:
        """Where two numbers meet."""
        return self.x.at(x), self.y.at(y)

    def line(self, points: Sequence[Point], **paint: Any) -> Path:
        """A line through points."""
        return Path([self.place(*point) for point in points], **{"look": "line", **paint})

    def steps(self, points: Sequence[Point], **paint: Any) -> Path:
        """A line that keeps each height until the next point."""
        pairs = pairwise(points)
        corners = [point for one, two in pairs for point in (one, (two[0], one[1]))]
        return self.line([*corners, *points[-1:]], **paint)

    def dot(self, x: float, y: float, radius: float = 3.5, shape: str = "circle", **paint: Any) -> Mark:
        """A point."""
        return dot(*self.place(x, y), radius, shape, **paint)

    def upright(self, x: float, low: float, high: float, **paint: Any) -> Path:
        """An interval of y."""
        return Path([self.place(x, low), self.place(x, high)], **{"look": "line", **paint})

    def lying(self, y: float, low: float, high: float, **paint: Any) -> Path:
        """An interval of x."""
        return Path([self.place(low, y), self.place(high, y)], **{"look": "line", **paint})


def legend(
    entries: Sequence[tuple[str, str, str]], x: float, y: float, width: float, step: float = 17
) -> tuple[list[Mark], float]:
    """Names with their colour and shape, in as many lines as they need; the marks and the y below them."""
    marks: list[Mark] = []
    place = x
    for name, colour, shape in entries:
        room = 14 + wide(name, 11) + 12
        if place > x and place + room - 12 > x + width:
            place, y = x, y + step
        sign: Mark = (
            Box(place, y - 6, 12, 3, look="bar", colour=colour)
            if shape == "line"
            else dot(place + 5, y - 4, 4, shape, look="speck", colour=colour)
        )
        marks += [sign, Words(place + 15, y, name, look="tick")]
        place += room + 4
    return marks, y + step
