"""Contenders that align knowledge graphs in one published way, with one setting.

    tune       one training with the setting of the knobs
    retrain    the same from fresh seeds

What is kept in the lane's folder: every lap, and the weights of every net.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from safetensors.torch import load, save
from torch import nn

from sanegnn.baselines.contender import Contender, Lane, Trained
from sanegnn.errors import BadSetting
from sanegnn.journal import Journal, write_atomic
from sanegnn.records import Lap
from sanegnn.seeds import derive
from sanegnn.settings import Knobs, Training
from sanegnn.tasks import SearchTask
from sanegnn.tasks.alignment import AlignmentSearch, ReadyAlignment
from sanegnn.training import Trained as Outcome

K = TypeVar("K", bound=Knobs)


@dataclass(frozen=True)
class Job:
    """One training of an aligner, whose weights go to `file`."""

    aligner: Aligner[Any]
    training: Training
    seed: int
    device: str
    file: Path


def do(task: SearchTask, job: Job) -> tuple[Outcome, int]:
    """Train, and write the weights of the best epoch; gives how it went and the number of parameters."""
    aligned, ready = _aligned(task), task.ready(job.aligner.scaling, job.device)
    assert isinstance(ready, ReadyAlignment)
    net = job.aligner.net(aligned, ready, derive(job.seed, "net")).to(job.device)
    outcome = job.aligner.learn(net, aligned, ready, job.training, derive(job.seed, "train"))
    write_atomic(job.file, save({name: part.cpu().contiguous() for name, part in outcome.state.items()}))
    return outcome, sum(part.numel() for part in net.parameters())


def _aligned(task: SearchTask) -> AlignmentSearch:
    if not isinstance(task, AlignmentSearch):
        raise BadSetting(f"{task.name} is no pair of knowledge graphs: aligners take part in that task alone")
    return task


class Aligner(Contender[K]):
    """One net and one way to train it."""

    kind = "human"
    tasks = ("alignment",)
    scaling: ClassVar[str] = "raw"
    label: ClassVar[str]
    """What its laps say of the net."""

    @abstractmethod
    def net(self, task: AlignmentSearch, ready: ReadyAlignment, seed: int) -> nn.Module:
        """The net before its training: inputs -> embeddings of the asked entities, in all views."""

    @abstractmethod
    def learn(
        self, net: nn.Module, task: AlignmentSearch, ready: ReadyAlignment, training: Training, seed: int
    ) -> Outcome:
        """Train it, and leave the weights of its best epoch by validation in it."""

    def race(self, lane: Lane) -> Iterator[Lap]:
        """One lap."""
        yield from self._laps(lane, "tune", [derive(lane.bench.seed, "trial", self.label)])

    def finish(self, lane: Lane, best: Lap) -> Iterator[Lap]:
        """The same from fresh seeds."""
        seeds = [derive(lane.bench.seed, "retrain", place) for place in range(lane.repeats)]
        yield from self._laps(lane, "retrain", seeds)

    def _laps(self, lane: Lane, phase: str, seeds: Sequence[int]) -> Iterator[Lap]:
        """Those that are known, then the rest."""
        with Journal(lane.folder / f"{phase}.jsonl") as kept:
            known = kept.records(Lap)
            yield from known
            jobs = [self._job(lane, seed) for seed in seeds[len(known) :]]
            for job, (outcome, parameters) in zip(jobs, self._done(lane, jobs), strict=True):
                table = (self.label, self.settings.table(), job.training.table(), job.seed)
                cost = (outcome.seconds, lane.clock.now(), parameters, math.nan)
                lap = Lap(phase, *table, outcome.validation, outcome.epochs, *cost)
                kept.append(lap)
                yield lap

    def nets(self, lane: Lane, laps: Sequence[Lap]) -> Iterator[Trained | None]:
        """From their weights; trained again where these are gone."""
        for lap in laps:
            job = self._job(lane, lap.seed)
            if not job.file.exists():
                list(self._done(lane, [job]))
            task = _aligned(lane.bench.task)
            ready = task.ready(self.scaling, job.device)
            net = self.net(task, ready, derive(job.seed, "net")).to(job.device)
            net.load_state_dict(load(job.file.read_bytes()))
            yield Trained(net.eval(), self.scaling)

    def _job(self, lane: Lane, seed: int) -> Job:
        file = lane.folder / "nets" / f"{seed:016x}.safetensors"
        return Job(self, lane.bench.training, seed, lane.bench.device, file)

    def _done(self, lane: Lane, jobs: Sequence[Job]) -> Iterator[tuple[Outcome, int]]:
        (lane.folder / "nets").mkdir(parents=True, exist_ok=True)
        return lane.bench.workers.map(do, jobs, lane.bench.task)
