"""PyG's dataset classes, run over a copy of the raw files so that the data root may be read-only.

PyG writes its processed files beside the raw ones, and leaves empty folders behind when a download
fails. Here it works in a passing folder; what it downloads is moved to the data root when complete.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from sanegnn.data import store
from sanegnn.data.base import GraphData
from sanegnn.errors import BadGraph, SaneError

PATIENCE = 30.0

T = TypeVar("T")
Opened = Callable[..., Any]
"""PyG's dataset under further options of its class."""


@dataclass(frozen=True)
class PyGSource:
    """A dataset class of PyG and where it keeps its raw files.

    Args:
        kind: the class in `torch_geometric.datasets`.
        options: its arguments after `root`.
        root: what it is given as `root`, below the data root.
        folder: the folder below `root` in which it looks for `raw/`.
    """

    kind: str
    options: tuple[tuple[str, Any], ...]
    root: str
    folder: str

    @property
    def raw(self) -> PurePosixPath:
        """Where the raw files lie below the data root."""
        return PurePosixPath(self.root, self.folder, "raw")

    def read(self, name: str, root: Path) -> GraphData:
        """The cleaned graph, from the cache when its raw files are the same as before."""
        raw = root / self.raw
        there = raw.is_dir() and any(raw.iterdir())
        if there and (kept := store.recall(store.fingerprint(name, raw))) is not None:
            return kept
        data = self.made(name, root, lambda opened: GraphData.of(opened()[0], name))
        if raw.is_dir():
            store.keep(store.fingerprint(name, raw), data)
        return data

    def made(self, name: str, root: Path, make: Callable[[Opened], T], raw: Path | None = None) -> T:
        """What is made of PyG's datasets; `raw` is where the raw files lie, if not where they belong."""
        raw = raw or root / self.raw
        there = raw.is_dir() and any(raw.iterdir())
        with tempfile.TemporaryDirectory(prefix="sanegnn-") as folder:
            work = Path(folder)
            if there:
                self._copy(name, raw, work / self.raw)
            result = make(lambda **options: self._run(name, work, raw, options))
            if not there:
                _move_in(work / self.raw, raw)
        return result

    def _copy(self, name: str, raw: Path, work: Path) -> None:
        try:
            shutil.copytree(raw, work, copy_function=shutil.copyfile)
        except (OSError, shutil.Error) as error:
            raise SaneError(f"cannot copy the raw files of {name} from {raw}: {error}") from error

    def _run(self, name: str, work: Path, raw: Path, options: Mapping[str, Any]) -> Any:
        """PyG's dataset, or an error that tells a failed download from files that cannot be read."""
        with _silence():
            import torch_geometric.datasets

        kind = getattr(torch_geometric.datasets, self.kind)
        watched = type(self.kind, (kind,), {"download": _watch(kind.download)})
        try:
            with _silence():
                return watched(str(work / self.root), **dict(self.options), **options)
        except _NoDownload as error:
            raise SaneError(absent(name, raw, error.__cause__)) from error.__cause__
        except Exception as error:
            raise BadGraph(
                f"the raw files of {name} in {raw} cannot be read ({brief(error)}); "
                "they are corrupt or not complete: put them there anew"
            ) from error


class _NoDownload(Exception):
    """PyG's download failed; the reason is its cause."""


def _watch(download: Any) -> Any:
    """PyG's `download` with its failures marked, and an end to waiting for a silent server."""

    def watched(self: Any) -> None:
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(PATIENCE)
        try:
            download(self)
        except Exception as error:
            raise _NoDownload from error
        finally:
            socket.setdefaulttimeout(before)

    return watched


def absent(name: str, raw: Path, reason: BaseException | None) -> str:
    """What to say of raw files that are not there and could not be downloaded."""
    found = (
        f"has only {', '.join(sorted(path.name for path in raw.iterdir()))}"
        if raw.is_dir()
        else "is not there"
    )
    return (
        f"dataset {name!r}: {raw} {found}, and the download failed ({brief(reason)}); put its raw files "
        "into that folder, or name another data root with --data-root or the variable SANEGNN_DATA"
    )


def brief(error: BaseException | None) -> str:
    """One line of an exception."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Neither PyG's progress lines nor its warnings."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def _move_in(made: Path, raw: Path) -> None:
    """Put complete raw files in place at once; a data root that cannot be written is no error."""
    passing = raw.with_name(f".raw-{os.getpid()}")
    try:
        raw.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, passing)
        passing.rename(raw)
    except OSError:
        shutil.rmtree(passing, ignore_errors=True)
