"""The confusion matrix as a heat map: rows are what the nodes are, columns what the model says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sanegnn.reporting.drawings import WIDTH
from sanegnn.reporting.evidence import Array
from sanegnn.reporting.scene import Box, Mark, Picture, Words, shortened, wide

NUMBERS, NAMES = 12, 30
"""Up to so many classes cells have their number, rows and columns their name."""
TOP, LONGEST = 6.0, 17


def draw(table: Array, names: Sequence[str]) -> Picture:
    """A cell for every pair of classes, its paint the share of the row."""
    many = len(names)
    named = many <= NAMES
    left = 16 + max(wide(shortened(name, LONGEST), 11) for name in names) if named else 30.0
    size = (WIDTH - left - 8) / many
    bottom = TOP + size * many
    marks = [mark for row in range(many) for mark in _row(table, names, row, left, size)]
    if named:
        marks += _names(names, left, size, bottom)
    right, total = int(table.diagonal().sum()), int(table.sum())
    words = f"{right} of {total} test nodes are right"
    below = (22 if _lie(names, size) else 68) if named else 8
    return Picture("confusion", "Confusion matrix", words, WIDTH, bottom + below, marks)


def _row(table: Array, names: Sequence[str], row: int, left: float, size: float) -> Iterator[Mark]:
    total = max(1, int(table[row].sum()))
    for column, count in enumerate(table[row].tolist()):
        x, y, share = left + column * size, TOP + row * size, count / total
        colour = "s0" if row == column else "s1"
        verb = "are found" if row == column else f"are taken for {names[column]}"
        tip = f"{count:,} of {total:,} {names[row]} ({share:.1%}) {verb}" if count else ""
        strength = 0.12 + 0.88 * share**0.6 if count else 0.0
        yield Box(x, y, size, size, look="cell", colour=colour, tip=tip, strength=strength)
        if count and len(names) <= NUMBERS:
            look = "ondark" if strength > 0.6 else "onlight"
            yield Words(x + size / 2, y + size / 2 + 4, f"{count:,}", "middle", look=look)


def _names(names: Sequence[str], left: float, size: float, bottom: float) -> Iterator[Mark]:
    look = "tick" if size > 12 else "small"
    for place, name in enumerate(names):
        middle = (place + 0.5) * size
        yield Words(left - 7, TOP + middle + 4, shortened(name, LONGEST), "end", look=look)
        if _lie(names, size):
            yield Words(left + middle, bottom + 15, name, "middle", look=look)
        else:
            text = shortened(name, 10)
            yield Words(left + middle + 4, bottom + 8 + wide(text, 10), text, turned=True, look=look)


def _lie(names: Sequence[str], size: float) -> bool:
    """Whether the names of the columns have room side by side."""
    return max(wide(name, 11) for name in names) < size
