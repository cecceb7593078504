"""What an export is, and the formats by name."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sanegnn.bundle import Model
from sanegnn.errors import BadExport
from sanegnn.exporting.examples import WITHIN
from sanegnn.journal import disk
from sanegnn.registry import Registry


@dataclass(frozen=True)
class Export:
    """Files of a model in another format, and how far their predictions are from the model's own.

    Args:
        format: its name.
        files: what was written.
        difference: the largest one, over all classes and nodes of the graphs compared.
        graphs: how many graphs were compared, and of which sizes, in words.
        within: the largest difference that is allowed.
    """

    format: str
    files: tuple[str, ...]
    difference: float
    graphs: str
    within: float = WITHIN

    def table(self) -> dict[str, Any]:
        """The export as JSON keeps it."""
        return asdict(self)


Writer = Callable[[Model, Path], tuple[float, str]]
"""Writes files into a folder, runs them, and gives the largest difference and what was compared."""

formats: Registry[Writer] = Registry("export format")


def write(model: Model, format: str, folder: Path) -> Export:
    """Put the model into `folder` in that format; only what predicts as the model does stays."""
    writer = formats[format]
    with disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        passing = Path(tempfile.mkdtemp(dir=folder, prefix=".export."))
        try:
            difference, graphs = writer(model, passing)
            _must_be_near(format, difference)
            return Export(format, tuple(_moved(passing, folder)), difference, graphs)
        finally:
            shutil.rmtree(passing, ignore_errors=True)


def _must_be_near(format: str, difference: float) -> None:
    if not difference <= WITHIN:
        raise BadExport(
            f"the export to {format} was written, but its predictions differ from the model's by "
            f"{difference:.1e}, more than {WITHIN:.0e}: it was removed; export to code instead"
        )


def _moved(passing: Path, folder: Path) -> Sequence[str]:
    """Give the files their places."""
    names = sorted(path.name for path in passing.iterdir() if path.is_file())
    return [str((passing / name).replace(folder / name)) for name in names]
