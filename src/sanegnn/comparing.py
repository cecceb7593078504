"""A comparison at work: lanes of one contender on one split, taken by one process or by several.

    runs/compare-cora-1a2b3c4d/
        run.toml                     the terms of the race
        lanes/gcn-split0/            a run of its own: lock, settings, laps, test scores
            race.jsonl nets/ ...     what the contender keeps
        leaderboard.csv .md .json    computed from the records of the lanes
        curve.csv efficiency.png     the best so far against time

Whoever comes takes the next lane that is free. Contenders and splits are no part of the terms: the same
command with more of them goes on in the same folder.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from sanegnn import kernels
from sanegnn.baselines import Clock, Contender, Lane
from sanegnn.baselines import names as by_name
from sanegnn.bringing import task_tables
from sanegnn.comparison import Leaderboard, Told, best_so_far, chosen, lanes
from sanegnn.comparison.tables import write
from sanegnn.comparison.told import LANES
from sanegnn.data import Data
from sanegnn.data.opening import opened
from sanegnn.errors import BadSetting, RunInUse, TrainingFailed
from sanegnn.events import Began, Listener, Note, Stage, Step
from sanegnn.records import Done, Failed, Figures, Lap, Scored, TestOpened
from sanegnn.reporting import efficiency
from sanegnn.reporting.report import report
from sanegnn.runs import RECORDS, Run, default_name, now
from sanegnn.session import warm, where
from sanegnn.settings import DataChoice, Field, Knobs, Machine, Race, RunChoice, Seed, Tables, Training
from sanegnn.tasks import Task, kind_of, task_of, tasks
from sanegnn.training import evaluate, figures
from sanegnn.training.select import Bench
from sanegnn.work import InOrder, Workers, workers

LOOK = 0.5
"""Seconds between two looks at the lanes that other processes have."""
HEARD = f"{LANES}/*/search/*.jsonl"


@dataclass(frozen=True)
class Asked:
    """A comparison as it was asked for."""

    data: Any
    field: Field
    race: Race
    knobs: Mapping[str, Knobs]
    training: Training
    seed: Seed
    machine: Machine

    @cached_property
    def graphs(self) -> dict[str, Data]:
        """The data of every split."""
        return {split: opened(self.data, self.choice(split), self.machine) for split in self.splits}

    @property
    def found(self) -> Data:
        """The data of the first split, whose name and checksum stand for all."""
        return self.graphs[self.splits[0]]

    @cached_property
    def kind(self) -> type[Task]:
        """The task."""
        return tasks[kind_of(self.found, self.race.task)]

    def task(self, split: str) -> Task:
        """The task of a split."""
        return task_of(self.graphs[split], self.choice(split), self.knobs)

    @cached_property
    def added(self) -> tuple[str, ...]:
        """Random search, where it was forgotten."""
        return by_name.missing_random(by_name.field(self.field.contenders, self.kind))

    @cached_property
    def entrants(self) -> dict[str, Contender[Any]]:
        """All contenders; a name that is not known is refused."""
        names = (*by_name.field(self.field.contenders, self.kind), *self.added)
        return {name: by_name.contender(name, self.race, self.knobs, self.kind) for name in names}

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The splits, each once."""
        if not self.field.splits:
            return opened(self.data, self.choice(None), self.machine).usual_splits
        found = tuple(dict.fromkeys(by_name.parted(self.field.splits)))
        if not found:
            raise BadSetting("no split was named: try --splits 0,1,2,3,4")
        return found

    def choice(self, split: str | None) -> DataChoice:
        """The part of the data that a lane learns from."""
        return DataChoice(split, self.race.metric, self.race.undirected, self.race.task)

    @property
    def terms(self) -> dict[str, Knobs]:
        """The tables that all lanes share."""
        files: dict[str, Knobs] = {"tables": self.data} if isinstance(self.data, Tables) else {}
        files |= task_tables(self.found, self.race.task, self.knobs)
        race = self.race.but(depth=self.race.depth or self.kind.depth)
        return {**files, "race": race, "training": self.training, "seed": self.seed}

    @property
    def turned(self) -> dict[str, Knobs]:
        """The knobs of contenders that do not stand at their default."""
        own = {table: one for name in self.entrants for table, one in self.own(name).items()}
        return {table: knobs for table, knobs in own.items() if knobs != type(knobs)()}

    def own(self, name: str) -> dict[str, Knobs]:
        """The knobs of one contender."""
        return by_name.own_knobs(name, self.knobs)


