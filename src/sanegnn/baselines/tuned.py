"""Contenders whose answer is an architecture: a few architectures are tuned, the best is trained afresh.

The trials of a contender are shared by its architectures: each is tried once with the setting that it
starts from, and what is left goes to the one with the best validation score so far. Batches have a fixed
size and follow from the batches before them alone, so that neither the number of workers nor an interruption
changes the course. No trial is stopped early: every lap is a whole training.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from sanegnn.baselines.contender import Contender, Lane, Trained
from sanegnn.baselines.human import Design
from sanegnn.journal import Journal
from sanegnn.records import Lap
from sanegnn.seeds import derive
from sanegnn.settings import Knobs, Setting, Training, Tuning, Value
from sanegnn.space import Architecture
from sanegnn.training.jobs import Job, Outcome, restored
from sanegnn.training.select import retrain_jobs
from sanegnn.training.tune import Study, storage
from sanegnn.work import Gauged

BATCH = Tuning().batch
"""Settings asked for at a time."""

K = TypeVar("K", bound=Knobs)


class Tuned(Contender[K]):
    """Comes to architectures somehow; tuning and retraining are the same for all who do.

    Tuning leaves the knobs `still` alone.
    """

    still: ClassVar[tuple[str, ...]] = ()
    starts: Mapping[str, Value] = {}

    def begun(self, starts: Mapping[str, Value]) -> Self:
        """The same with values for the knobs of the first setting that stand at their default."""
        self.starts = starts
        return self

    def search(self, lane: Lane, known: int) -> Iterator[Lap]:
        """The laps of a search after the `known` first ones; nothing where nothing is searched."""
        return iter(())

    @abstractmethod
    def design(self, lane: Lane, laps: Sequence[Lap]) -> Design:
        """The architectures to tune, and the setting to begin with; `laps` are those of the search."""

    def job(self, lane: Lane, job: Job) -> Job:
        """A training as this contender does it."""
        return job

    def race(self, lane: Lane) -> Iterator[Lap]:
        """What the journal holds, then the rest of the search and of the trials."""
        with Journal(lane.folder / "race.jsonl") as kept:
            yield from known_to(lane, kept.records(Lap))
            for lap in self._rest(lane, kept):
                kept.append(lap)
                yield lap

    def _rest(self, lane: Lane, kept: Journal) -> Iterator[Lap]:
        laps = kept.records(Lap)
        if all(lap.phase == "search" for lap in laps):
            yield from self.search(lane, len(laps))
        laps = kept.records(Lap)
        searched = [lap for lap in laps if lap.phase == "search"]
        design = self.design(lane, searched)
        begun = replace(design, setting=design.setting.starting(self.starts))
        yield from Trials(self, lane, begun, laps).run()

    def finish(self, lane: Lane, best: Lap) -> Iterator[Lap]:
        """The same fresh seeds for whatever was chosen."""
        named = Architecture.parse(best.label), Setting.of(best.setting)
        jobs = [
            self.job(lane, replace(job, file=weights(lane, job.seed)))
            for job in retrain_jobs(lane.bench, *named, lane.repeats, None)
        ]
        with Journal(lane.folder / "finish.jsonl") as kept:
            known = kept.records(Lap)
            yield from known_to(lane, known)
            for lap in train(lane, "retrain", jobs[len(known) :]):
                kept.append(lap)
                yield lap

    def nets(self, lane: Lane, laps: Sequence[Lap]) -> Iterator[Trained | None]:
        """From their weights; a net that left none is trained again, which gives the same bits."""
        jobs = [self.job(lane, job_of(lane, lap)) for lap in laps]
        for _ in lane.bench.train([job for job in jobs if not _there(job)]):
            pass
        for job in jobs:
            scaling = job.setting.scaling
            ready = lane.bench.task.ready(scaling, job.device)
            yield Trained(restored(job, ready), scaling) if _there(job) else None


def known_to(lane: Lane, laps: Sequence[Lap]) -> Iterator[Lap]:
    """Laps that a journal holds; the clock shows no less than they do."""
    for lap in laps:
        lane.clock.ahead(lap.clock)
        yield lap


class Trials:
    """The tuning of a lane: a study for every architecture, told what the known laps tell."""

    def __init__(self, whose: Tuned[Any], lane: Lane, design: Design, laps: Sequence[Lap]) -> None:
        self.whose, self.lane = whose, lane
        self.studies = [
            Study(storage(None), one, lane.bench.seed, design.setting, whose.still) for one in design.variants
        ]
        self.best = max((lap.validation for lap in laps if math.isfinite(lap.validation)), default=-math.inf)
        self.laps: list[Lap] = []
        for lap in (lap for lap in laps if lap.phase == "tune"):
            self._learn(lap)

    def run(self) -> Iterator[Lap]:
        """The laps that are not known yet."""
        begin = 0
        while begin < len(self.laps) or self._goes_on(begin):
            for lap in train(self.lane, "tune", self._batch(begin)):
                self._learn(lap)
                self._drop_unless_best(lap)
                yield lap
            begin += BATCH

    def _goes_on(self, begin: int) -> bool:
        """Whether the budget has a batch left; without a first one there would be nothing to choose."""
        if math.isfinite(self.lane.seconds):
            return begin == 0 or not self.lane.spent()
        return begin < self.lane.trials

    def _size(self, begin: int) -> int:
        return BATCH if math.isfinite(self.lane.seconds) else min(BATCH, self.lane.trials - begin)

    def _batch(self, begin: int) -> list[Job]:
        """The trainings begin … begin + BATCH that are not known yet, chosen by those before `begin`."""
        bench, past = self.lane.bench, self.laps[:begin]
        jobs = []
        for place, count in self._shares(past, self._size(begin)).items():
            study = self.studies[place]
            tried = sum(lap.label == str(study.architecture) for lap in past)
            for number, setting in study.ask(tried, count).items():
                seed = derive(bench.seed, "trial", str(study.architecture), number)
                file = weights(self.lane, seed)
                job = Job(study.architecture, setting, bench.training, seed, bench.device, None, file)
                jobs.append(self.whose.job(self.lane, job))
        return jobs

    def _shares(self, past: Sequence[Lap], count: int) -> Counter[int]:
        """How many trials each study gets: one if it had none, and the rest for the best so far."""
        texts = [str(study.architecture) for study in self.studies]
        tried = {lap.label for lap in past}
        fresh = [place for place, text in enumerate(texts) if text not in tried][:count]
        shares = Counter(fresh)
        if len(fresh) < count:
            favourite = max(past, key=_score, default=None)
            shares[texts.index(favourite.label) if favourite else 0] += count - len(fresh)
        return shares

    def _learn(self, lap: Lap) -> None:
        score = None if math.isnan(lap.validation) else lap.validation
        study = next(study for study in self.studies if str(study.architecture) == lap.label)
        study.tell(Setting.of(lap.setting), Outcome(score, lap.epochs, lap.seconds, lap.parameters))
        self.laps.append(lap)

    def _drop_unless_best(self, lap: Lap) -> None:
        """Leave the weights of what was the best so far, whom the judge will ask for."""
        if lap.validation > self.best:
            self.best = lap.validation
        else:
            weights(self.lane, lap.seed).unlink(missing_ok=True)


def train(lane: Lane, phase: str, jobs: Sequence[Job]) -> Iterator[Lap]:
    """A lap for every job, with the peak memory of the process that did it."""
    gauge = Gauged(lane.bench.workers)
    bench = replace(lane.bench, workers=gauge)
    for job, outcome in zip(jobs, bench.train(jobs), strict=True):
        score = math.nan if outcome.validation is None else outcome.validation
        what = (str(job.architecture), job.setting.table(), job.training.table(), job.seed, score)
        cost = (outcome.epochs, outcome.seconds, lane.clock.now(), outcome.parameters, gauge.take())
        yield Lap(phase, *what, *cost)


def job_of(lane: Lane, lap: Lap) -> Job:
    """The training that a lap tells of."""
    named = Architecture.parse(lap.label), Setting.of(lap.setting), Training.of(lap.training)
    return Job(*named, lap.seed, lane.bench.device, None, weights(lane, lap.seed))


def weights(lane: Lane, seed: int) -> Path:
    """The file for the net that was trained from a seed; no two trainings of a lane share one."""
    file = lane.folder / "nets" / f"{seed}.safetensors"
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _there(job: Job) -> bool:
    return job.file is not None and job.file.exists()


def _score(lap: Lap) -> float:
    return -math.inf if math.isnan(lap.validation) else lap.validation
