"""Searches by a controller: it learns from the rewards of candidates, then the best are tried in earnest.

    repeat: candidates <- the controller; their validation scores <- training; the controller learns
    the final candidates <- the controller, each trained from scratch; the best `top` are proposed

The controller is nothing but what the candidates so far taught it. It is kept in memory between two batches
and computed again from the journal when a search goes on. When a wall-clock budget is nearly spent, the
final candidates begin.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from sanegnn.records import Candidate
from sanegnn.settings import Within, knob
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.candidates import Past, Searcher, TrialAndError
from sanegnn.work import one_thread

LAST = 0.8
"""The share of a wall-clock budget after which the final candidates begin."""


@dataclass(frozen=True)
class Reinforced(TrialAndError):
    """The knobs of a controller: 200 rewards to learn from and 10 final candidates."""

    candidates: Annotated[
        int, knob("architectures tried in a restart, the final ones included"), Within(1)
    ] = 210
    top: Annotated[int, knob("k, the architectures that a restart proposes"), Within(1, 100)] = 5
    finals: Annotated[
        int,
        knob("candidates at the end, among which the best are chosen; half of all at the most"),
        Within(0),
    ] = 10
    controller_lr: Annotated[float, knob("Adam's learning rate of the controller"), Within(0, 1)] = 0.0035
    controller_width: Annotated[int, knob("width of the controller's LSTM"), Within(1, 4096)] = 100
    entropy: Annotated[float, knob("weight of the entropy bonus"), Within(0)] = 1e-4
    decay: Annotated[float, knob("share that a baseline keeps of itself with every reward"), Within(0, 1)] = (
        0.95
    )


T = TypeVar("T", bound=Reinforced)


class Mind(ABC):
    """What a controller knows after the candidates of a past."""

    def __init__(self, space: SearchSpace) -> None:
        self.space = space
        self.seen: tuple[Candidate, ...] = ()

    def follow(self, past: Past) -> None:
        """Learn from the candidates that are new."""
        for number in range(len(self.seen), len(past.candidates)):
            self.learn(number, *past.scored[number])
        self.seen = past.candidates

    @abstractmethod
    def learn(self, number: int, architecture: Architecture, score: float) -> None:
        """One candidate more; its score is -inf if its training went astray."""


class Controlled(Searcher[T], ABC):
    """A searcher with a mind."""

    def __init__(self, knobs: T) -> None:
        super().__init__(knobs)
        self._minds: dict[tuple[SearchSpace, int], Mind] = {}

    @abstractmethod
    def begin(self, space: SearchSpace, seed: int) -> Mind:
        """The mind before the first candidate."""

    @abstractmethod
    def explore(self, mind: Any, past: Past, count: int) -> list[Architecture]:
        """Candidates to learn from."""

    @abstractmethod
    def finish(self, mind: Any, past: Past, count: int) -> list[Architecture]:
        """Final candidates, beside those of `past.candidates[self.first_final(past):]`."""

    def lessons(self, space: SearchSpace) -> int:
        """The candidates to learn from, if time suffices."""
        return self.settings.candidates - min(self.settings.finals, self.settings.candidates // 2)

    def steps(self, space: SearchSpace) -> int:
        """The candidates to learn from and the final ones."""
        lessons = self.lessons(space)
        return lessons + min(self.settings.finals, self.settings.candidates // 2, lessons)

    def first_final(self, past: Past) -> int:
        """The number of the first final candidate, as far as the past says."""
        lessons, batch = self.lessons(past.space), self.settings.batch
        late = (n for n, one in enumerate(past.candidates) if one.clock > LAST * past.seconds)
        spent = next(late, None)
        return lessons if spent is None else min(lessons, (spent // batch + 1) * batch)

    def mind(self, past: Past) -> Mind:
        """The mind after this past, or after the lessons where it goes further."""
        lessons = Past(past.space, past.seed, past.candidates[: self.first_final(past)])
        key = (past.space, past.seed)
        kept = self._minds.get(key)
        if kept is None or lessons.candidates[: len(kept.seen)] != kept.seen:
            kept = self._minds[key] = self.begin(past.space, past.seed)
        kept.follow(lessons)
        return kept

    def ask(self, past: Past, count: int) -> list[Architecture]:
        """Lessons, then final candidates."""
        number, first = len(past.candidates), self.first_final(past)
        with one_thread():
            mind = self.mind(past)
            if number < first:
                return self.explore(mind, past, min(count, first - number))
            left = self.steps(past.space) - self.lessons(past.space) - (number - first)
            return self.finish(mind, past, min(count, left)) if left > 0 else []

    def judged(self, past: Past) -> Past:
        """The final candidates; all where none of them could be trained, or time did not suffice."""
        final = Past(past.space, past.seed, past.candidates[self.first_final(past) :])
        return final if any(math.isfinite(score) for _, score in final.scored) else past


def reward_of(score: float) -> float:
    """What a candidate brings: its validation score, and nothing if it went astray."""
    return score if math.isfinite(score) else 0.0
