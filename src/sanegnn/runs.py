"""The run folder: what a command was asked, what it has found so far, and that only one does it at a time.

    runs/fit-cora-split0-1a2b3c4d/
        run.toml        the resolved settings, a table each, and [about]: command, data, versions
        records.jsonl   what happened, one record a line
        lock            held while a process works in the folder
        search/ ...     journals and checkpoints of parts

The same command finds the same folder and goes on from its records. Every table is computed from them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import time
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import tomli_w

from sanegnn import journal
from sanegnn.errors import RunFolder, RunInUse
from sanegnn.journal import Journal, disk, write_atomic
from sanegnn.records import R, Record
from sanegnn.settings import Settings, to_toml

SETTINGS, RECORDS, LOCK = "run.toml", "records.jsonl", "lock"
IDENTITY = ("command", "dataset", "data")  # what must be the same in [about] for a run to go on
PACKAGES = {"sanegnn": "sanegnn", "torch": "torch", "pyg": "torch-geometric", "numpy": "numpy"}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def now() -> str:
    """The time in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """What the numbers of a run depend on besides its settings."""
    found = {"python": platform.python_version()}
    for name, package in PACKAGES.items():
        try:
            found[name] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def default_name(command: str, dataset: str, split: str, settings: Settings, *more: str) -> str:
    """`fit-cora-split0-1a2b3c4d`, without a split if it is empty; `more` is hashed too.

    The same command finds the same folder.
    """
    text = "\x1f".join([to_toml(settings), *more])
    digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
    dataset = re.sub(r"[^A-Za-z0-9._]+", "_", dataset)
    place = f"split{split}" if split else ""
    return "-".join(part for part in (command, dataset, place, digest) if part)


