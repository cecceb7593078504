"""A figure as a value: a few kinds of marks on a plane, which several hands can draw.

Units are those of the figure's width and height, y grows downwards. `svg.py` draws for the page, `press.py`
for paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]


@dataclass(frozen=True)
class Mark:
    """Something drawn: look and colour by name, what it tells when pointed at, the strength of its paint."""

    look: str = field(kw_only=True)
    colour: str = field(default="ink", kw_only=True)
    tip: str = field(default="", kw_only=True)
    strength: float = field(default=1.0, kw_only=True)


@dataclass(frozen=True)
class Box(Mark):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0


@dataclass(frozen=True)
class Path(Mark):
    """A line through points, or the area that it bounds."""

    points: Sequence[Point]
    closed: bool = False


@dataclass(frozen=True)
class Disc(Mark):
    """A circle."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Words(Mark):
    """A line of text: its base line begins, is centred or ends at the point; `turned` runs upwards."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    turned: bool = False


@dataclass(frozen=True)
class Picture:
    """A figure: a name for files, a title and a sentence for those who cannot see it."""

    name: str
    title: str
    words: str
    width: float
    height: float
    marks: Sequence[Mark]


CORNERS = {
    "square": [(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)],
    "triangle": [(0.0, -1.2), (1.1, 0.85), (-1.1, 0.85)],
    "diamond": [(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
    "plus": [
        *((-0.4, -1.15), (0.4, -1.15), (0.4, -0.4), (1.15, -0.4), (1.15, 0.4), (0.4, 0.4)),
        *((0.4, 1.15), (-0.4, 1.15), (-0.4, 0.4), (-1.15, 0.4), (-1.15, -0.4), (-0.4, -0.4)),
    ],
}


def dot(x: float, y: float, radius: float = 3.0, shape: str = "circle", **paint: object) -> Mark:
    """A point of a series, in its shape."""
    painted: dict[str, object] = {"look": "dot", **paint}
    if shape not in CORNERS:
        return Disc(x, y, radius, **painted)  # type: ignore[arg-type]
    corners = [(x + radius * dx, y + radius * dy) for dx, dy in CORNERS[shape]]
    return Path(corners, True, **painted)  # type: ignore[arg-type]


def curve(start: Point, first: Point, second: Point, end: Point, steps: int = 24) -> list[Point]:
    """The points of a cubic Bézier curve."""
    return [_bezier(start, first, second, end, step / steps) for step in range(steps + 1)]


def _bezier(a: Point, b: Point, c: Point, d: Point, t: float) -> Point:
    s = 1 - t
    weights = (s**3, 3 * s * s * t, 3 * s * t * t, t**3)
    x, y = (sum(w * p[axis] for w, p in zip(weights, (a, b, c, d), strict=True)) for axis in (0, 1))
    return x, y


def arrow(tip: Point, angle: float, size: float = 6.0, **paint: object) -> Path:
    """An arrow's head at `tip`, pointing along `angle` (radians, y downwards)."""
    painted: dict[str, object] = {"look": "arrow", **paint}
    turn = (angle + math.pi - 0.42, angle + math.pi + 0.42)
    wings = [(tip[0] + size * math.cos(one), tip[1] + size * math.sin(one)) for one in turn]
    return Path([tip, *wings], True, **painted)  # type: ignore[arg-type]


def wide(text: str, size: float = 12.0) -> float:
    """About how wide a text is."""
    return 0.56 * size * len(text)


def shortened(text: str, characters: int) -> str:
    """The text, or its beginning with an ellipsis."""
    return text if len(text) <= characters else f"{text[: characters - 1].rstrip()}…"
