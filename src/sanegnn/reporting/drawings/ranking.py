"""Scores with their intervals, one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sanegnn.reporting.axes import Frame
from sanegnn.reporting.drawings import WIDTH
from sanegnn.reporting.scales import Linear, Named, scores_around
from sanegnn.reporting.scene import Mark, Picture, Words, shortened

ROW, LEFT, RIGHT = 40.0, 14.0, 14.0


@dataclass(frozen=True)
class Standing:
    """Somebody's score with the ends of its interval, and the single scores behind it."""

    name: str
    score: float
    low: float
    high: float
    single: Sequence[float] = field(default=())
    colour: str = "s0"
    word: str = ""


def draw(rows: Sequence[Standing], name: str, title: str, label: str) -> Picture:
    """The first above, its score as a rule through all."""
    ends = [value for row in rows for value in (row.score, row.low, row.high, *row.single)]
    height = ROW * len(rows)
    x = Linear(*scores_around(ends), LEFT, WIDTH - RIGHT)
    frame = Frame(x, Named([""] * len(rows), 0, height))
    marks = [*Frame(x, Linear(0, 1, height + 2, 0, 1)).axes(label)]
    kept = [mark for mark in marks if not (isinstance(mark, Words) and mark.anchor == "end")]
    first = frame.x.at(rows[0].score)
    rule = frame.upright(rows[0].score, -0.5, len(rows) - 0.5, look="rule") if math.isfinite(first) else None
    drawn = [mark for place, row in enumerate(rows) for mark in _row(row, place, frame)]
    words = "; ".join(f"{row.name} {row.score:.4f} ({row.low:.4f} to {row.high:.4f})" for row in rows)
    return Picture(name, title, words, WIDTH, height + 44, [*kept, *([rule] if rule else []), *drawn])


def _row(row: Standing, place: int, frame: Frame) -> Iterator[Mark]:
    y = frame.y.at(place)
    tip = f"{row.name}: {row.score:.4f}, 95% interval {row.low:.4f} to {row.high:.4f}"
    said = f"{row.score:.4f} {row.word}".strip()
    yield Words(LEFT, y - 5, shortened(row.name, 46 - len(row.word)), look="name")
    yield Words(WIDTH - RIGHT, y - 5, said, "end", look="label")
    line = place + 9 / ROW
    for score in row.single:
        yield frame.dot(score, line, 2.2, look="speck", colour=row.colour, strength=0.45)
    if row.high > row.low:
        yield frame.lying(line, row.low, row.high, colour=row.colour, tip=tip)
    yield frame.dot(row.score, line, 4.5, colour=row.colour, tip=tip)
