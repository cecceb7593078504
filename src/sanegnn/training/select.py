"""Choosing among architectures: tune all of them briefly, the better third longer, retrain the best few.

Everything here looks at validation scores alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev

from sanegnn.seeds import derive
from sanegnn.settings import Selection, Setting, Training, Tuning
from sanegnn.space import Architecture
from sanegnn.tasks import SearchTask
from sanegnn.training.jobs import Job, Outcome, do
from sanegnn.training.tune import Study, Tried, floors
from sanegnn.work import Workers

SIDE_BY_SIDE = 6
"""Trials that a wave of a round has at least; the next wave learns from them whom to stop early."""

HINTS = 2
"""Settings that a study takes over from the best of the other candidates in every later round."""


@dataclass(frozen=True)
class Bench:
    """Where trainings are done: the sealed task, the workers, and the length of a training."""

    task: SearchTask
    workers: Workers
    training: Training
    seed: int
    device: str = "cpu"

    def train(self, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """The outcomes, in the order of the jobs."""
        return self.workers.map(do, jobs, self.task)


Report = Callable[[Study, Tried], None]
"""Called with every finished trial."""


def batch(
    bench: Bench, studies: Sequence[Study], begin: int, count: int, hints: Sequence[Setting], report: Report
) -> None:
    """Trials begin … begin + count of every study, side by side."""
    history = [trial for study in studies for trial in study.trials[:begin]]
    limits = floors(history)
    asked = [
        (study, number, setting)
        for study in studies
        for number, setting in study.ask(begin, count, hints).items()
    ]
    jobs = [
        Job(
            study.architecture,
            setting,
            bench.training,
            derive(bench.seed, "trial", str(study.architecture), number),
            bench.device,
            limits,
        )
        for study, number, setting in asked
    ]
    for (study, _, setting), outcome in zip(asked, bench.train(jobs), strict=True):
        report(study, study.tell(setting, outcome))


def tune(bench: Bench, study: Study, tuning: Tuning, report: Report) -> Tried:
    """The best of `tuning.trials` settings of one architecture."""
    for begin in range(0, tuning.trials, tuning.batch):
        batch(bench, [study], begin, min(tuning.batch, tuning.trials - begin), (), report)
    return study.best


def rounds(candidates: int, selection: Selection) -> list[tuple[int, int, int]]:
    """Of every round: how many candidates take part, the first trial, the number of trials."""
    plan, begin, alive, trials = [], 0, candidates, selection.trials
    for _ in range(selection.rounds):
        plan.append((alive, begin, trials))
        begin, trials = begin + trials, 2 * trials
        alive = min(alive, max(selection.finalists, -(-alive // 3)))
    return plan


def tournament(
    bench: Bench, studies: Sequence[Study], selection: Selection, report: Report
) -> list[tuple[Architecture, Tried]]:
    """The finalists with their best settings, the best first.

    Every round ranks by the trials up to its own end: studies that hold later ones already, because the
    run was cut off, do not change its course.
    """
    ranked, end, hasty = list(studies), 0, replace(bench, training=bench.training.shortened(selection.haste))
    for alive, begin, trials in rounds(len(studies), selection):
        ranked, end = ranked[:alive], begin + trials
        hints = [study.best_of(begin).setting for study in ranked[:HINTS]] if begin else []
        wave = max(1, SIDE_BY_SIDE // alive)
        for first in range(begin, end, wave):
            batch(hasty, ranked, first, min(wave, end - first), hints, report)
        ranked.sort(key=lambda study: -study.best_of(end).worth)
    return [(study.architecture, study.best_of(end)) for study in ranked[: selection.finalists]]


@dataclass(frozen=True)
class Finalist:
    """An architecture with its setting and the validation scores of fresh trainings."""

    architecture: Architecture
    setting: Setting
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean validation score."""
        return mean(self.scores)

    @property
    def error(self) -> float:
        """The standard error of that mean; zero for a single training."""
        return stdev(self.scores) / len(self.scores) ** 0.5 if len(self.scores) > 1 else 0.0


def retrain_jobs(
    bench: Bench, architecture: Architecture, setting: Setting, repeats: int, folder: Path | None
) -> list[Job]:
    """Fresh trainings of one architecture, each keeping its weights."""
    seeds = [derive(bench.seed, "retrain", place) for place in range(repeats)]
    files = [
        folder / f"{architecture.id}-{place}.safetensors" if folder else None for place in range(repeats)
    ]
    return [
        Job(architecture, setting, bench.training, seed, bench.device, None, file)
        for seed, file in zip(seeds, files, strict=True)
    ]


@dataclass(frozen=True)
class Choice:
    """The winner by mean validation score, and how far the next one is behind."""

    winner: Finalist
    second: Finalist | None

    @property
    def margin(self) -> float:
        """The difference of the means."""
        return self.winner.mean - self.second.mean if self.second else 0.0

    @property
    def error(self) -> float:
        """The standard error of that difference."""
        return (self.winner.error**2 + self.second.error**2) ** 0.5 if self.second else 0.0

    @property
    def tied(self) -> bool:
        """Whether the difference is within two standard errors."""
        return self.second is not None and self.margin <= 2 * self.error


def choose(finalists: Sequence[Finalist]) -> Choice:
    """The best finalist by mean validation score; the first of equals."""
    ranked = sorted(finalists, key=lambda finalist: -finalist.mean)
    return Choice(ranked[0], ranked[1] if len(ranked) > 1 else None)
