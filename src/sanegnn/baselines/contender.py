"""Whoever takes part in a comparison: what a contender is handed, and what it gives back.

    race      candidates by validation score, as they become known: first of a search, then of tuning
    finish    the chosen one, trained from fresh seeds
    nets      trained nets again, for the judge to score

A contender never sees a test label: it hands over nets, and whoever holds the whole task scores them after
its race. It keeps its state in a folder of its own, and called again it goes on from there.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, NamedTuple, TypeVar

from torch import nn

from sanegnn.records import Lap
from sanegnn.registry import Registry
from sanegnn.settings import Knobs
from sanegnn.training.select import Bench

K = TypeVar("K", bound=Knobs)


class Clock:
    """The seconds that a contender has worked, those before an interruption included."""

    def __init__(self, before: float = 0.0) -> None:
        self._came = time.perf_counter() - before

    def now(self) -> float:
        """The seconds so far."""
        return time.perf_counter() - self._came

    def ahead(self, seconds: float) -> None:
        """Go on from `seconds` at the least: a journal knows of work that this clock did not see."""
        self._came = min(self._came, time.perf_counter() - seconds)


@dataclass(frozen=True)
class Lane:
    """Where one contender works on one split.

    `bench` has the sealed task, the workers, the length of a training and the seed; `trials` settings may be
    tried, or as many as `seconds` last where these are finite, and `repeats` nets are trained in the end.
    `folder` is the contender's own.
    """

    bench: Bench
    folder: Path
    trials: int = 10
    seconds: float = float("inf")
    repeats: int = 5
    clock: Clock = field(default_factory=Clock)

    def spent(self) -> bool:
        """Whether the wall-clock budget is over."""
        return self.clock.now() >= self.seconds


class Trained(NamedTuple):
    """A trained net, and the feature scaling that it reads."""

    net: nn.Module
    scaling: str


class Contender(ABC, Generic[K]):
    """One who takes part; the knobs are a frozen class of its own.

    `kind` says on which side it stands: `human` for a design that people made, `search` for what looks for
    a design of its own.
    """

    knobs: ClassVar[type[Knobs]]
    kind: str
    tasks: ClassVar[tuple[str, ...]] = ()
    """The tasks that it can take part in, by name; any if empty."""

    def __init__(self, settings: K) -> None:
        self.settings = settings

    @abstractmethod
    def race(self, lane: Lane) -> Iterator[Lap]:
        """Candidates as they become known, in phase `search` or `tune`, each with the clock's time.

        Called again on the same folder it begins with what it gave before. A lap of a search that has
        trained no net, such as an architecture that a supernet proposes, has the score NaN.
        """

    @abstractmethod
    def finish(self, lane: Lane, best: Lap) -> Iterator[Lap]:
        """The best candidate by validation, trained from `lane.repeats` fresh seeds, in phase `retrain`."""

    @abstractmethod
    def nets(self, lane: Lane, laps: Sequence[Lap]) -> Iterator[Trained | None]:
        """The nets of these laps, trained: from their weights, or by training them again.

        None stands for a net that cannot be had any more.
        """


contenders: Registry[type[Contender]] = Registry("contender")  # type: ignore[type-arg]
"""Those that are neither a human design nor a strategy, such as a method whose answer is no Architecture."""