@dataclass
class Meeting:
    """What the lanes of a comparison share while they are run."""

    asked: Asked
    run: Run
    workers: Workers
    device: str
    tell: Listener
    done: set[tuple[str, str]] = field(default_factory=set)
    loaded: list[None] = field(default_factory=list)

    def go(self) -> None:
        """Run what nobody runs, wait for what others run, and take over what they leave."""
        left = [(name, split) for split in self.asked.splits for name in self.asked.entrants]
        self.tell(Stage("lanes", len(left), hear=HEARD))
        while left:
            taken = [lane for lane in left if self.take(*lane)]
            left = [lane for lane in left if lane not in taken]
            if left and not taken:
                time.sleep(LOOK)

    def take(self, name: str, split: str) -> bool:
        """Run a lane to its end; False if another process has it."""
        settings = {"data": self.asked.choice(split), **self.asked.terms, **self.asked.own(name)}
        entrant, found = self.asked.entrants[name], self.asked.graphs[split]
        about = {"command": f"lane {name}", "dataset": found.name, "data": found.checksum}
        about |= {"contender": name, "kind": entrant.kind, "split": split}
        folder = re.sub(r"[^A-Za-z0-9._-]+", "_", f"{name.replace('@', '.')}-split{split}")
        try:
            run = Run.open(self.run.path / LANES, folder, settings, about)
        except RunInUse:
            return False
        with run:
            if not run.records(Done):
                self.race(run, name, split)
        self.done.add((name, split))
        self.tell(Step("lanes", len(self.done), f"{name}, split {split}: done"))
        return True

    def race(self, run: Run, name: str, split: str) -> None:
        """Search, tune, train afresh; then open the test set and score."""
        self.load()
        task = self.asked.task(split)
        entrant, lane = self.asked.entrants[name], self.lane(run, task)
        try:
            best = chosen(list(self.heard(run, entrant.race(lane), final=False)))
            if best is None:
                raise TrainingFailed("no training of the race gave a finite score")
            finals = list(self.heard(run, entrant.finish(lane, best), final=True))
            if all(math.isnan(lap.validation) for lap in finals):
                raise TrainingFailed(f"no fresh training of {best.label} gave a finite score")
        except TrainingFailed as failed:
            run.append(Failed(name, str(failed)))
        else:
            judge(run, task, entrant, lane, best)
        run.append(Done({}))

    def load(self) -> None:
        """Let every worker load what it needs, so that the first lane does not pay for it."""
        if not self.loaded:
            self.loaded = list(self.workers.map(_load, range(2 * (os.cpu_count() or 1)), None))

    def lane(self, run: Run, task: Task) -> Lane:
        """Where a contender works, with the clock as it stood; its task has no test part."""
        race = self.asked.race
        clock = Clock(max((lap.clock for lap in run.records(Lap)), default=0.0))
        bench = Bench(
            task.without_test(), self.workers, self.asked.training, self.asked.seed.seed, self.device
        )
        return Lane(bench, run.path, race.trials, race.seconds, race.repeats, clock)

    def heard(self, run: Run, laps: Iterable[Lap], final: bool) -> Iterator[Lap]:
        """Record the laps that are new, and tell of them."""
        known = sum((lap.phase == "retrain") == final for lap in run.records(Lap))
        about = run.about
        for number, lap in enumerate(laps):
            if number >= known:
                run.append(lap)
                said = f"{about['contender']}, split {about['split']}: {lap.phase} {lap.label}"
                self.tell(Step("lanes", len(self.done), said))
            yield lap


def _load(_shared: None, _job: int) -> None:
    """Kernels, and what the first optimizer of a process brings along."""
    kernels.compile_all()
    torch.optim.Adam([torch.zeros(1)], fused=True)


def judge(run: Run, task: Task, entrant: Contender[Any], lane: Lane, best: Lap) -> None:
    """Score the fresh nets and those of the curve: no other place of a comparison sees test labels."""
    told = Told.of(run)
    finals = [lap for lap in told.laps if lap.phase == "retrain" and not math.isnan(lap.validation)]
    laps = [*finals, *best_so_far(told.race)]
    if not run.records(TestOpened):
        run.append(TestOpened("compare", now(), best.label, best.setting, [lap.seed for lap in laps]))
    missing = [lap for lap in laps if (lap.label, lap.seed) not in told.scored]
    for lap, trained in zip(missing, entrant.nets(lane, missing), strict=True):
        if trained is None:
            run.append(Failed(f"the net of {lap.label} from seed {lap.seed}", "it cannot be had any more"))
            continue
        ready = task.ready(trained.scaling, lane.bench.device)
        run.append(Scored(lap.label, lap.seed, evaluate(trained.net, ready, "test")[0]))
        if beside := figures(trained.net, ready, "test"):
            run.append(Figures(lap.label, lap.seed, beside))


def hold(asked: Asked, run: RunChoice, tell: Listener) -> Leaderboard:
    """Run all lanes of a comparison, beside whoever runs some of them too, and say how it ended."""
    names, splits, found = tuple(asked.entrants), asked.splits, asked.found
    metric, *_ = [asked.task(split).metric for split in splits]
    settings = {**asked.terms, **asked.turned}
    name = run.name or default_name("compare", found.name, "", settings, found.checksum)
    about = {"command": "compare", "dataset": found.name, "data": found.checksum}
    with Run.join(Path(run.folder), name, settings, about, run.fresh) as shared:
        tell(Began(shared.name, shared.path, (shared.path / LANES).exists()))
        notes = [f"{one} takes part as well: searchers are laid beside random search" for one in asked.added]
        for note in notes:
            tell(Note(note))
        warm(tell)
        device = where(asked.machine.device)
        many = workers(asked.machine.workers) if device == "cpu" else InOrder()
        Meeting(asked, shared, many, device, tell).go()
        told = lanes(shared.path, names, splits)
        board = Leaderboard.of(shared.name, found.name, metric, splits, told, notes)
        write(shared.path, board, told)
        _draw(shared.path, told, board, tell)
        with shared.journal(RECORDS) as kept:
            if kept.records(Done)[-1:] != [ended := Done(board.crowned)]:
                kept.append(ended)
        report(shared.path)
    return board


def _draw(folder: Path, told: list[Told], board: Leaderboard, tell: Listener) -> None:
    """The figure, if matplotlib is there."""
    try:
        efficiency.draw(told, f"{board.dataset}, test {board.metric}", folder)
    except ModuleNotFoundError:
        tell(Note("no figure was drawn: `pip install sanegnn[plots]` brings matplotlib"))
