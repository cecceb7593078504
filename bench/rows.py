"""Results: one row a comparison, as JSON, as a line on the screen, as a table of a page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

KEYS = ("name", "ours", "theirs", "ratio", "unit", "threads")


@dataclass(frozen=True)
class Row:
    """What was measured; `ratio` is theirs / ours, so that more is better for us."""

    name: str
    ours: float
    theirs: float | None
    unit: str
    threads: int
    what: str
    against: str
    bar: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times theirs is ours; None where the other side has no number."""
        return None if self.theirs is None else self.theirs / self.ours

    def table(self) -> dict[str, object]:
        """The row as JSON keeps it."""
        return {key: getattr(self, key) for key in KEYS}

    def line(self) -> str:
        """The row on the screen."""
        other = "" if self.theirs is None else f" against {short(self.theirs):>7}"
        ratio = "" if self.ratio is None else f"   {self.ratio:.2f}×"
        bar = f" (bar {self.bar})" if self.bar else ""
        note = f"   {self.note}" if self.note else ""
        return f"{self.name:28}{short(self.ours):>8}{other} {self.unit}{ratio}{bar}{note}"


def short(value: float) -> str:
    """Three digits that count, without an exponent."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def write_json(rows: Iterable[Row], path: Path) -> None:
    """The list of rows."""
    path.write_text(json.dumps([row.table() for row in rows], indent=1) + "\n", encoding="utf-8")


def markdown(rows: Iterable[Row]) -> str:
    """The rows as a table."""
    head = ["| what | against | ours | theirs | ratio | bar | threads |", "|---|---|--:|--:|--:|--:|--:|"]
    return "\n".join([*head, *(_cells(row) for row in rows)])


def _cells(row: Row) -> str:
    what = f"{row.what} ({row.note})" if row.note else row.what
    theirs = "–" if row.theirs is None else f"{short(row.theirs)} {row.unit}"
    ratio = "–" if row.ratio is None else f"{row.ratio:.2f}"
    cells = (what, row.against, f"{short(row.ours)} {row.unit}", theirs, ratio, row.bar or "–", row.threads)
    return f"| {' | '.join(str(cell) for cell in cells)} |"