class Run:
    """A run folder, open for writing (`open`) or only for looking (`reading`)."""

    def __init__(self, path: Path, settings: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        self.path = path
        self.settings = settings
        self.about = about
        self._lock = -1
        self._journal: Journal | None = None
        self._seen: list[Record] = []

    @property
    def name(self) -> str:
        """The folder's name, which names the run."""
        return self.path.name

    @classmethod
    def open(
        cls, root: Path, name: str, settings: Settings, about: Mapping[str, Any], fresh: bool = False
    ) -> Self:
        """Begin the run `name`, or go on with it when it was begun with the same settings and data.

        `settings` holds what changes results; `about` at least `command`, `dataset` and `data`, the
        checksum of the graph. `fresh` forgets whatever the folder holds.
        """
        if not _NAME.fullmatch(name):
            raise RunFolder(f"{name!r} cannot name a run: use letters, digits, '.', '_' and '-'")
        path = root / name
        _refuse_foreign(path)
        with disk(path):
            path.mkdir(parents=True, exist_ok=True)
        handle = _take(path)
        try:
            return cls._begin(path, handle, settings, about, fresh)
        except BaseException:
            os.close(handle)
            raise

    @classmethod
    def join(
        cls, root: Path, name: str, settings: Settings, about: Mapping[str, Any], fresh: bool = False
    ) -> Self:
        """Begin the run `name`, or take part in it: any number of processes may, until all have closed it.

        Records are kept in runs below it, each with a lock of its own, or in a `journal` for a moment.
        """
        end = time.monotonic() + journal.PATIENCE
        while True:
            try:
                return cls.open(root, name, settings, about, fresh)._share()
            except RunInUse:
                if fresh or time.monotonic() >= end:
                    raise
            guest = cls._guest(root / name, settings, about)
            if guest is not None:
                return guest
            time.sleep(0.05)

    def _share(self) -> Self:
        """Let others in that share, too."""
        if self._journal is not None:
            self._seen = self._journal.records(Record)
            self._journal.close()
            self._journal = None
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        return self

    @classmethod
    def _guest(cls, path: Path, settings: Settings, about: Mapping[str, Any]) -> Self | None:
        """The run that others share; None while one of them is alone in it."""
        handle = os.open(path / LOCK, os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            _refuse_other(path, _tables(path), _asked(settings, about))
            run = cls.reading(path)
        except BlockingIOError:
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        run._lock = handle
        return run

    @classmethod
    def _begin(
        cls, path: Path, handle: int, settings: Settings, about: Mapping[str, Any], fresh: bool
    ) -> Self:
        with disk(path):
            _clear(path) if fresh else journal.sweep(path)
        if not (path / SETTINGS).exists() and not (path / RECORDS).exists():
            table = {**about, **versions(), "created": now()}
            text = f"{to_toml(settings)}\n{tomli_w.dumps({'about': table})}"
            write_atomic(path / SETTINGS, text.encode())
        kept = _tables(path)
        _refuse_other(path, kept, _asked(settings, about))
        run = cls(path, {key: kept[key] for key in kept if key != "about"}, kept["about"])
        run._journal = Journal(path / RECORDS)
        run._lock = handle
        return run

    @classmethod
    def reading(cls, path: Path) -> Self:
        """A run as it stands, without a lock: for tables, and while it works."""
        if not (path / SETTINGS).is_file():
            raise RunFolder(f"{path} is not a run folder: it has no {SETTINGS}; `sanegnn runs` lists them")
        kept = _tables(path)
        run = cls(path, {key: kept[key] for key in kept if key != "about"}, kept["about"])
        run._seen = journal.read(path / RECORDS)
        return run

    def append(self, record: Record) -> None:
        """Keep a record: on the disk when this returns."""
        if self._journal is None:
            raise RunFolder(f"{self.path} is open for reading only")
        self._journal.append(record)

    def records(self, kind: type[R]) -> list[R]:
        """The records of one kind, oldest first; `Record` for all."""
        if self._journal is not None:
            return self._journal.records(kind)
        return [record for record in self._seen if isinstance(record, kind)]

    def file(self, name: str) -> Path:
        """The path of a side file such as `search/restart-0.jsonl`; its folder is made."""
        path = self.path / name
        with disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def journal(self, name: str) -> Journal:
        """A journal beside the records, for the part of the work that one process does."""
        return Journal(self.file(name))

    def close(self) -> None:
        """Let the next process in."""
        if self._journal is not None:
            self._seen = self._journal.records(Record)
            self._journal.close()
            self._journal = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _take(path: Path) -> int:
    """The lock of a run folder, with our process id in it."""
    with disk(path):
        handle = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    if not journal.lock(handle, patience=0.0):
        owner = os.pread(handle, 32, 0).decode(errors="replace").strip() or "unknown"
        os.close(handle)
        raise RunInUse(
            f"{path} is in use by process {owner}: wait for its end, or take another folder with --name"
        )
    with disk(path):
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
    return handle


def _refuse_foreign(path: Path) -> None:
    """Never work in, or empty, a folder that is not a run's."""
    if path.exists() and not path.is_dir():
        raise RunFolder(f"{path} is not a folder; take another --name")
    if path.is_dir() and not any((path / name).exists() for name in (SETTINGS, RECORDS)):
        others = [item.name for item in path.iterdir() if item.name != LOCK and not item.match(".*.tmp")]
        if others:
            raise RunFolder(
                f"{path} is not a run folder: it holds {sorted(others)[0]!r} but no {SETTINGS};"
                " take another --name"
            )


def _clear(path: Path) -> None:
    """Empty a run folder but for its lock; records first and settings last, so that a kill leaves a run."""
    (path / RECORDS).unlink(missing_ok=True)
    for item in path.iterdir():
        if item.is_dir() and not item.is_symlink():
            shutil.rmtree(item)
        elif item.name not in (LOCK, SETTINGS):
            item.unlink()
    (path / SETTINGS).unlink(missing_ok=True)


def _asked(settings: Settings, about: Mapping[str, Any]) -> dict[str, Any]:
    """The tables that run.toml would have."""
    return {**tomllib.loads(to_toml(settings)), "about": dict(about)}


def _tables(path: Path) -> dict[str, Any]:
    """The tables of run.toml."""
    try:
        kept = tomllib.loads((path / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RunFolder(
            f"cannot read {path / SETTINGS}: {error}; start over with --fresh or another --name"
        ) from error
    if not all(isinstance(kept.get("about", {}).get(key), str) for key in IDENTITY):
        raise RunFolder(f"{path / SETTINGS} is not whole; start over with --fresh or another --name")
    return kept


def _refuse_other(path: Path, kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Fail when a folder was begun with other settings, saying which."""
    old, new = _flat(kept), _flat(wanted)
    names = [key for key in {**new, **old} if not key.startswith("about.") or key[6:] in IDENTITY]
    differ = [key for key in names if old.get(key) != new.get(key)]
    if differ:
        told = "; ".join(f"{key} was {_show(old, key)}, now {_show(new, key)}" for key in differ[:3])
        more = f"; and {len(differ) - 3} more" if len(differ) > 3 else ""
        raise RunFolder(
            f"{path} was begun with other settings ({told}{more});"
            " take another folder with --name, or start over with --fresh"
        )


def _flat(tables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return flat


def _show(flat: Mapping[str, Any], key: str) -> str:
    return repr(flat[key]) if key in flat else "not set"
