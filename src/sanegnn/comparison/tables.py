"""The files of a comparison: leaderboard as CSV, Markdown and JSON, and the points of the curves as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sanegnn.comparison.curves import Point, points
from sanegnn.comparison.leaderboard import Leaderboard, Row
from sanegnn.comparison.told import Told
from sanegnn.comparison.words import words
from sanegnn.journal import write_atomic

MEGABYTE = 2**20
TIE, FIRST = "tie", "first"

HEADS = {
    "contender": "contender",
    "kind": "kind",
    "test": "test",
    "over_splits": "± splits",
    "over_seeds": "± seeds",
    "validation": "valid.",
    "difference": "to first",
    "error": "±",
    "p": "p",
    "verdict": "verdict",
    "search_seconds": "search s",
    "tuning_seconds": "tuning s",
    "retraining_seconds": "retrain s",
    "parameters": "weights",
    "memory": "peak MB",
}
"""The columns of the table with their headings for people."""


def cells(row: Row, board: Leaderboard) -> dict[str, Any]:
    """A row in numbers: scores and differences in points of a hundred, seconds, weights, megabytes."""
    behind = row.behind
    return {
        "contender": row.contender,
        "kind": row.kind,
        **{name: 100 * getattr(row, name) for name in ("test", "over_splits", "over_seeds", "validation")},
        "difference": 100 * behind.difference if behind else math.nan,
        "error": 100 * behind.error if behind else math.nan,
        "p": behind.p if behind else math.nan,
        "verdict": _verdict(row, board),
        **{name: getattr(row, name) for name in ("search_seconds", "tuning_seconds", "retraining_seconds")},
        "parameters": row.parameters,
        "memory": row.memory / MEGABYTE,
    }


def _verdict(row: Row, board: Leaderboard) -> str:
    """`first`, `tie` or nothing, and how many splits are missing."""
    word = FIRST if row is board.rows[0] else TIE if row.tied else ""
    missing = len(board.splits) - len(row.tests)
    return ", ".join(part for part in (word, f"{missing} splits missing" if missing else "") if part)


DIGITS = {"p": 4, "parameters": 0, "memory": 0, **dict.fromkeys(("search_seconds", "tuning_seconds"), 1)}
"""Decimals, where they are not two."""


def shown(row: Row, board: Leaderboard) -> dict[str, str]:
    """A row as people read it, by heading."""
    return {HEADS[name]: _shown(name, value) for name, value in cells(row, board).items()}


def _shown(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    digits = DIGITS.get(name, 1 if name == "retraining_seconds" else 2)
    sign = "+" if name == "difference" else ""
    return "" if math.isnan(value) else f"{value:{sign},.{digits}f}"


def markdown(board: Leaderboard) -> str:
    """The table and the sentences below it."""
    title = f"# {board.dataset}: test {board.metric}, {len(board.splits)} splits"
    lines = [title, "", f"| {' | '.join(HEADS.values())} |", "|---|---" + "|---:" * (len(HEADS) - 2) + "|"]
    lines += [f"| {' | '.join(shown(row, board).values())} |" for row in board.rows]
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in words(board)), ""])


def write(folder: Path, board: Leaderboard, told: Iterable[Told]) -> None:
    """All files, each as a whole or not at all."""
    rows = [cells(row, board) for row in board.rows]
    curve = [asdict(point) for point in points(list(told))]
    files = {
        "leaderboard.csv": _csv(list(HEADS), rows),
        "leaderboard.md": markdown(board),
        "leaderboard.json": json.dumps(plain(board.table()), ensure_ascii=False, indent=1) + "\n",
        "curve.csv": _csv(list(Point.__dataclass_fields__), curve),
    }
    for name, text in files.items():
        write_atomic(folder / name, text.encode())


def _csv(columns: list[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if _is_nan(row[name]) else row[name] for name in columns} for row in rows)
    return text.getvalue()


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def plain(value: Any) -> Any:
    """The value with null where a number is not finite, since JSON has no NaN."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
