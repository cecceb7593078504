"""A command at work: its run folder, its task, its workers, and the steps that commands are made of.

Every step looks into the records first and does only what is missing, so that a run that was cut off
goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from sanegnn import kernels
from sanegnn.bringing import Brought, named_space
from sanegnn.data import Data
from sanegnn.errors import TrainingFailed
from sanegnn.events import Began, Listener, Note, Stage, Step
from sanegnn.nets import Ensemble
from sanegnn.records import (
    Derived,
    Done,
    Failed,
    Figures,
    Record,
    Retrain,
    Scored,
    TestOpened,
    Together,
    Trial,
)
from sanegnn.reporting.report import report
from sanegnn.results import Result
from sanegnn.runs import Run, default_name, now, versions
from sanegnn.settings import (
    Knobs,
    Machine,
    RunChoice,
    Search,
    Seed,
    Setting,
    Training,
)
from sanegnn.space import Architecture
from sanegnn.strategies import Quest, strategies
from sanegnn.tasks import Finished, Task
from sanegnn.training import evaluate, figures
from sanegnn.training.jobs import Job, restored
from sanegnn.training.select import Bench, Finalist, retrain_jobs
from sanegnn.training.tune import Study, Tried, storage
from sanegnn.work import InOrder, workers


@dataclass
class Session:
    """What the steps of one command share."""

    run: Run
    task: Task
    bench: Bench
    tell: Listener
    data: Data
    undirected: bool = False
    began: float = field(default_factory=time.perf_counter)

    def keep_once(self, record: Record) -> None:
        """Append a record unless an equal one is there."""
        if record not in self.run.records(type(record)):
            self.run.append(record)

    def search(self, search: Search, knobs: Knobs) -> list[Architecture]:
        """The architectures that the strategy proposes, without repetition."""
        strategy = strategies[search.strategy](knobs)
        folder = self.run.file("search/restart").parent
        quest = Quest(
            self.bench.task,
            named_space(search),
            self.bench.seed,
            search.restarts,
            self.bench.workers,
            self.bench.device,
            folder,
        )
        self.tell(_stage(search.restarts, strategy.steps(quest.space)))
        found: list[Architecture] = []
        known = {(one.restart, one.architecture) for one in self.run.records(Derived)}
        for done, one in enumerate(strategy.search(quest), start=1):
            text = str(one.architecture)
            if (one.restart, text) not in known:
                scores = (one.score, one.seconds)
                self.run.append(Derived(search.strategy, one.restart, one.seed, text, *scores))
            self.tell(Step("search", min(done, search.restarts), text, one.score))
            found.append(one.architecture)
        return list(dict.fromkeys(found))

    def studies(self, architectures: Sequence[Architecture], base: Setting | None = None) -> list[Study]:
        """A study for each, in the run's own storage; trials without a record get one."""
        kept = storage(self.run.file("study.journal"))
        studies = [Study(kept, architecture, self.bench.seed, base) for architecture in architectures]
        told = {(trial.architecture, trial.number) for trial in self.run.records(Trial)}
        for study in studies:
            for tried in study.trials:
                if (str(study.architecture), tried.number) not in told:
                    self.keep_trial(study, tried)
        return studies

    def keep_trial(self, study: Study, tried: Tried) -> None:
        """Record a trial."""
        score = tried.validation if tried.validation is not None else float("nan")
        cost = (tried.epochs, tried.seconds, tried.pruned)
        self.run.append(Trial(str(study.architecture), tried.number, tried.setting.table(), score, *cost))

    def retrain(self, pairs: Sequence[tuple[Architecture, Setting]], repeats: int) -> list[Finalist]:
        """Train each from scratch on the same fresh seeds; the weights stay in the run folder."""
        folder = self.run.file("nets/weights").parent
        jobs = [job for pair in pairs for job in retrain_jobs(self.bench, *pair, repeats, folder)]
        scores = {_key(one.architecture, one.setting, one.seed): one.validation for one in self._retrained()}
        missing = [job for job in jobs if _job_key(job) not in scores or not _there(job.file)]
        self.tell(Stage("retrain", len(jobs), len(jobs) - len(missing)))
        for done, (job, outcome) in enumerate(
            zip(missing, self.bench.train(missing), strict=True), start=len(jobs) - len(missing) + 1
        ):
            text = str(job.architecture)
            if outcome.validation is None:
                self.run.append(Failed(f"retraining {text}", outcome.why))
                continue
            shared = (text, job.setting.table(), job.seed, outcome.validation)
            self.run.append(Retrain(*shared, outcome.epochs, outcome.seconds, outcome.parameters))
            scores[_job_key(job)] = outcome.validation
            self.tell(Step("retrain", done, text, max(scores.values())))
        return _finalists(pairs, jobs, scores)

    def _retrained(self) -> list[Retrain]:
        return self.run.records(Retrain)

    def open_test(self, by: str, finalist: Finalist) -> list[float]:
        """The test score of every training of one architecture: no other place of a run sees test labels."""
        architecture, setting = finalist.architecture, finalist.setting
        folder = self.run.file("nets/weights").parent
        jobs = retrain_jobs(self.bench, architecture, setting, len(finalist.scores), folder)
        if not self.run.records(TestOpened):
            seeds = [job.seed for job in jobs]
            self.run.append(TestOpened(by, now(), str(architecture), setting.table(), seeds))
        known = {one.seed: one.test for one in self.run.records(Scored)}
        ready = self.task.ready(setting.scaling, self.bench.device)
        nets = [restored(job, ready) for job in jobs]
        for job, net in zip(jobs, nets, strict=True):
            if job.seed not in known:
                known[job.seed] = evaluate(net, ready, "test")[0]
                self.run.append(Scored(str(architecture), job.seed, known[job.seed]))
                if beside := figures(net, ready, "test"):
                    self.run.append(Figures(str(architecture), job.seed, beside))
        if not self.run.records(Together):
            self.run.append(
                Together(str(architecture), evaluate(Ensemble(nets, ready.together), ready, "test")[0])
            )
        return [known[job.seed] for job in jobs]

    def save(self, finalist: Finalist, scores: Mapping[str, Sequence[float]]) -> None:
        """The model of a finalist, written into the run folder."""
        folder = self.run.file("nets/weights").parent
        named = (finalist.architecture, finalist.setting)
        jobs = retrain_jobs(self.bench, *named, len(finalist.scores), folder)
        ready = self.task.ready(finalist.setting.scaling, self.bench.device)
        about = {
            "run": self.run.name,
            "dataset": self.data.name,
            "data": self.data.checksum,
            "split": self.task.split,
            "sizes": dict(self.task.sizes),
            "metric": self.task.metric,
            "scores": {name: list(values) for name, values in scores.items()},
            "training": self.bench.training.table(),
            "versions": versions(),
        }
        states = [restored(job, ready).state_dict() for job in jobs]
        finished = Finished(*named, states, about, self.undirected, self.bench.device)
        self.task.model(finished).save(self.run.path / "model")

    def result(
        self, finalist: Finalist, tests: Sequence[float], words: str, others: Sequence[Mapping[str, Any]] = ()
    ) -> Result:
        """The result, recorded as the end of the run."""
        task, spent = self.task, time.perf_counter() - self.began
        names = (self.run.name, task.name, task.split, task.metric)
        what = (str(finalist.architecture), finalist.setting.table())
        scores = (list(finalist.scores), list(tests))
        together = next((one.test for one in self.run.records(Together)), None)
        result = Result(*names, *what, *scores, together, round(spent, 3), words, list(others))
        self.run.append(Done(result.table()))
        return result


