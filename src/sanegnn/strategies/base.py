"""What a strategy is handed, and what it gives back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from sanegnn.records import Candidate
from sanegnn.registry import Registry
from sanegnn.settings import Knobs, Setting, Training
from sanegnn.space import Architecture, SearchSpace
from sanegnn.tasks import SearchTask
from sanegnn.work import Workers

K = TypeVar("K", bound=Knobs)


@dataclass(frozen=True)
class Quest:
    """What is to be searched, with what: the task has no test part.

    `seconds` is a wall-clock budget of each restart, for strategies that can stop at one.
    """

    task: SearchTask
    space: SearchSpace
    seed: int
    restarts: int
    workers: Workers
    device: str = "cpu"
    folder: Path | None = None
    seconds: float = math.inf


@dataclass(frozen=True)
class Proposal:
    """An architecture that a search ended with, and the strategy's own score for it."""

    architecture: Architecture
    score: float
    restart: int
    seed: int
    seconds: float


class Strategy(Generic[K]):
    """A way to find architectures; its knobs are a frozen class of their own.

    With a folder, `search` keeps its state there and goes on from what it finds; it gives the same
    proposals with any number of workers. `restarts` searches, each from a seed of its own, make up one run
    in a comparison that names no number.
    """

    knobs: ClassVar[type[Knobs]]
    restarts: ClassVar[int] = 1

    def __init__(self, knobs: K) -> None:
        self.settings = knobs

    @classmethod
    def check(cls, space: SearchSpace) -> None:
        """Refuse a space that the strategy cannot search, before any work."""

    def steps(self, space: SearchSpace) -> int:
        """The records that a restart leaves in the quest's folder, by which its progress is seen; 0: none."""
        return 0

    def trained_as(self, candidate: Candidate) -> tuple[Setting, Training] | None:
        """How a candidate in the folder was trained from its own seed; None if it shared its weights."""
        return None

    def search(self, quest: Quest) -> Iterator[Proposal]:
        """The proposals of every restart, in order."""
        raise AssertionError(f"{type(self).__name__} must say how it searches")


strategies: Registry[type[Strategy]] = Registry("strategy")  # type: ignore[type-arg]
