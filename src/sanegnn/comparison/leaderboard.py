"""The leaderboard: test scores of nets that were chosen by validation, with the noise and the costs.

Nothing is selected here. The order is that of the mean test score, and what lies within the noise of
another is called a tie.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, stdev
from typing import Any

from sanegnn.comparison.paired import Paired, paired
from sanegnn.comparison.told import Told


@dataclass(frozen=True)
class Row:
    """One contender over all splits.

    Scores are by split, one for every fresh training. Seconds are of the wall clock, the mean over splits;
    memory is the peak of a process over all splits. `behind` is this contender against the first one.
    """

    contender: str
    kind: str
    tests: Mapping[str, Sequence[float]]
    validations: Mapping[str, Sequence[float]]
    architectures: Mapping[str, str]
    trials: float
    search_seconds: float
    tuning_seconds: float
    retraining_seconds: float
    parameters: float
    memory: float
    failed: Mapping[str, str] = field(default_factory=dict)
    behind: Paired | None = None

    @property
    def test(self) -> float:
        """The mean over splits of the mean over seeds."""
        return _mean(fmean(scores) for scores in self.tests.values())

    @property
    def validation(self) -> float:
        """The same mean of the validation scores of the same nets."""
        return _mean(fmean(scores) for scores in self.validations.values())

    @property
    def over_splits(self) -> float:
        """The standard deviation of the mean test score between splits."""
        means = [fmean(scores) for scores in self.tests.values()]
        return stdev(means) if len(means) > 1 else math.nan

    @property
    def over_seeds(self) -> float:
        """The standard deviation of the test score between seeds of one split, pooled over splits."""
        within = [stdev(scores) ** 2 for scores in self.tests.values() if len(scores) > 1]
        return math.sqrt(fmean(within)) if within else math.nan

    @property
    def tied(self) -> bool:
        """Whether it lies within the noise of the first one."""
        return self.behind is not None and self.behind.tied

    def table(self) -> dict[str, Any]:
        """The row as JSON keeps it."""
        means = {"test": self.test, "over_splits": self.over_splits, "over_seeds": self.over_seeds}
        return {**asdict(self), **means, "validation": self.validation, "tied": self.tied}


@dataclass(frozen=True)
class Leaderboard:
    """All rows, the first one first, and what they say in words."""

    run: str
    dataset: str
    metric: str
    splits: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        run: str,
        dataset: str,
        metric: str,
        splits: Sequence[str],
        told: Sequence[Told],
        notes: Sequence[str] = (),
    ) -> Leaderboard:
        """The rows of all lanes; who has a score on every split comes before who has not."""
        names = dict.fromkeys(lane.contender for lane in told)
        rows = [_row([lane for lane in told if lane.contender == name]) for name in names]
        rows.sort(key=lambda row: (-len(row.tests), -row.test if row.tests else 0.0))
        ranked = [_against(row, rows[0]) for row in rows]
        return cls(run, dataset, metric, tuple(splits), tuple(ranked), tuple(notes))

    def row(self, contender: str) -> Row:
        """The row of a contender."""
        return next(row for row in self.rows if row.contender == contender)

    @property
    def crowned(self) -> dict[str, Any]:
        """Who came first, as the end of the run; nothing where nobody has a score."""
        first = self.rows[0]
        scores = {"validation": first.validation, "test": first.test}
        return {"first": first.contender, **scores} if first.tests else {}

    def table(self) -> dict[str, Any]:
        """The leaderboard as JSON keeps it."""
        from sanegnn.comparison.words import words

        told = {"run": self.run, "dataset": self.dataset, "metric": self.metric, "splits": self.splits}
        return {**told, "words": words(self), "rows": [row.table() for row in self.rows]}


def _row(lanes: Sequence[Told]) -> Row:
    """The lanes of one contender together; costs are of those that ended with a score."""
    good = [lane for lane in lanes if lane.finals]
    return Row(
        lanes[0].contender,
        lanes[0].kind,
        {lane.split: lane.tests for lane in good},
        {lane.split: lane.validations for lane in good},
        {lane.split: lane.finals[0].label for lane in good},
        _mean(lane.trials for lane in good),
        _mean(lane.search_seconds for lane in good),
        _mean(lane.tuning_seconds for lane in good),
        _mean(lane.retraining_seconds for lane in good),
        _mean(lane.parameters for lane in good),
        max((lane.memory for lane in good if not math.isnan(lane.memory)), default=math.nan),
        {lane.split: lane.why for lane in lanes if lane.why},
    )


def _against(row: Row, first: Row) -> Row:
    behind = None if row is first else paired(row.tests, first.tests)
    own = {name: getattr(row, name) for name in Row.__dataclass_fields__}
    return Row(**{**own, "behind": behind})


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return fmean(numbers) if numbers else math.nan
