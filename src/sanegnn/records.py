"""Records: what a run remembers, one frozen class per kind, one JSON line each.

    {"kind": "scored", "architecture": "gcn,gcn", "seed": 3, "test": 0.88}

Lines outlive versions: a field that this version does not know is passed over, and a kind that it does
not know is read as `Unknown`, so that it is skipped but stays in the file. JSON has no NaN: a number
that is not finite is written as null and read back as NaN.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, get_origin, get_type_hints

from sanegnn.registry import Registry

R = TypeVar("R", bound="Record")


class Record:
    """Something that happened and is kept; every kind is a frozen dataclass."""


kinds: Registry[type[Record]] = Registry("record kind")


@dataclass(frozen=True)
class Unknown(Record):
    """A line of a kind that this version does not know."""

    name: str
    fields: dict[str, Any]


def _kind(name: str) -> Callable[[type[R]], type[R]]:
    def keep(cls: type[R]) -> type[R]:
        kinds.add(name)(cls)
        return cls

    return keep


@_kind("epoch")
@dataclass(frozen=True)
class Epoch(Record):
    """One epoch of a supernet: losses, its own validation score, alpha of every slot by key."""

    restart: int
    epoch: int
    train_loss: float
    val_loss: float
    val_score: float
    alphas: dict[str, list[float]]


@_kind("candidate")
@dataclass(frozen=True)
class Candidate(Record):
    """One architecture trained by a search, for `limit` epochs at the most; NaN and why if it went astray.

    `clock` are the seconds that the search had taken when this was done: with the running maximum of
    `validation` it is the curve of the best so far against time.
    """

    restart: int
    number: int
    architecture: str
    seed: int
    validation: float
    limit: int
    epochs: int
    seconds: float
    clock: float
    parameters: int
    why: str


@_kind("derived")
@dataclass(frozen=True)
class Derived(Record):
    """The architecture that one restart of a search ended with."""

    strategy: str
    restart: int
    seed: int
    architecture: str
    supernet_score: float
    seconds: float


@_kind("trial")
@dataclass(frozen=True)
class Trial(Record):
    """One setting tried by the tuning of an architecture."""

    architecture: str
    number: int
    setting: dict[str, Any]
    validation: float
    epochs: int
    seconds: float
    pruned: bool


@_kind("retrain")
@dataclass(frozen=True)
class Retrain(Record):
    """One training from scratch."""

    architecture: str
    setting: dict[str, Any]
    seed: int
    validation: float
    epochs: int
    seconds: float
    parameters: int


@_kind("measured")
@dataclass(frozen=True)
class Measured(Record):
    """Training number `place` of an architecture for the ground truth; NaN and why if it went astray."""

    architecture: str
    place: int
    seed: int
    validation: float
    epochs: int
    seconds: float
    parameters: int
    why: str


@_kind("test_opened")
@dataclass(frozen=True)
class TestOpened(Record):
    """When (UTC, ISO 8601) and by what the test labels were opened, and for which nets."""

    __test__ = False  # not a test class, whatever pytest thinks of the name

    by: str
    at: str
    architecture: str
    setting: dict[str, Any]
    seeds: list[int]


@_kind("scored")
@dataclass(frozen=True)
class Scored(Record):
    """The test score of one trained net."""

    architecture: str
    seed: int
    test: float


@_kind("figures")
@dataclass(frozen=True)
class Figures(Record):
    """What a task tells of one trained net's test part beside its score."""

    architecture: str
    seed: int
    figures: dict[str, float]


@_kind("together")
@dataclass(frozen=True)
class Together(Record):
    """The test score of all trainings of an architecture as one: the mean of their probabilities."""

    architecture: str
    test: float


@_kind("verdict")
@dataclass(frozen=True)
class Verdict(Record):
    """Which finalist won by validation, over whom, by how much, and that in words."""

    architecture: str
    setting: dict[str, Any]
    validation_mean: float
    validation_error: float
    runner_up: str
    margin: float
    margin_error: float
    words: str


@_kind("lap")
@dataclass(frozen=True)
class Lap(Record):
    """One training of a contender, or a proposal without one (NaN): phase search, tune or retrain.

    `label` is an architecture text or another name for what was trained; `clock` are the seconds that the
    contender had worked when this was known; `memory` is the peak in bytes, NaN where it was not measured.
    """

    phase: str
    label: str
    setting: dict[str, Any]
    training: dict[str, Any]
    seed: int
    validation: float
    epochs: int
    seconds: float
    clock: float
    parameters: int
    memory: float


@_kind("done")
@dataclass(frozen=True)
class Done(Record):
    """The end of a run, with the result that was handed back."""

    result: dict[str, Any]


@_kind("failed")
@dataclass(frozen=True)
class Failed(Record):
    """Something that did not work out, and why."""

    what: str
    why: str


def _name(cls: type[Record]) -> str:
    return next(name for name in kinds if kinds[name] is cls)


def _types(cls: type[Record]) -> dict[str, Any]:
    """The fields of a kind with their types."""
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}  # type: ignore[arg-type]


def to_line(record: Record) -> str:
    """The JSON text of a record, without the newline."""
    fields = {name: _plain(getattr(record, name)) for name in _types(type(record))}
    return json.dumps({"kind": _name(type(record)), **fields}, ensure_ascii=False, allow_nan=False)


def from_line(line: str) -> Record:
    """The record of a line; ValueError says what is wrong with a line that is none."""
    table = json.loads(line)
    if not isinstance(table, dict) or not isinstance(table.get("kind"), str):
        raise ValueError("it is not a record")
    name = table.pop("kind")
    if name not in kinds:
        return Unknown(name, table)
    types = _types(kinds[name])
    missing = [field for field in types if field not in table]
    if missing:
        raise ValueError(f"{name} lacks {', '.join(missing)}")
    return kinds[name](**{field: _read(table[field], kind, field) for field, kind in types.items()})


def _plain(value: Any) -> Any:
    """`value` as JSON can hold it: scalars and arrays of torch and NumPy become numbers and lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _read(value: Any, kind: Any, field: str) -> Any:
    """`value` as the field's type wants it."""
    if kind is float and value is None:
        return math.nan
    wanted = (int, float) if kind is float else (get_origin(kind) or kind)
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{field} is {value!r}, which is no {getattr(kind, '__name__', kind)}")
    return float(value) if kind is float else value
