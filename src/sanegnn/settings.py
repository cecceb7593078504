"""Every knob once: frozen dataclasses whose fields carry type, default, help, legal values and tuning range.

The API takes these objects, the command line makes its options from the same fields, and a TOML file
gives them by the same names; a name that no class knows is an error.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar, get_args, get_origin, get_type_hints

import tomli_w
from cyclopts import Parameter

from sanegnn.errors import BadSetting, UnknownName

T = TypeVar("T", bound="Knobs")
Value = str | int | float | bool


def knob(text: str) -> Parameter:
    """The help of a field, shown by the command line and in the docs."""
    return Parameter(help=text)


def several(text: str) -> Parameter:
    """The help of a field that takes any number of values."""
    return Parameter(help=text, consume_multiple=True, negative="")


@dataclass(frozen=True)
class Within:
    """Legal numbers: low <= value <= high."""

    low: float
    high: float = float("inf")

    def refuses(self, value: Any) -> str | None:
        """Why `value` is not legal, or None."""
        legal = isinstance(value, int | float) and self.low <= value <= self.high
        return None if legal else f"it must lie between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class Among:
    """Legal names."""

    names: tuple[str, ...]

    def refuses(self, value: Any) -> str | None:
        """Why `value` is not legal, or None."""
        return None if value in self.names else f"known: {', '.join(self.names)}"


@dataclass(frozen=True)
class OneOf:
    """A tuning range: any of these values."""

    values: tuple[Value, ...]


@dataclass(frozen=True)
class Span:
    """A tuning range: a number between low and high, on a log scale."""

    low: float
    high: float


class Knobs:
    """What every settings class can do: check itself, become a table, come from one."""

    def __post_init__(self) -> None:
        for name, (kind, marks) in _fields(type(self)).items():
            value = getattr(self, name)
            if isinstance(value, list):
                object.__setattr__(self, name, value := tuple(value))  # as TOML gives it
            if not _is(value, kind):
                wanted = getattr(kind, "__name__", kind)
                raise BadSetting(f"{name} = {value!r} has the wrong type: {wanted} is needed")
            if kind is float:
                object.__setattr__(self, name, float(value))  # so that 0 and 0.0 name the same run
            for mark in marks:
                known = value is not None and isinstance(mark, Within | Among)
                why = mark.refuses(value) if known else None
                if why:
                    raise BadSetting(f"{name} = {value!r} is not possible: {why}")

    def table(self) -> dict[str, Any]:
        """Name to value, as TOML and records keep it; knobs that are not set are left out."""
        pairs = ((name, getattr(self, name)) for name in _fields(type(self)))
        return {name: value for name, value in pairs if value is not None}

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The settings of a table; unknown names fail, with the near one."""
        for name in table:
            if name not in _fields(cls):
                raise UnknownName.of(f"knob of {cls.__name__}", name, _fields(cls))
        return cls(**table)

    def starting(self, usual: Mapping[str, Any]) -> Self:
        """The same with these values for the knobs of theirs that stand at their default."""
        plain = type(self)().table()
        left = {name for name, value in self.table().items() if plain.get(name) == value}
        return self.but(**{name: value for name, value in usual.items() if name in left})

    def but(self, **changes: Any) -> Self:
        """The same with some knobs changed."""
        return type(self).of({**self.table(), **changes})


@dataclass(frozen=True)
class NoKnobs(Knobs):
    """For what has nothing to turn."""


Fields = dict[str, tuple[Any, tuple[Any, ...]]]
_read: dict[type, Fields] = {}


def _fields(cls: type) -> Fields:
    """The type and the marks of every field; read once a class."""
    if cls not in _read:
        hints = get_type_hints(cls, include_extras=True)
        named = {field.name: get_args(hints[field.name]) for field in dataclasses.fields(cls)}
        _read[cls] = {name: (kind, tuple(marks)) for name, (kind, *marks) in named.items()}
    return _read[cls]


def _is(value: Any, kind: Any) -> bool:
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_is(one, get_args(kind)[0]) for one in value)
    allowed = get_args(kind) or (kind,)
    if isinstance(value, bool):
        return bool in allowed
    return isinstance(value, allowed) or (float in allowed and isinstance(value, int))


def ranges(cls: type[Knobs]) -> Iterator[tuple[str, OneOf | Span]]:
    """The knobs that tuning may turn, with their ranges."""
    for name, (_, marks) in _fields(cls).items():
        for mark in marks:
            if isinstance(mark, OneOf | Span):
                yield name, mark


ACTIVATIONS = ("relu", "elu", "leaky_relu", "tanh", "linear", "sigmoid", "softplus", "relu6")
NORMS = ("none", "batch", "layer", "pair")
SCALINGS = ("unit", "row", "raw", "standard", "auto")


