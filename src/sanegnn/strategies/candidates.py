"""Trial and error: candidates are trained to convergence one after the other, and the best is kept.

    repeat until the budget is spent
        a batch of architectures <- ask(what was tried so far)
        validation score of each <- a training of its own, from scratch

A strategy of this family only decides what to try next, and decides it from what was tried before this
batch alone. Batches have a fixed size, so neither the number of workers nor an interruption changes the
course of a search. The training of an architecture follows from its text alone; one that was done with as
many epochs is not done again, its score is known.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Annotated, Any, Self, TypeVar

import numpy as np

from sanegnn.errors import RunFolder, TrainingFailed
from sanegnn.journal import Journal
from sanegnn.records import Candidate
from sanegnn.seeds import derive, generator
from sanegnn.settings import Setting, Training, Within, knob
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.base import Proposal, Quest, Strategy
from sanegnn.training.jobs import Job, Outcome, do

DRAWS = 50
"""Draws of an architecture that was never tried, before another way of drawing takes over."""


@dataclass(frozen=True)
class TrialAndError(Setting, Training):
    """The budget of a restart, and how its candidates are trained: by default as any net is."""

    candidates: Annotated[int, knob("architectures tried in a restart"), Within(1)] = 200
    seconds: Annotated[
        float, knob("wall-clock budget of a restart; the batch that it ends in is finished"), Within(1)
    ] = math.inf
    batch: Annotated[int, knob("candidates chosen at a time; they train side by side"), Within(1)] = 8
    top: Annotated[int, knob("k, the architectures that a restart proposes"), Within(1, 100)] = 1

    @property
    def setting(self) -> Setting:
        """The hyper-parameters of every candidate."""
        return Setting(**{field.name: getattr(self, field.name) for field in fields(Setting)})


T = TypeVar("T", bound=TrialAndError)
Draw = Callable[[np.random.Generator], Architecture]
"""A way to come by an architecture; it may come by the same one again."""


@dataclass(frozen=True)
class Past:
    """The candidates of a search in their order, as far as they are known when a batch is chosen.

    `seconds` are the wall-clock budget of the search.
    """

    space: SearchSpace
    seed: int
    candidates: tuple[Candidate, ...] = ()
    seconds: float = math.inf

    @cached_property
    def scored(self) -> list[tuple[Architecture, float]]:
        """Architectures and validation scores; -inf for a training that went astray."""
        return [
            (
                Architecture.parse(one.architecture),
                -math.inf if math.isnan(one.validation) else one.validation,
            )
            for one in self.candidates
        ]

    @property
    def rng(self) -> np.random.Generator:
        """The chance of the batch that is being chosen."""
        return generator(self.seed, "ask", len(self.candidates))

    def ranked(self) -> list[tuple[Architecture, float]]:
        """Every architecture once, with its best score, the best first and the earlier of equals first."""
        best: dict[Architecture, float] = {}
        for architecture, score in self.scored:
            best[architecture] = max(score, best.get(architecture, -math.inf))
        return sorted(best.items(), key=lambda pair: -pair[1])

    def fresh(self, count: int, draw: Draw) -> list[Architecture]:
        """`count` distinct architectures that were not tried, as drawn; fewer where no more are left."""
        tried, rng = {architecture for architecture, _ in self.scored}, self.rng
        found: list[Architecture] = []
        for _ in range(min(count, self.space.size - len(tried))):
            found.append(self._untried(draw, rng, tried))
            tried.add(found[-1])
        return found

    def _untried(self, draw: Draw, rng: np.random.Generator, tried: set[Architecture]) -> Architecture:
        for way in (draw, self.space.sample):
            for _ in range(DRAWS):
                if (drawn := way(rng)) not in tried:
                    return drawn
        left = [architecture for architecture in self.space if architecture not in tried]
        return left[rng.integers(len(left))]


class Searcher(Strategy[T], ABC):
    """A search by trial and error; what to try next is all that one adds."""

    @abstractmethod
    def ask(self, past: Past, count: int) -> list[Architecture]:
        """At most `count` architectures to try next, which follow from `past` alone; none: the end."""

    def steps(self, space: SearchSpace) -> int:
        """The trainings of a restart whose wall clock suffices."""
        return min(self.settings.candidates, space.size)

    def limit(self, number: int, space: SearchSpace) -> int:
        """The epochs that training `number` of a search may take."""
        return self.settings.epochs

    def attempts(self, quest: Quest, place: int) -> Attempts:
        """The candidates of a restart, as they are kept."""
        return Attempts.of(self, quest, place)

    def judged(self, past: Past) -> Past:
        """The candidates among which the best are proposed."""
        return past

    def training(self, limit: int) -> Training:
        """A training of at most `limit` epochs."""
        return Training(limit, min(limit, self.settings.patience))

    def trained_as(self, candidate: Candidate) -> tuple[Setting, Training] | None:
        """As every candidate is, for as long as its rung allowed."""
        return self.settings.setting, self.training(candidate.limit)

    def search(self, quest: Quest) -> Iterator[Proposal]:
        """The restarts one after the other, each the best of its own candidates."""
        for place in range(quest.restarts):
            with self.attempts(quest, place) as attempts:
                while attempts.begun < self.steps(quest.space) and attempts.clock < attempts.seconds:
                    count = min(self.settings.batch, self.steps(quest.space) - attempts.begun)
                    asked = self.ask(attempts.past, count)
                    if not asked:
                        break
                    attempts.do(asked)
                proposals = attempts.best(self.settings.top)
            yield from proposals


class Attempts:
    """The candidates of one restart, in a journal if there is a folder; it goes on from what is there."""

    def __init__(self, searcher: Searcher[Any], quest: Quest, place: int, journal: Journal | None) -> None:
        self.searcher, self.quest, self.place, self.journal = searcher, quest, place, journal
        self.seed = derive(quest.seed, "restart", place)
        self.known: list[Candidate] = journal.records(Candidate) if journal else []
        self.done = {(one.architecture, one.seed, one.limit): _outcome(one) for one in self.known}
        self.begun = 0
        self._came, self._before = time.perf_counter(), self.known[-1].clock if self.known else 0.0

    @classmethod
    def of(cls, searcher: Searcher[Any], quest: Quest, place: int) -> Self:
        """The candidates kept in the folder of the quest."""
        journal = Journal(quest.folder / f"restart-{place}.jsonl") if quest.folder else None
        return cls(searcher, quest, place, journal)

    @property
    def past(self) -> Past:
        """All that was finished before the batch that is next."""
        return Past(self.quest.space, self.seed, tuple(self.known[: self.begun]), self.seconds)

    @property
    def seconds(self) -> float:
        """The wall-clock budget: that of the knobs, or of whoever asked."""
        own: float = self.searcher.settings.seconds
        return min(own, self.quest.seconds)

    @property
    def clock(self) -> float:
        """The seconds that the search had taken when its last batch was done."""
        return self.known[self.begun - 1].clock if self.begun else 0.0

    def do(self, asked: Sequence[Architecture]) -> None:
        """Train the batch; what the journal holds of it is not trained again."""
        jobs = [self._job(self.begun + step, architecture) for step, architecture in enumerate(asked)]
        done = self.known[self.begun : self.begun + len(jobs)]
        for kept, job in zip(done, jobs, strict=False):
            self._is_the_same(kept, job)
        self._train(jobs[len(done) :])
        self.begun += len(jobs)

    def _train(self, jobs: Sequence[Job]) -> None:
        """Train those that were not done before; keep all, in their order."""
        waiting, fresh = (
            deque(jobs),
            list({_key(job): job for job in jobs if _key(job) not in self.done}.values()),
        )
        for job, outcome in zip(fresh, self.quest.workers.map(do, fresh, self.quest.task), strict=True):
            self._keep_done(waiting)
            self.done[_key(job)] = outcome
            self._keep(waiting.popleft(), outcome)
        self._keep_done(waiting)

    def _keep_done(self, waiting: deque[Job]) -> None:
        """Keep the next ones as long as their outcome is known; it costs nothing again."""
        while waiting and _key(waiting[0]) in self.done:
            job = waiting.popleft()
            self._keep(job, replace(self.done[_key(job)], seconds=0.0))

    def _job(self, number: int, architecture: Architecture) -> Job:
        """The training of a candidate: the same for an architecture whenever its turn comes."""
        settings, seed = self.searcher.settings, derive(self.seed, "candidate", str(architecture))
        training = self.searcher.training(self.searcher.limit(number, self.quest.space))
        return Job(architecture, settings.setting, training, seed, self.quest.device)

    def _keep(self, job: Job, outcome: Outcome) -> None:
        score = math.nan if outcome.validation is None else outcome.validation
        cost = (outcome.epochs, outcome.seconds, self._before + time.perf_counter() - self._came)
        named = (self.place, len(self.known), str(job.architecture), job.seed)
        candidate = Candidate(*named, score, job.training.epochs, *cost, outcome.parameters, outcome.why)
        if self.journal is not None:
            self.journal.append(candidate)
        self.known.append(candidate)

    def _is_the_same(self, kept: Candidate, job: Job) -> None:
        if (kept.architecture, kept.seed, kept.limit) != _key(job):
            raise RunFolder(
                f"candidate {kept.number} of restart {self.place} was {kept.architecture}, but these settings"
                f" ask for {job.architecture}: start over with --fresh or another --name"
            )

    def best(self, top: int) -> list[Proposal]:
        """The `top` architectures by validation score."""
        ranked = [pair for pair in self.searcher.judged(self.past).ranked() if math.isfinite(pair[1])]
        if not ranked:
            why = self.known[0].why if self.known else "none was begun"
            raise TrainingFailed(f"none of {self.begun} candidates could be trained: {why}")
        return [Proposal(one, score, self.place, self.seed, self.clock) for one, score in ranked[:top]]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        if self.journal is not None:
            self.journal.close()


def _key(job: Job) -> tuple[str, int, int]:
    return str(job.architecture), job.seed, job.training.epochs


def _outcome(kept: Candidate) -> Outcome:
    score = None if math.isnan(kept.validation) else kept.validation
    return Outcome(score, kept.epochs, kept.seconds, kept.parameters, why=kept.why)