def _stage(restarts: int, steps: int) -> Stage:
    """The stage of a search: told by the records of its restarts where they leave such."""
    if not steps:
        return Stage("search", restarts)
    return Stage("search", restarts * steps, follow="search/*.jsonl")


def _key(architecture: str, setting: Mapping[str, Any], seed: int) -> tuple[str, str, int]:
    return architecture, repr(sorted(setting.items())), seed


def _job_key(job: Job) -> tuple[str, str, int]:
    return _key(str(job.architecture), job.setting.table(), job.seed)


def _there(file: Path | None) -> bool:
    return file is None or file.exists()


def _finalists(
    pairs: Sequence[tuple[Architecture, Setting]], jobs: Sequence[Job], scores: Mapping[Any, float]
) -> list[Finalist]:
    found = []
    for architecture, setting in pairs:
        own = [job for job in jobs if (job.architecture, job.setting) == (architecture, setting)]
        if all(_job_key(job) in scores for job in own):
            found.append(Finalist(architecture, setting, tuple(scores[_job_key(job)] for job in own)))
    if not found:
        names = "; ".join(str(architecture) for architecture, _ in pairs)
        raise TrainingFailed(f"no training of {names} gave a finite score: try --lr 0.001")
    return found


@dataclass(frozen=True)
class Command:
    """What was asked: the command, its data and all settings that change the result."""

    name: str
    brought: Brought
    training: Training
    seed: Seed
    settings: Mapping[str, Knobs]
    architecture: Architecture | None = None

    @property
    def groups(self) -> dict[str, Knobs]:
        """The tables of run.toml."""
        return {**self.brought.groups, **self.settings, "training": self.training, "seed": self.seed}

    @property
    def text(self) -> str:
        """The command with its architecture."""
        return f"{self.name} {self.architecture}" if self.architecture else self.name


def conduct(
    command: Command, run: RunChoice, machine: Machine, tell: Listener, work: Callable[[Session], Result]
) -> Result:
    """Do the work of a command in its run folder; a run that is done gives its result at once."""
    brought, choice = command.brought, command.brought.choice
    data, task = brought.data, brought.task
    name = run.name or default_name(
        command.name, data.name, str(choice.split), command.groups, data.checksum, command.text
    )
    about = {"command": command.text, "dataset": data.name, "data": data.checksum, "given": brought.name}
    with Run.open(Path(run.folder), name, command.groups, about, run.fresh) as kept:
        tell(Began(kept.name, kept.path, bool(kept.records(Record))))
        done = kept.records(Done)
        if done:
            return Result.of(done[-1].result)
        warm(tell)
        device = where(machine.device)
        many = workers(machine.workers) if device == "cpu" else InOrder()
        bench = Bench(task.without_test(), many, command.training, command.seed.seed, device)
        result = work(Session(kept, task, bench, tell, data, choice.undirected))
        report(kept.path)
        return result


def warm(tell: Listener) -> None:
    """Compile the kernels where that was never done."""
    if not kernels.compiled_before():
        tell(Note("compiling the kernels, once on this machine"))
        kernels.compile_all()


def where(device: str) -> str:
    """The device of that name; auto is CUDA where there is one."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device
