"""Tables over runs, computed from their records: what one knows so far, and all that a folder holds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sanegnn.errors import RunFolder
from sanegnn.records import Derived, Done, Retrain, Scored, Trial, Verdict
from sanegnn.runs import Run

Scoring = tuple[str, float | None]
"""An architecture with its mean validation score."""


@dataclass(frozen=True)
class Known:
    """What a run knows: its architecture, the mean scores of the nets with it, and whether it ended.

    Of a comparison, the contender that came first stands in the place of the architecture.
    """

    architecture: str | None = None
    validation: float | None = None
    test: float | None = None
    done: bool = False


def known(run: Run) -> Known:
    """The verdict's architecture, else the best by what was last measured: retraining, tuning, search."""
    ends = run.records(Done)
    test, done = _mean(scored.test for scored in run.records(Scored)), bool(ends)
    if done and "first" in (crowned := ends[-1].result):
        return Known(crowned["first"], crowned["validation"], crowned["test"], done)
    for architecture, validation in (*_judged(run), *_retrained(run), *_tuned(run), *_derived(run)):
        return Known(architecture, validation, test, done)
    return Known(test=test, done=done)


def _judged(run: Run) -> list[Scoring]:
    return [
        (verdict.architecture, _mean(_scores(run, verdict.architecture, verdict.setting)))
        for verdict in run.records(Verdict)[-1:]
    ]


def _retrained(run: Run) -> list[Scoring]:
    nets = {(one.architecture, repr(one.setting)): one for one in run.records(Retrain)}
    means = [(one.architecture, _mean(_scores(run, one.architecture, one.setting))) for one in nets.values()]
    return sorted(means, key=_by_score)[:1]


def _tuned(run: Run) -> list[Scoring]:
    trials: list[Scoring] = [
        (trial.architecture, trial.validation) for trial in run.records(Trial) if not trial.pruned
    ]
    return sorted(trials, key=_by_score)[:1]


def _derived(run: Run) -> list[Scoring]:
    """The last architecture of a search; the supernet's score is not its own."""
    return [(derived.architecture, None) for derived in run.records(Derived)[-1:]]


def _scores(run: Run, architecture: str, setting: dict[str, object]) -> list[float]:
    nets = run.records(Retrain)
    return [net.validation for net in nets if (net.architecture, net.setting) == (architecture, setting)]


def _by_score(item: Scoring) -> float:
    score = item[1]
    return math.inf if score is None or math.isnan(score) else -score


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return fmean(numbers) if numbers else None


@dataclass(frozen=True)
class Row:
    """A run in `sanegnn runs`."""

    name: str
    state: str
    command: str = ""
    dataset: str = ""
    split: str = ""
    architecture: str | None = None
    validation: float | None = None
    test: float | None = None
    when: str = ""
    trouble: str = ""


def listing(root: Path) -> list[Row]:
    """Every run below `root`, oldest first; one that cannot be read says so in its row."""
    if not root.is_dir():
        return []
    rows = [_row(folder) for folder in sorted(root.iterdir()) if folder.is_dir()]
    return sorted(rows, key=lambda row: row.when)


def _row(folder: Path) -> Row:
    try:
        run = Run.reading(folder)
        have = known(run)
    except RunFolder as error:
        return Row(folder.name, "unreadable", trouble=str(error))
    about = run.about
    return Row(
        run.name,
        "done" if have.done else "unfinished",
        command=about["command"],
        dataset=about["dataset"],
        split=str(about.get("split", run.settings.get("data", {}).get("split", ""))),
        architecture=have.architecture,
        validation=have.validation,
        test=have.test,
        when=str(about.get("created", "")),
    )
