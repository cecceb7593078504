"""What a tracker is: something that takes numbers with a name and a step, and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from sanegnn.registry import Registry


@dataclass(frozen=True)
class Number:
    """One point of a curve."""

    name: str
    step: int
    value: float


class Tracker(Protocol):
    """A run as a dashboard keeps it; what was kept of the same run before gives way."""

    usual: ClassVar[str]
    """Where it writes when nothing is said."""

    def __init__(self, to: str, run: str, dataset: str, about: Mapping[str, str]) -> None:
        """`to` is a folder or an address, `about` the settings by their names."""

    def numbers(self, numbers: Sequence[Number]) -> None:
        """Points, in their order."""

    def file(self, path: Path) -> None:
        """A file that belongs to the run."""

    def close(self, done: bool) -> None:
        """The end; `done` if the run is."""


trackers: Registry[type[Tracker]] = Registry("tracker")