@dataclass(frozen=True)
class Setting(Knobs):
    """The hyper-parameters of a net and its optimizer: not architecture, and tuned after it."""

    hidden: Annotated[int, knob("width of the hidden states"), Within(1, 4096), OneOf((32, 64, 128))] = 64
    heads: Annotated[
        int, knob("attention heads; they share the hidden width"), Within(1, 64), OneOf((1, 2, 4, 8))
    ] = 4
    activation: Annotated[
        str, knob("function after every layer"), Among(ACTIVATIONS), OneOf(("relu", "elu", "leaky_relu"))
    ] = "elu"
    norm: Annotated[
        str, knob("normalisation before the activation"), Among(NORMS), OneOf(("none", "batch", "layer"))
    ] = "none"
    residual: Annotated[bool, knob("add a layer's input to its output"), OneOf((False, True))] = False
    scaling: Annotated[
        str,
        knob("scaling of the input features; unit: rows sum to one, then the mean stored entry is one"),
        Among(SCALINGS),
        OneOf(("unit", "raw", "standard")),
    ] = "unit"
    input_dropout: Annotated[
        float, knob("share of stored input entries dropped"), Within(0, 0.99), OneOf((0.0, 0.25, 0.5, 0.7))
    ] = 0.5
    dropout: Annotated[
        float,
        knob("share of hidden entries dropped"),
        Within(0, 0.99),
        OneOf((0.0, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8)),
    ] = 0.5
    attention_dropout: Annotated[
        float, knob("share of attention coefficients dropped"), Within(0, 0.99), OneOf((0.0, 0.3, 0.6))
    ] = 0.0
    edge_dropout: Annotated[
        float,
        knob("share of edges left out of each training epoch (DropEdge)"),
        Within(0, 0.99),
        OneOf((0.0, 0.2, 0.5)),
    ] = 0.0
    teleport: Annotated[
        float,
        knob("share of the initial state in every step of APPNP and GCNII"),
        Within(0, 1),
        OneOf((0.1, 0.2, 0.5)),
    ] = 0.1
    lr: Annotated[float, knob("Adam's learning rate"), Within(1e-7, 1), Span(5e-4, 2e-2)] = 0.005
    weight_decay: Annotated[float, knob("L2 penalty on the weights"), Within(0, 1), Span(1e-6, 5e-3)] = 5e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden % self.heads:
            raise BadSetting(f"hidden {self.hidden} cannot be shared by {self.heads} heads: take a multiple")


@dataclass(frozen=True)
class Training(Knobs):
    """How long one net is trained."""

    epochs: Annotated[int, knob("epochs at the most"), Within(1)] = 300
    patience: Annotated[int, knob("epochs without a better validation score before the stop"), Within(1)] = 50

    def shortened(self, share: float) -> Training:
        """A training of that share of the epochs and of the patience, for trials."""
        return Training(max(1, round(share * self.epochs)), max(1, round(share * self.patience)))


Metric = Annotated[str | None, knob("accuracy, macro_f1, balanced_accuracy, roc_auc; the set's own")]
Aim = Annotated[str | None, knob("what is predicted: nodes, links ...; otherwise what the data is made for")]
Undirected = Annotated[bool, knob("add the reverse of every edge")]
Space = Annotated[str | None, knob("the search space by name; the task's own")]
Depth = Annotated[int | None, knob("K, the number of layers; the task's own"), Within(1, 6)]


@dataclass(frozen=True)
class DataChoice(Knobs):
    """Which part of the data is learned from, and what is scored."""

    split: Annotated[
        str | None, knob("a seed of the 60/20/20 split, or 'public' or 'public-3'; 0, or the data's only one")
    ] = None
    metric: Metric = None
    undirected: Undirected = False
    task: Aim = None


@dataclass(frozen=True)
class Columns(Knobs):
    """What the columns of node and edge tables mean; what is not said is found by looking."""

    label: Annotated[str | None, knob("column of the classes; an empty cell is to be predicted")] = None
    id: Annotated[
        str | None, knob("column of the node ids; otherwise one named like ids, or the row's number")
    ] = None
    features: Annotated[tuple[str, ...], several("columns to learn from; all others are left out")] = ()
    ignore: Annotated[tuple[str, ...], several("columns to leave out")] = ()
    kinds: Annotated[tuple[str, ...], several("what columns hold, as in year=category title=text")] = ()
    source: Annotated[str | None, knob("edge column of the ids where messages start")] = None
    target: Annotated[str | None, knob("edge column of the ids where messages arrive")] = None
    weight: Annotated[str | None, knob("edge column of weights; otherwise one named weight")] = None
    encoding: Annotated[str, knob("encoding of text files")] = "utf-8"


@dataclass(frozen=True)
class Tables(Columns):
    """A graph in files: one or several tables of nodes, one or several of edges."""

    nodes: Annotated[
        tuple[str, ...], several("files with a row for every node: CSV, TSV, Parquet, Arrow")
    ] = ()
    edges: Annotated[tuple[str, ...], several("files with a row for every edge, or edge lists")] = ()
    graphs: Annotated[str | None, knob("folder of many graphs, each a folder with nodes.* and edges.*")] = (
        None
    )

    @property
    def columns(self) -> Columns:
        """What is said of the columns alone."""
        own = ("nodes", "edges", "graphs")
        return Columns.of({name: value for name, value in self.table().items() if name not in own})


