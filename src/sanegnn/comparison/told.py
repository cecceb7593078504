"""What the records of one lane say: a contender's race on one split, and the test scores after it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sanegnn.errors import RunFolder
from sanegnn.records import Done, Failed, Lap, Scored
from sanegnn.runs import Run

LANES = "lanes"
"""The folder of the lanes, below that of the comparison."""


@dataclass(frozen=True)
class Told:
    """A lane as far as it is known."""

    contender: str
    kind: str
    split: str
    laps: tuple[Lap, ...]
    scored: Mapping[tuple[str, int], float]
    done: bool
    why: str = ""

    @classmethod
    def of(cls, run: Run) -> Told:
        """The lane in a run folder."""
        about = run.about
        scored = {(one.architecture, one.seed): one.test for one in run.records(Scored)}
        why = "; ".join(f"{failed.what}: {failed.why}" for failed in run.records(Failed))
        names = (str(about["contender"]), str(about["kind"]), str(about["split"]))
        return cls(*names, tuple(run.records(Lap)), scored, bool(run.records(Done)), why)

    @property
    def race(self) -> tuple[Lap, ...]:
        """The laps of searching and tuning."""
        return tuple(lap for lap in self.laps if lap.phase != "retrain")

    @property
    def finals(self) -> tuple[Lap, ...]:
        """The fresh trainings that have a test score."""
        return tuple(lap for lap in self.laps if lap.phase == "retrain" and not math.isnan(self.test_of(lap)))

    def test_of(self, lap: Lap) -> float:
        """The test score of the net of a lap; NaN if it has none."""
        return self.scored.get((lap.label, lap.seed), math.nan)

    @property
    def tests(self) -> list[float]:
        """The test score of every fresh training."""
        return [self.test_of(lap) for lap in self.finals]

    @property
    def validations(self) -> list[float]:
        """The validation score of every fresh training."""
        return [lap.validation for lap in self.finals]

    @property
    def trials(self) -> int:
        """The settings that were tried."""
        return sum(lap.phase == "tune" for lap in self.laps)

    def clock(self, *phases: str) -> float:
        """What the clock showed at the end of the last of these phases."""
        return max((lap.clock for lap in self.laps if lap.phase in phases), default=0.0)

    @property
    def search_seconds(self) -> float:
        """Wall clock of the search."""
        return self.clock("search")

    @property
    def tuning_seconds(self) -> float:
        """Wall clock of the tuning."""
        return self.clock("search", "tune") - self.search_seconds

    @property
    def retraining_seconds(self) -> float:
        """Wall clock of the fresh trainings."""
        return self.clock("search", "tune", "retrain") - self.clock("search", "tune")

    @property
    def parameters(self) -> float:
        """The mean number of weights of the final nets."""
        return fmean(lap.parameters for lap in self.finals) if self.finals else math.nan

    @property
    def memory(self) -> float:
        """The most memory that a process needed for any lap, in bytes; NaN if none was measured."""
        return max((lap.memory for lap in self.laps if not math.isnan(lap.memory)), default=math.nan)


def chosen(laps: Iterable[Lap]) -> Lap | None:
    """The best lap by validation, the first of equals: among the tuned, or among all if none was tuned."""
    scored = [lap for lap in laps if not math.isnan(lap.validation)]
    tuned = [lap for lap in scored if lap.phase == "tune"]
    return max(tuned or scored, key=lambda lap: lap.validation, default=None)


def everyone(folder: Path) -> list[Told]:
    """All lanes of a comparison, as far as they were begun."""
    found: list[Told] = []
    for path in sorted((folder / LANES).glob("*/run.toml")):
        try:
            found.append(Told.of(Run.reading(path.parent)))
        except KeyError as error:
            raise RunFolder(f"{path.parent} is not a lane of a comparison: it has no {error}") from error
    return found


def lanes(folder: Path, contenders: Sequence[str], splits: Sequence[str]) -> list[Told]:
    """The lanes of these contenders on these splits, as far as they were begun."""
    places = {name: place for place, name in enumerate(contenders)}
    wanted = [told for told in everyone(folder) if told.contender in places and told.split in splits]
    return sorted(wanted, key=lambda told: (places[told.contender], splits.index(told.split)))
