"""Policy-GNN as a contender: first a policy over depths, then nets whose nodes stop where it says.

    search     the policy, once, with the setting that the knobs name (metapolicy.py)
    tune       settings of the stack by TPE, each a net trained under that policy
    retrain    the best setting from fresh seeds; the policy stays, as the architecture of another search does

What is kept in the lane's folder: the policy with its episodes and its checkpoint, every lap, and the weights
of every net.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import torch
from safetensors.torch import load, save

from sanegnn.baselines.contender import Contender, Lane, Trained, contenders
from sanegnn.baselines.depths import DepthNet
from sanegnn.baselines.metapolicy import Course, MetaPolicy
from sanegnn.journal import Journal, read, write_atomic
from sanegnn.ops import node_ops
from sanegnn.records import Epoch, Lap
from sanegnn.seeds import derive
from sanegnn.settings import Setting, Training
from sanegnn.strategies.log import Log
from sanegnn.tasks import Ready, SearchTask
from sanegnn.training.jobs import Job, Outcome, fitted
from sanegnn.training.tune import Study, storage

BATCH = 4
"""Settings asked for at a time; they train side by side."""


@dataclass(frozen=True)
class Errand:
    """A policy to search; `seconds` end it after the episode that they run out in."""

    settings: MetaPolicy
    seed: int
    device: str
    folder: Path
    seconds: float

    @property
    def file(self) -> Path:
        """The weights of Q."""
        return self.folder / "policy.safetensors"


def search(task: SearchTask, errand: Errand) -> Outcome:
    """Search a policy, gone on with from the last saved episode, and write it."""
    began = time.perf_counter()
    ready = task.ready(errand.settings.scaling, errand.device)
    course = Course(ready, errand.settings, errand.seed)
    with Log.of(errand.folder / "policy.jsonl", errand.folder / "policy.state", course) as log:
        began -= log.seconds_before
        while course.epoch < errand.settings.episodes:
            if course.epoch and time.perf_counter() - began >= errand.seconds:
                break
            told = course.step()
            log.keep(Epoch(0, course.epoch, **told))
    write_atomic(errand.file, save({name: part.cpu() for name, part in course.policy.items()}))
    parameters = sum(part.numel() for part in course.policy.values())
    return Outcome(None, course.epoch, time.perf_counter() - began, parameters)


@dataclass(frozen=True)
class DepthJob(Job):
    """Train the stack `architecture` under the policy of that file."""

    policy: Path = Path()


def train(task: SearchTask, job: DepthJob) -> Outcome:
    """Train one net, and write the weights of its best epoch."""
    ready = task.ready(job.setting.scaling, job.device)
    return fitted(built(job, ready), ready, job)


def built(job: DepthJob, ready: Ready) -> DepthNet:
    """The net before its training."""
    sizes = ready.num_features, ready.num_outputs
    net = DepthNet(job.architecture, job.setting, *sizes, derive(job.seed, "net"))
    net.policy.load_state_dict(load(job.policy.read_bytes()))
    return net.to(torch.device(job.device))


@contenders.add("policygnn", source="Lai, Zha, Zhou, Hu: Policy-GNN, KDD 2020")
class PolicyGnn(Contender[MetaPolicy]):
    """Depths of aggregation chosen node by node, by deep Q-learning over a stack of one backbone.

    Its answer is a net, no architecture. The policy reads features under the scaling that it was searched
    with, so that tuning leaves the scaling alone.
    """

    knobs = MetaPolicy
    kind = "search"

    def __init__(self, settings: MetaPolicy) -> None:
        super().__init__(settings)
        node_ops.entry(settings.backbone)

    @property
    def label(self) -> str:
        """The stack that the policy cuts."""
        return f"policy({self.settings.stack})"

    def race(self, lane: Lane) -> Iterator[Lap]:
        """The search, a lap without a score, and then the trials; the first batch of them is always made."""
        known = [lap for lap in kept(lane) if lap.phase != "retrain"]
        for lap in known:
            lane.clock.ahead(lap.clock)
            yield lap
        if not known:
            yield self._searched(lane)
        yield from self._tuned(lane, known[1:])

    def _searched(self, lane: Lane) -> Lap:
        outcome = self._search(lane)
        lane.clock.ahead(outcome.seconds)
        job = self._job(lane, self.settings.setting, lane.bench.training, self._seed(lane))
        return self._keep(lane, "search", job, outcome)

    def _tuned(self, lane: Lane, known: Sequence[Lap]) -> Iterator[Lap]:
        """Trials in batches; one that was begun is finished, whatever the clock says."""
        study = Study(storage(None), self.settings.stack, self._seed(lane), self.settings.setting)
        study.distributions.pop("scaling")
        for lap in known:
            score = None if math.isnan(lap.validation) else lap.validation
            study.tell(Setting.of(lap.setting), Outcome(score))
        timed = math.isfinite(lane.seconds)
        for begin in count(0, BATCH):
            size = BATCH if timed else min(BATCH, lane.trials - begin)
            asked = study.ask(begin, size) if size > 0 else {}
            if size <= 0 or (begin and len(asked) == size and lane.spent()):
                break
            seeds = {number: derive(lane.bench.seed, "trial", self.label, number) for number in asked}
            jobs = [self._job(lane, asked[number], lane.bench.training, seeds[number]) for number in asked]
            for job, outcome in self._done(lane, jobs):
                study.tell(job.setting, outcome)
                yield self._keep(lane, "tune", job, outcome)

    def finish(self, lane: Lane, best: Lap) -> Iterator[Lap]:
        """The setting of the best trial, from fresh seeds."""
        setting = Setting.of(best.setting)
        seeds = [derive(lane.bench.seed, "retrain", place) for place in range(lane.repeats)]
        jobs = [self._job(lane, setting, lane.bench.training, seed) for seed in seeds]
        again = [lap for lap in kept(lane) if lap.phase == "retrain" and lap.setting == best.setting]
        known = {lap.seed: lap for lap in again}
        missing = self._done(lane, [job for job in jobs if job.seed not in known])
        for job in jobs:
            if job.seed in known:
                lane.clock.ahead(known[job.seed].clock)
                yield known[job.seed]
            else:
                yield self._keep(lane, "retrain", *next(missing))

    def nets(self, lane: Lane, laps: Sequence[Lap]) -> Iterator[Trained | None]:
        """The nets from their files, trained again where a file is gone; a policy alone is no net."""
        for lap in laps:
            job = self._job(lane, Setting.of(lap.setting), Training.of(lap.training), lap.seed)
            yield None if lap.phase == "search" else self._net(lane, job)

    def _net(self, lane: Lane, job: DepthJob) -> Trained | None:
        assert job.file is not None
        if not job.file.exists():
            list(self._done(lane, [job]))
        if not job.file.exists():
            return None  # the training went astray
        net = built(job, lane.bench.task.ready(job.setting.scaling, job.device))
        net.load_state_dict(load(job.file.read_bytes()))
        return Trained(net.eval(), job.setting.scaling)

    def _seed(self, lane: Lane) -> int:
        return derive(lane.bench.seed, "policygnn")

    def _errand(self, lane: Lane) -> Errand:
        seconds = self.settings.share * lane.seconds
        return Errand(self.settings, self._seed(lane), lane.bench.device, lane.folder, seconds)

    def _search(self, lane: Lane) -> Outcome:
        (outcome,) = lane.bench.workers.map(search, [self._errand(lane)], lane.bench.task)
        return outcome

    def _job(self, lane: Lane, setting: Setting, training: Training, seed: int) -> DepthJob:
        """A training; the name of its file tells all of it."""
        told = json.dumps([setting.table(), training.table()], sort_keys=True)
        file = lane.folder / "nets" / f"{derive(seed, told):016x}.safetensors"
        stack, policy = self.settings.stack, self._errand(lane).file
        return DepthJob(stack, setting, training, seed, lane.bench.device, None, file, policy=policy)

    def _done(self, lane: Lane, jobs: Sequence[DepthJob]) -> Iterator[tuple[DepthJob, Outcome]]:
        """The trainings, in order, under the policy of the folder."""
        (lane.folder / "nets").mkdir(parents=True, exist_ok=True)
        if jobs and not jobs[0].policy.exists():
            self._search(lane)
        yield from zip(jobs, lane.bench.workers.map(train, jobs, lane.bench.task), strict=True)

    def _keep(self, lane: Lane, phase: str, job: DepthJob, outcome: Outcome) -> Lap:
        score = math.nan if outcome.validation is None else outcome.validation
        told = (self.label, job.setting.table(), job.training.table(), job.seed, score, outcome.epochs)
        lap = Lap(phase, *told, outcome.seconds, lane.clock.now(), outcome.parameters, math.nan)
        with Journal(journal_of(lane)) as journal:
            journal.append(lap)
        return lap


def journal_of(lane: Lane) -> Path:
    """Where the laps are kept."""
    return lane.folder / "laps.jsonl"


def kept(lane: Lane) -> list[Lap]:
    """All laps so far, oldest first."""
    return [record for record in read(journal_of(lane)) if isinstance(record, Lap)]
