"""Files that survive a kill: journals of records, and whole files written in one step.

A record is one line, appended and synced. A line counts once its newline is on the disk: what a killed
writer left behind is passed over by readers and cut off before the next append.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from sanegnn.errors import RunFolder
from sanegnn.records import R, Record, from_line, to_line

PATIENCE = 30.0  # seconds that a writer waits for a dying one: workers notice within a second


@contextlib.contextmanager
def disk(path: Path, doing: str = "write") -> Iterator[None]:
    """Turn an error of the disk into one that names the path and the way out."""
    try:
        yield
    except OSError as error:
        raise RunFolder(
            f"cannot {doing} {path}: {error.strerror or error}; make room or mend the folder"
            " and give the same command again, it goes on from what is there"
        ) from error


def write_atomic(path: Path, data: bytes) -> None:
    """Put `data` into `path` as a whole or not at all."""
    with disk(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove the half-written files of writers that were killed."""
    for left in folder.rglob(".*.tmp"):
        left.unlink(missing_ok=True)


def lock(handle: int, patience: float) -> bool:
    """Whether the lock on an open file came within `patience` seconds; any death of its holder frees it."""
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.05)
        else:
            return True


def read(path: Path) -> list[Record]:
    """The records of a journal, without a lock; a journal that is not there is empty."""
    if not path.exists():
        return []
    with disk(path, "read"):
        data = path.read_bytes()
    return [record for _, record in _parse(data, path)]


def _parse(data: bytes, path: Path) -> list[tuple[int, Record]]:
    """Every record with the offset of its end; a torn last line is left out."""
    lines = data.split(b"\n")[:-1]
    found: list[tuple[int, Record]] = []
    end = 0
    for number, line in enumerate(lines, start=1):
        end += len(line) + 1
        try:
            found.append((end, from_line(line.decode("utf-8"))))
        except ValueError as error:
            if number == len(lines) and not _is_json(line):
                break
            raise RunFolder(
                f"{path}, line {number} is corrupt ({error}); mend or remove that line,"
                " or start over with --fresh or another --name"
            ) from error
    return found


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


class Journal:
    """A file of records with one writer at a time, which may be any process.

    with Journal(path) as journal:
        journal.append(record)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            new = not path.exists()
            self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            self._start(new)
        except BaseException:
            self.close()
            raise

    def _start(self, new: bool) -> None:
        if not lock(self._handle, PATIENCE):
            raise RunFolder(f"{self.path} is being written by another process; wait for its end")
        if new:
            sync_folder(self.path.parent)
        data = self.path.read_bytes()
        self._lines = _parse(data, self.path)
        if self._end < len(data):
            os.ftruncate(self._handle, self._end)

    @property
    def _end(self) -> int:
        return self._lines[-1][0] if self._lines else 0

    def append(self, record: Record) -> None:
        """Write one line and sync it; when that fails, no part of the line stays."""
        line = to_line(record).encode("utf-8") + b"\n"
        with disk(self.path):
            try:
                _write(self._handle, line)
                os.fsync(self._handle)
            except BaseException:
                os.ftruncate(self._handle, self._end)
                raise
        self._lines.append((self._end + len(line), record))

    def truncate(self, keep: Callable[[Record], bool]) -> None:
        """Cut the journal before the first record that `keep` refuses."""
        kept = len(self._lines)
        for index, (_, record) in enumerate(self._lines):
            if not keep(record):
                kept = index
                break
        del self._lines[kept:]
        with disk(self.path):
            os.ftruncate(self._handle, self._end)
            os.fsync(self._handle)

    def records(self, kind: type[R]) -> list[R]:
        """The records of one kind, oldest first; `Record` for all."""
        return [record for _, record in self._lines if isinstance(record, kind)]

    def close(self) -> None:
        """Let the next writer in."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _write(handle: int, data: bytes) -> None:
    """All of `data`, however little the system takes at a time."""
    while data:
        data = data[os.write(handle, data) :]
