"""Policy-GNN as a contender: first a policy over depths, then nets whose nodes stop where it says.

    search     the policy, once, with the setting that the knobs name (metapolicy.py)
    tune       settings of the stack, each a net trained under that policy
    retrain    the best setting from fresh seeds; the policy stays, as an architecture does

What it keeps in the lane's folder beside the laps: the policy with its episodes and its checkpoint.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import torch
from safetensors.torch import load, save

from sanegnn.baselines.contender import Lane, contenders
from sanegnn.baselines.depths import DepthNet
from sanegnn.baselines.human import Design
from sanegnn.baselines.metapolicy import MetaPolicy, PolicyCourse
from sanegnn.baselines.tuned import Tuned
from sanegnn.journal import write_atomic
from sanegnn.ops import node_ops
from sanegnn.records import Epoch, Lap
from sanegnn.seeds import derive
from sanegnn.strategies.log import Log
from sanegnn.tasks import Ready, SearchTask
from sanegnn.training.jobs import Job, Outcome
from sanegnn.work import Gauged, Workers


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
    course = PolicyCourse(ready, errand.settings, errand.seed)
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

    def net(self, ready: Ready) -> DepthNet:
        """The stack, cut by the policy."""
        sizes = ready.num_features, ready.num_outputs
        net = DepthNet(self.architecture, self.setting, *sizes, derive(self.seed, "net"))
        net.policy.load_state_dict(load(self.policy.read_bytes()))
        return net.to(torch.device(self.device))


@contenders.add("policygnn", source="Lai, Zha, Zhou, Hu: Policy-GNN, KDD 2020")
class PolicyGnn(Tuned[MetaPolicy]):
    """Depths of aggregation chosen node by node, by deep Q-learning over a stack of one backbone.

    Its answer is a net, no architecture. The policy reads features under the scaling that it was searched
    with, so that tuning leaves the scaling alone.
    """

    knobs = MetaPolicy
    kind = "search"
    tasks = ("nodes",)
    still = ("scaling",)

    def __init__(self, settings: MetaPolicy) -> None:
        super().__init__(settings)
        node_ops.entry(settings.backbone)

    def search(self, lane: Lane, known: int) -> Iterator[Lap]:
        """The policy, a lap without a score."""
        if known:
            return
        gauge = Gauged(lane.bench.workers)
        outcome = self._searched(lane, gauge)
        lane.clock.ahead(outcome.seconds)
        cost = (outcome.epochs, outcome.seconds, lane.clock.now(), outcome.parameters, gauge.take())
        yield Lap("search", str(self.settings.stack), {}, {}, self._errand(lane).seed, math.nan, *cost)

    def design(self, lane: Lane, laps: Sequence[Lap]) -> Design:
        """The stack, and the setting that the policy was searched with."""
        return Design((self.settings.stack,), self.settings.setting)

    def job(self, lane: Lane, job: Job) -> DepthJob:
        """The training under the policy of the lane, which is searched again if its file is gone."""
        errand = self._errand(lane)
        if not errand.file.exists():
            self._searched(lane, lane.bench.workers)
        return DepthJob(**{one.name: getattr(job, one.name) for one in fields(Job)}, policy=errand.file)

    def _searched(self, lane: Lane, workers: Workers) -> Outcome:
        (outcome,) = workers.map(search, [self._errand(lane)], lane.bench.task)
        return outcome

    def _errand(self, lane: Lane) -> Errand:
        seed, seconds = derive(lane.bench.seed, "policygnn"), self.settings.share * lane.seconds
        return Errand(self.settings, seed, lane.bench.device, lane.folder, seconds)
