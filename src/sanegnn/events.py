"""What a command tells while it works: small values, handed to `on_event`; the edge shows them.

Workers in other processes tell nothing; whoever shows progress may follow their journals instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Began:
    """A run has its folder: records and journals are found there."""

    run: str
    folder: Path
    resumed: bool


@dataclass(frozen=True)
class Stage:
    """A part of the work begins: `total` steps of it, of which `done` were there already.

    Steps done by other processes are lines of journals: `follow` is the pattern of their files in the
    run's folder, as in `search/*.jsonl`, and every epoch or candidate in them is a step. `hear` is such a
    pattern, too, of journals that only say what goes on.
    """

    name: str
    total: int
    done: int = 0
    follow: str = ""
    hear: str = ""


@dataclass(frozen=True)
class Step:
    """`done` steps of a stage are ready; `best` is the best validation score so far."""

    stage: str
    done: int
    text: str = ""
    best: float | None = None


@dataclass(frozen=True)
class Note:
    """Something worth one line."""

    text: str


Event = Began | Stage | Step | Note
Listener = Callable[[Event], None]


def silent(event: Event) -> None:
    """A listener that shows nothing."""
