"""What is seen while a command works: bars on a terminal, plain lines elsewhere; always on stderr."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from sanegnn.events import Began, Event, Listener, Note, Stage, Step
from sanegnn.records import Candidate, Epoch, from_line

LOOK = 0.5
"""Seconds between two looks at the journals of other processes."""
SPEAK = 10.0
"""Seconds between two plain lines about the same stage."""


@dataclass
class Tail:
    """The end of a journal that another process writes."""

    path: Path
    offset: int = 0
    steps: int = 0
    last: Epoch | Candidate | None = None
    best: float | None = None

    def look(self) -> bool:
        """Read what was added; whether there was something."""
        if self.path.stat().st_size < self.offset:
            self.offset, self.steps, self.last, self.best = 0, 0, None, None
        with self.path.open("rb") as file:
            file.seek(self.offset)
            whole, newline, _ = file.read().rpartition(b"\n")
        self.offset += len(whole) + len(newline)
        for line in whole.splitlines():
            self._take(line)
        return bool(whole)

    def _take(self, line: bytes) -> None:
        try:
            record = from_line(line.decode("utf-8"))
        except ValueError:
            return  # the run itself will say so
        if isinstance(record, Epoch | Candidate):
            self.last = record
            self.steps += 1
        if isinstance(record, Candidate) and math.isfinite(record.validation):
            self.best = record.validation if self.best is None else max(self.best, record.validation)


@dataclass
class Board:
    """The stage that is being worked on, as far as events and journals tell."""

    folder: Path | None = None
    stage: Stage = field(default_factory=lambda: Stage("begin", 0))
    done: int = 0
    best: float | None = None
    text: str = ""
    tails: dict[Path, Tail] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    before: int = 0

    def take(self, event: Event) -> None:
        """Learn from an event."""
        match event:
            case Began():
                self.folder = event.folder
            case Stage():
                self.stage, self.done, self.best, self.text, self.tails = event, event.done, None, "", {}
                self.began = time.monotonic()
                self.look()
                self.before = self.done
            case Step():
                self.done = self.done if self.stage.follow else event.done
                self.best = event.best if event.best is not None else self.best
                self.text = event.text
            case Note():
                pass

    def look(self) -> bool:
        """Learn from the journals that the stage follows; whether there was something new."""
        pattern = self.stage.follow or self.stage.hear
        if not pattern or self.folder is None:
            return False
        for path in self.folder.glob(pattern):
            self.tails.setdefault(path, Tail(path))
        grown = [tail for tail in self.tails.values() if tail.path.exists() and tail.look()]
        for tail in grown:
            if tail.last is not None:
                self.text = _said(tail.last)
                if self.stage.hear:
                    self.text = f"{tail.path.parts[-3]}: {self.text}"
        if self.stage.follow:
            self._count()
        return bool(grown)

    def _count(self) -> None:
        """The steps of other processes, and the best of them."""
        self.done = sum(tail.steps for tail in self.tails.values())
        self.best = max(
            (tail.best for tail in self.tails.values() if tail.best is not None), default=self.best
        )

    def left(self) -> str:
        """The time that the rest of the stage will take at the pace so far."""
        steps = self.done - self.before
        if not steps or not self.stage.total:
            return ""
        seconds = (time.monotonic() - self.began) / steps * max(0, self.stage.total - self.done)
        return f"{clock(seconds)} left" if seconds else ""

    def line(self) -> str:
        """The state of the stage in a plain line."""
        best = f"best {self.best:.4f}" if self.best is not None else ""
        parts = [f"{self.stage.name} {self.done}/{self.stage.total}", best, self.text, self.left()]
        return "  ".join(part for part in parts if part)


def _said(record: Epoch | Candidate) -> str:
    """The last that a restart did."""
    if isinstance(record, Candidate):
        return f"restart {record.restart}, {record.architecture}, {record.validation:.4f}"
    return f"restart {record.restart}, epoch {record.epoch}, supernet {record.val_score:.4f}"


def clock(seconds: float) -> str:
    """`1:02:03` or `2:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Face(Protocol):
    """Shows a board; told after every event and every look."""

    def event(self, board: Board, event: Event) -> None:
        """Something was told."""

    def look(self, board: Board) -> None:
        """Something was found in the journals."""

    def close(self) -> None:
        """The work is over."""


class Lines:
    """Plain lines, not too many of them."""

    def __init__(self) -> None:
        self._spoke = 0.0

    def event(self, board: Board, event: Event) -> None:
        """A line for a beginning, an end or a note; for steps a line now and then."""
        match event:
            case Note():
                self._say(event.text)
            case Began():
                self._say(f"{'going on with' if event.resumed else 'run'} {event.folder}")
            case Stage():
                self._say(board.line())
            case Step():
                self._sometimes(board)

    def look(self, board: Board) -> None:
        """A line now and then."""
        self._sometimes(board)

    def close(self) -> None:
        """Nothing to undo."""

    def _sometimes(self, board: Board) -> None:
        if board.done >= board.stage.total or time.monotonic() - self._spoke >= SPEAK:
            self._say(board.line())

    def _say(self, line: str) -> None:
        self._spoke = time.monotonic()
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


class Bars:
    """A bar for every stage on a terminal."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<8}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[best]}", style="green"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[text]}", style="dim"),
            console=console,
            refresh_per_second=4,
        )
        self._progress.start()
        self._task: TaskID | None = None

    def event(self, board: Board, event: Event) -> None:
        """A new bar for a stage, a line above the bars for a note."""
        match event:
            case Note():
                self._progress.console.print(event.text, highlight=False)
            case Began():
                word = "going on with" if event.resumed else "run"
                self._progress.console.print(f"{word} {event.folder}", highlight=False)
            case Stage():
                self._finish()
                total = event.total or None
                self._task = self._progress.add_task(
                    event.name, total=total, completed=board.done, best="", text=""
                )
                self.look(board)
            case Step():
                self.look(board)

    def look(self, board: Board) -> None:
        """Move the bar."""
        if self._task is not None:
            best = f"best {board.best:.4f}" if board.best is not None else ""
            self._progress.update(self._task, completed=board.done, best=best, text=board.text)

    def close(self) -> None:
        """Leave the bars as they are."""
        self._finish()
        self._progress.stop()

    def _finish(self) -> None:
        """Stop the clock of the stage that ends."""
        if self._task is not None:
            self._progress.stop_task(self._task)
            self._progress.update(self._task, text="")
            self._task = None


@contextmanager
def watching(quiet: bool) -> Iterator[tuple[Board, Listener]]:
    """A board with the listener that keeps it, shown as suits stderr while the block runs."""
    board, lock, over = Board(), threading.Lock(), threading.Event()
    face = None if quiet else _face()

    def listen(event: Event) -> None:
        with lock:
            if isinstance(event, Stage) and board.look() and face is not None:
                face.look(board)  # the last epochs of the stage that ends
            board.take(event)
            if face is not None:
                face.event(board, event)

    def follow(face: Face) -> None:
        while not over.wait(LOOK):
            with lock:
                if board.look():
                    face.look(board)

    thread = threading.Thread(target=follow, args=(face,), daemon=True) if face is not None else None
    if thread is not None:
        thread.start()
    try:
        yield board, listen
    finally:
        over.set()
        if thread is not None:
            thread.join()
        if face is not None:
            face.close()


def _face() -> Face:
    console = Console(stderr=True)
    return Bars(console) if console.is_terminal and not console.is_dumb_terminal else Lines()
