"""What a restart leaves on the disk while it works: its epochs as records, its state as a checkpoint."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import torch

from sanegnn.errors import RunFolder
from sanegnn.journal import Journal, write_atomic
from sanegnn.records import Epoch

EVERY = 2.0
"""Seconds between two checkpoints."""


class Stateful(Protocol):
    """Work whose whole state can be taken and put back."""

    epoch: int

    def state(self) -> dict[str, Any]:
        """Everything that the next epoch depends on."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""


class Log:
    """Keeps epochs and state of `work` in two files; goes on from what is there, or keeps nothing."""

    def __init__(self, journal: Journal | None, file: Path | None, work: Stateful) -> None:
        self.journal, self.file, self.work = journal, file, work
        self.began = self.saved = time.perf_counter()
        self.seconds_before = 0.0

    @classmethod
    def of(cls, epochs: Path | None, file: Path | None, work: Stateful) -> Self:
        """The log in these files, with `work` put back to its last saved state."""
        log = cls(Journal(epochs) if epochs else None, file, work)
        try:
            log.go_on()
        except BaseException:
            log.close()
            raise
        return log

    def go_on(self) -> None:
        """Put the work back to its last saved state, and the journal to the epochs before it."""
        if self.file is not None and self.file.exists():
            self.seconds_before = _restore(self.work, self.file)
        if self.journal is not None:
            done = self.work.epoch
            self.journal.truncate(lambda record: isinstance(record, Epoch) and record.epoch <= done)

    def keep(self, epoch: Epoch) -> None:
        """Record an epoch; save the state when the last save is a while ago."""
        if self.journal is not None:
            self.journal.append(epoch)
        if time.perf_counter() - self.saved > EVERY:
            self.save()

    def save(self) -> None:
        """Write the state, whole or not at all."""
        if self.file is not None:
            buffer = io.BytesIO()
            spent = self.seconds_before + time.perf_counter() - self.began
            torch.save({"work": self.work.state(), "seconds": spent}, buffer)
            write_atomic(self.file, buffer.getvalue())
        self.saved = time.perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.save()
        self.close()

    def close(self) -> None:
        """Let the next writer in."""
        if self.journal is not None:
            self.journal.close()


def _restore(work: Stateful, file: Path) -> float:
    """Put `work` back to the state in a checkpoint; gives the seconds spent before it."""
    try:
        saved = torch.load(file, weights_only=True)
        work.restore(saved["work"])
        return float(saved["seconds"])
    except Exception as error:
        raise RunFolder(
            f"cannot read the checkpoint {file} ({type(error).__name__}): remove it to search that restart"
            " again, or start over with --fresh"
        ) from error
