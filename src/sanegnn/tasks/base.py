"""The contract of a task: what searching, tuning, training and judging ask of it.

A `Task` knows its test part; what a search or a tuning is handed is `task.without_test()`, an object of
another class on which the test part is not an attribute at all.

A class under `@tasks.add("name")` is a task by name: it says which data it takes, which search space it
prefers, and makes itself of data and a split.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, runtime_checkable

from torch import Tensor

from sanegnn.data import Data
from sanegnn.errors import BadSetting
from sanegnn.nets import Inputs
from sanegnn.registry import Registry
from sanegnn.seeds import Noise
from sanegnn.settings import DataChoice, Knobs, NoKnobs, Setting
from sanegnn.space import Architecture, plain_designs, space


@dataclass(frozen=True)
class Batch:
    """What one forward pass reads, and what its outputs should be."""

    inputs: Inputs
    target: Tensor


class Ready(Protocol):
    """A task as tensors on a device, under one scaling of the features.

    The net of a task has `num_outputs` outputs under the `head` of that name (`nets/heads.py`).
    """

    num_features: int
    num_outputs: int
    head: str

    def batches(self, part: str, noise: Noise | None = None) -> Sequence[Batch]:
        """The batches of "train", "val" or, on a task with its test part, "test".

        While training, `noise` stands for the epoch: the same noise gives the same batches, and another may
        give them in another order or with other samples. Their number never changes.
        """

    def loss(self, output: Tensor, batch: Batch) -> Tensor:
        """The loss of a batch, to descend."""

    def score(self, outputs: Sequence[Tensor], part: str) -> float:
        """The metric over all batches of a part; larger is better."""

    def together(self, outputs: Sequence[Tensor]) -> Tensor:
        """What several nets say of one batch, as the output of one."""


@runtime_checkable
class Figured(Protocol):
    """A ready task that has more to tell of a part than its score."""

    def figures(self, outputs: Sequence[Tensor], part: str) -> Mapping[str, float]:
        """Everything that is worth telling, by name."""


R = TypeVar("R", bound=Ready)


@dataclass(frozen=True, eq=False)
class Keeping(ABC, Generic[R]):
    """A task that makes its tensors once; they stay behind when it goes to another process."""

    _made: dict[tuple[str, str], R] = field(default_factory=dict, repr=False, kw_only=True)

    def ready(self, features: str, device: str) -> R:
        """The tensors under that scaling of the features."""
        if (features, device) not in self._made:
            self._made[features, device] = self.tensors(features, device)
        return self._made[features, device]

    @abstractmethod
    def tensors(self, features: str, device: str) -> R:
        """The same, made now."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": {}}


class SearchTask(Protocol):
    """A task whose test part is sealed."""

    @property
    def name(self) -> str:
        """The name of the data."""

    @property
    def metric(self) -> str:
        """The name of the score."""

    @property
    def split(self) -> str:
        """The name of the split."""

    def ready(self, features: str, device: str) -> Ready:
        """The tensors, made once and kept."""


@dataclass(frozen=True)
class Finished:
    """Trainings of one architecture that are done: what a model is made of."""

    architecture: Architecture
    setting: Setting
    states: Sequence[Mapping[str, Tensor]]
    about: Mapping[str, Any]
    undirected: bool = False
    device: str = "cpu"


class Savable(Protocol):
    """A model, or whatever else a task leaves for its user."""

    def save(self, folder: Path | str) -> None:
        """Write it into `folder`, as a whole or not at all."""


class Task(SearchTask, Protocol):
    """A task with its test part."""

    takes: ClassVar[type]
    """The class of its data."""
    knobs: ClassVar[type[Knobs]] = NoKnobs
    """What can be turned about it, as `--<task>.<knob>`: a class of `aims.py`, where it stands in `KNOBS`."""
    space: ClassVar[str] = "paper"
    """The search space that is taken where none is named, and its number of layers."""
    depth: ClassVar[int] = 3
    rivals: ClassVar[tuple[str, ...]] = ()
    """The contenders that `human` stands for in a comparison; all designs of nets for nodes if empty."""

    @classmethod
    def of(cls, data: Any, split: str = "0", metric: str | None = None, knobs: Any = None) -> Self:
        """The task of one split of `data`: a seed, or the name of one of its own."""

    @staticmethod
    def designs(depth: int) -> Sequence[Architecture]:
        """The plain architectures that `fit` lays beside what it found."""
        return plain_designs(depth)

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many of its things each part holds."""

    def without_test(self) -> SearchTask:
        """The same task with the test labels left out."""

    def model(self, finished: Finished) -> Savable:
        """What is saved of trained nets."""


tasks: Registry[type[Task]] = Registry("task")


def kind_of(data: Data, name: str | None = None) -> str:
    """The name of the task: the asked one, if it takes such data, else the data's own."""
    chosen = name or data.task
    wanted = tasks[chosen].takes
    if not isinstance(data, wanted):
        able = ", ".join(one for one in tasks if isinstance(data, tasks[one].takes))
        raise BadSetting(
            f"task {chosen!r} needs a {wanted.__name__}, but {data.name} is a {type(data).__name__}: "
            f"its tasks are {able}"
        )
    return chosen


def refuse_unfit(kind: type[Task], what: str, pools: bool) -> None:
    """Fail if nets that pool whole graphs come to a task about nodes, or others to one about graphs."""
    wanted = bool(space(kind.space, kind.depth).pool_ops)
    if pools and not wanted:
        raise BadSetting(f"{what} pools whole graphs, but the task asks for nodes: leave the pooling out")
    if wanted and not pools:
        raise BadSetting(
            f"{what} has no pooling, but the task asks for whole graphs: add one, as in 'gin,gin | sum', or"
            f" take a space with poolings, such as {kind.space}"
        )


def task_of(data: Data, choice: DataChoice, knobs: Mapping[str, Knobs] | None = None) -> Task:
    """The task that was asked for, of that data."""
    name = kind_of(data, choice.task)
    kind = tasks[name]
    return kind.of(data, choice.split or data.usual_splits[0], choice.metric, own_knobs(name, knobs or {}))


def own_knobs(name: str, knobs: Mapping[str, Knobs]) -> Knobs:
    """The knobs of a task, as they were given or by default."""
    return knobs.get(name) or tasks[name].knobs()