@dataclass(frozen=True)
class Search(Knobs):
    """What is searched, how, and how often from another seed."""

    strategy: Annotated[str, knob("the strategy by name")] = "paper"
    space: Space = None
    depth: Depth = None
    restarts: Annotated[int, knob("searches, each from a seed of its own"), Within(1)] = 2


@dataclass(frozen=True)
class Selection(Knobs):
    """How `fit` chooses: all candidates tuned briefly, then the better third twice as long, and so on."""

    trials: Annotated[int, knob("settings tried for every candidate in the first round"), Within(1)] = 2
    rounds: Annotated[int, knob("rounds; each keeps a third and doubles the trials"), Within(1, 6)] = 3
    finalists: Annotated[int, knob("tuned candidates that are retrained on fresh seeds"), Within(1)] = 3
    repeats: Annotated[int, knob("fresh seeds for every finalist"), Within(1)] = 5
    haste: Annotated[
        float,
        knob("the epochs and the patience of a trial, as a share of a whole training's"),
        Within(0.01, 1),
    ] = 0.5


@dataclass(frozen=True)
class Repeats(Knobs):
    """How often one architecture is trained from scratch."""

    repeats: Annotated[int, knob("trainings, each from a seed of its own"), Within(1)] = 5


@dataclass(frozen=True)
class Sample(Knobs):
    """The architectures of a ground truth: members of a space drawn at random, each trained several times."""

    architectures: Annotated[int, knob("architectures drawn, none twice"), Within(2)] = 150
    seeds: Annotated[int, knob("trainings of each, from seeds of their own"), Within(1)] = 2
    space: Space = None
    depth: Depth = None


@dataclass(frozen=True)
class Seed(Knobs):
    """The root of all randomness."""

    seed: Annotated[int, knob("every random number follows from it"), Within(0)] = 0


@dataclass(frozen=True)
class RunChoice(Knobs):
    """Where the run is kept; changes no result."""

    folder: Annotated[str, knob("where the run folders are")] = "runs"
    name: Annotated[str | None, knob("the run's name; otherwise it follows from the command")] = None
    fresh: Annotated[bool, knob("start over, even if the folder holds a run")] = False


@dataclass(frozen=True)
class Machine(Knobs):
    """Where and how the work is done; changes no result on the CPU."""

    device: Annotated[str, knob("where tensors live"), Among(("auto", "cpu", "cuda", "mps"))] = "auto"
    workers: Annotated[int, knob("jobs side by side, one thread each; 0: one for every core"), Within(0)] = 0
    data_root: Annotated[str | None, knob("folder of the raw datasets; SANEGNN_DATA otherwise")] = None


@dataclass(frozen=True)
class Tuning(Knobs):
    """The search for a setting by TPE, over the ranges beside the knobs of `Setting`."""

    trials: Annotated[int, knob("settings tried"), Within(1)] = 50
    batch: Annotated[int, knob("settings asked for at a time; they train side by side"), Within(1)] = 4


@dataclass(frozen=True)
class Field(Knobs):
    """Who takes part in a comparison, and on which splits."""

    contenders: Annotated[
        tuple[str, ...],
        several("designs, strategies, strategy@space; groups: human, search, all; commas may part them"),
    ] = ("human", "random", "paper")
    splits: Annotated[
        tuple[str, ...],
        several("each as --split takes it; commas may part them; 0 to 4, or the data's only one"),
    ] = ()


@dataclass(frozen=True)
class Race(Knobs):
    """The terms of a comparison, the same for every contender on every split."""

    metric: Metric = None
    undirected: Undirected = False
    task: Aim = None
    trials: Annotated[int, knob("settings tried by every contender"), Within(1)] = 10
    seconds: Annotated[
        float,
        knob("wall-clock budget for searching and tuning in place of trials; what is under way is finished"),
        Within(1),
    ] = math.inf
    repeats: Annotated[int, knob("fresh seeds that the chosen net is trained from"), Within(1)] = 5
    depth: Depth = None
    restarts: Annotated[
        int | None, knob("searches of a searcher, each from a seed of its own; as published"), Within(1)
    ] = None


Settings = Mapping[str, Knobs]


def to_toml(groups: Settings) -> str:
    """The text of several settings objects, a table each."""
    return tomli_w.dumps({name: knobs.table() for name, knobs in groups.items()})


def from_toml(path: Path, known: Mapping[str, type[Knobs]]) -> dict[str, Knobs]:
    """The settings objects in a TOML file; a table or knob that is not known fails."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(f"cannot read settings from {path}: {error}") from error
    for name, table in tables.items():
        if name not in known:
            raise UnknownName.of(f"table in {path}", name, known)
        if not isinstance(table, dict):
            raise BadSetting(
                f"{name} = {table!r} in {path} must be a table: write [{name}] and its knobs below"
            )
    return {name: known[name].of(table) for name, table in tables.items()}
