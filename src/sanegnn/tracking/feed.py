"""Records as numbers: what a run's journals hold, each record once, also while it works."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from pathlib import Path
from typing import Any

from sanegnn import journal
from sanegnn.records import (
    Candidate,
    Done,
    Epoch,
    Lap,
    Measured,
    Record,
    Retrain,
    Scored,
    Together,
    Trial,
)
from sanegnn.runs import RECORDS, Run
from sanegnn.tracking.base import Number, Tracker, trackers

LOOK = 2.0
"""Seconds between two looks at a run that is followed."""


@singledispatch
def curves(record: Record) -> Iterator[tuple[str, int | None, float]]:  # noqa: ARG001
    """Name, step and value of every point in a record; without a step, points are counted by name."""
    yield from ()


@curves.register
def _(record: Epoch) -> Iterator[tuple[str, int | None, float]]:
    place = f"search/restart-{record.restart}"
    for name in ("train_loss", "val_loss", "val_score"):
        yield f"{place}/{name}", record.epoch, getattr(record, name)
    for slot, row in record.alphas.items():
        yield f"{place}/entropy/{slot}", record.epoch, entropy(row)


@curves.register
def _(record: Candidate) -> Iterator[tuple[str, int | None, float]]:
    yield f"search/restart-{record.restart}/validation", record.number, record.validation


@curves.register(Trial)
@curves.register(Retrain)
@curves.register(Measured)
def _(record: Trial | Retrain | Measured) -> Iterator[tuple[str, int | None, float]]:
    phase = PHASES[type(record)]
    yield f"{phase}/validation", None, record.validation
    yield f"{phase}/seconds", None, record.seconds


PHASES: Mapping[type[Record], str] = {Trial: "tune", Retrain: "retrain", Measured: "truth"}


@curves.register
def _(record: Lap) -> Iterator[tuple[str, int | None, float]]:
    yield f"{record.phase}/validation", None, record.validation
    yield f"{record.phase}/seconds", None, record.seconds


@curves.register
def _(record: Scored) -> Iterator[tuple[str, int | None, float]]:
    yield "test/score", None, record.test


@curves.register
def _(record: Together) -> Iterator[tuple[str, int | None, float]]:
    yield "test/together", None, record.test


def entropy(row: list[float]) -> float:
    """The entropy of softmax(alpha) in parts of the largest: 1 is undecided, 0 is decided."""
    known = [alpha for alpha in row if alpha is not None]
    weights = [math.exp(alpha - max(known)) for alpha in known]
    shares = [weight / sum(weights) for weight in weights]
    return -sum(share * math.log(share) for share in shares if share) / math.log(max(2, len(row)))


@dataclass
class Feed:
    """The journals of one run folder, read again and again; each record is told once."""

    folder: Path
    seen: Counter[Path] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)

    def new(self) -> list[Number]:
        """The points that were not told yet, those that are not finite left out."""
        return [
            number for path in self._files() for record in self._fresh(path) for number in self._of(record)
        ]

    def _files(self) -> list[Path]:
        return [*sorted((self.folder / "search").glob("*.jsonl")), self.folder / RECORDS]

    def _fresh(self, path: Path) -> list[Record]:
        records = journal.read(path)[self.seen[path] :]
        self.seen[path] += len(records)
        return records

    def _of(self, record: Record) -> Iterator[Number]:
        for name, step, value in curves(record):
            self.counted[name] += 1
            if math.isfinite(value):
                yield Number(name, self.counted[name] if step is None else step, value)


def hand_over(folder: Path, tracker: Tracker, *, wait: bool) -> int:
    """Feed a tracker what a run holds, and what comes until it is done if `wait`; how many points."""
    source, told = Feed(folder), 0
    while True:
        done = bool(Run.reading(folder).records(Done))
        numbers = source.new()
        tracker.numbers(numbers)
        told += len(numbers)
        if done or not wait:
            break
        time.sleep(LOOK)
    page = folder / "report.html"
    if page.exists():
        tracker.file(page)
    tracker.close(done)
    return told


def track(run: Path | str, tracker: str = "tensorboard", to: str = "", *, follow: bool = False) -> int:
    """Hand the records of a run to TensorBoard or MLflow; how many points these were.

    `to` is TensorBoard's folder, otherwise `tensorboard`, or MLflow's tracking store, otherwise
    `sqlite:///mlflow.db`. With `follow`, it goes on until the run is done.
    """
    kind, found = trackers[tracker], Run.reading(Path(run))
    kept = kind(to or kind.usual, found.name, str(found.about["dataset"]), settings_of(found))
    return hand_over(found.path, kept, wait=follow)


def settings_of(run: Run) -> dict[str, str]:
    """The settings of a run by dotted names, and what it was asked about."""
    flat = dict(_flat(run.settings))
    return {**flat, **{name: str(value) for name, value in run.about.items()}}


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)
