"""What a command works on: the data and its task, and the settings that the task fills in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sanegnn.aims import STARTS
from sanegnn.data import Data
from sanegnn.data.opening import opened
from sanegnn.settings import DataChoice, Knobs, Machine, NoKnobs, Sample, Search, Tables
from sanegnn.space import SearchSpace, space
from sanegnn.tasks import Task, kind_of, own_knobs, task_of, tasks

K = TypeVar("K", Search, Sample)
A = TypeVar("A", bound=Knobs)


def named_space(named: Search | Sample) -> SearchSpace:
    """The space that is meant, once the task has said what it prefers."""
    assert named.space is not None
    assert named.depth is not None
    return space(named.space, named.depth)


@dataclass(frozen=True)
class Brought:
    """The data of a command and its task; `given` is what the user gave."""

    given: Any
    choice: DataChoice
    data: Data
    task: Task
    own: Mapping[str, Knobs]

    @property
    def name(self) -> str:
        """What was typed for the data: a name or a path; nothing where it was no text."""
        return self.given if isinstance(self.given, str) else ""

    def prefers(self, knobs: K) -> K:
        """The knobs with the search space and the depth of the task where none were named."""
        usual = {"space": self.task.space, "depth": self.task.depth}
        return knobs.of({**usual, **knobs.table()})

    def begins(self, knobs: A) -> A:
        """The knobs of a net or a supernet as the task begins, where nobody has turned them."""
        return knobs.starting(STARTS.get(kind_of(self.data, self.choice.task), {}))

    @property
    def groups(self) -> dict[str, Knobs]:
        """The tables of run.toml that say what it is."""
        files = {"tables": self.given} if isinstance(self.given, Tables) else {}
        return {**files, "data": self.choice, **self.own}


def bring(
    given: Any, choice: DataChoice, machine: Machine, knobs: Mapping[str, Knobs] | None = None
) -> Brought:
    """Open the data and make its task."""
    data = opened(given, choice, machine)
    choice = choice.but(split=choice.split or data.usual_splits[0])
    return Brought(given, choice, data, task_of(data, choice, knobs), task_tables(data, choice.task, knobs))


def task_tables(data: Data, aim: str | None, knobs: Mapping[str, Knobs] | None) -> dict[str, Knobs]:
    """The table of the task's own knobs, if it has such."""
    name = kind_of(data, aim)
    return {name: own_knobs(name, knobs or {})} if tasks[name].knobs is not NoKnobs else {}
