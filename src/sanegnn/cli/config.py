"""Options from the settings' fields, and from a TOML file with a table for every settings class.

    [search]              --restarts 5
    restarts = 5

    [paper]               --paper.epochs 100        a strategy's own knobs, under its name
    epochs = 100

The command line wins over the file, the file over the defaults. The `run.toml` of a run is such a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self, get_type_hints

from cyclopts import App, Group, Parameter
from cyclopts.argument import ArgumentCollection
from cyclopts.config import Dict

from sanegnn import settings
from sanegnn.aims import KNOBS
from sanegnn.errors import BadSetting
from sanegnn.settings import Knobs, Tables, from_toml


@dataclass(frozen=True)
class About(Knobs):
    """The table [about] of a `run.toml`: no settings, passed over."""

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:  # noqa: ARG003
        """Nothing of it is a knob."""
        return cls()


TABLES: dict[str, type[Knobs]] = {
    "tables": settings.Tables,
    "data": settings.DataChoice,
    "search": settings.Search,
    "sample": settings.Sample,
    "selection": settings.Selection,
    "field": settings.Field,
    "race": settings.Race,
    "setting": settings.Setting,
    "training": settings.Training,
    "tuning": settings.Tuning,
    "repeats": settings.Repeats,
    "seed": settings.Seed,
    "run": settings.RunChoice,
    "machine": settings.Machine,
    "about": About,
    **KNOBS,
}

GROUPS = (
    *("Data", "Field", "Race", "Search", "Selection", "Setting"),
    *("Tuning", "Training", "Run", "Machine", "Output"),
)
"""The headings of the help, in their order."""


def flat(group: str) -> Parameter:
    """A settings class whose knobs are options without a prefix, under one heading of the help."""
    return Parameter(name="*", group=Group(group, sort_key=GROUPS.index(group)))


@dataclass(frozen=True)
class Output:
    """What every command takes besides its knobs."""

    json: Annotated[bool, Parameter(help="end with one line of JSON on stdout", negative="")] = False
    quiet: Annotated[bool, Parameter(help="show no progress", negative="")] = False
    config: Annotated[Path | None, Parameter(help="TOML file of settings; options win over it")] = None


OUTPUT = Output()
TABLES_GIVEN = Tables()
Given = Annotated[Tables, flat("Data")]


def chosen(dataset: str | None, tables: Tables, default: str = "digits") -> str | Tables:
    """What a command works on: the files that were given, or a dataset by name."""
    if not tables.nodes and not tables.edges and not tables.graphs:
        return dataset or default
    if dataset is not None:
        raise BadSetting(f"a dataset, {dataset!r}, and --nodes or --edges came: give one of the two")
    if tables.graphs and (tables.nodes or tables.edges):
        raise BadSetting(f"--graphs {tables.graphs} and --nodes or --edges came: give one of the two")
    return tables


def own_options(named: Mapping[str, type[Knobs]], heading: str) -> type:
    """A class with a field for every table, whose knobs become options `--<name>.<knob>`."""
    for knobs in named.values():  # the types of inherited fields are found in the modules they come from
        knobs.__init__.__annotations__ = get_type_hints(knobs, include_extras=True)
    fields = [
        (
            name.replace("-", "_"),
            Annotated[knobs, Parameter(group=f"{heading} {name}")],
            field(default_factory=knobs, metadata={"name": name}),
        )
        for name, knobs in named.items()
    ]
    return make_dataclass("OwnOptions", fields, frozen=True, namespace={"__module__": __name__})


def by_name(options: Any) -> dict[str, Knobs]:
    """The tables of such a class."""
    return {one.metadata["name"]: getattr(options, one.name) for one in fields(options)}


Shown = Annotated[Output, flat("Output")]


def from_file(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Give the arguments that the command line left open the values of the `--config` file.

    A table that is known but that this command does not take is passed over.
    """
    tokens = [token for argument in arguments if argument.name == "--config" for token in argument.tokens]
    if tokens:
        path = Path(tokens[-1].value)
        taken = {argument.field_info.name for argument in arguments if argument.name == "*"}
        own = {argument.name.strip("-").partition(".")[0] for argument in arguments if "." in argument.name}
        Dict(data={commands[0]: _options(path, taken, own)}, source=str(path))(app, commands, arguments)


def _options(path: Path, taken: Set[str], own: Set[str]) -> dict[str, Any]:
    """The checked knobs of a file, nested as the options are named: those of `own` tables have a prefix."""
    options: dict[str, Any] = {}
    for table, knobs in from_toml(path, Known()).items():
        if table in taken:
            options |= knobs.table()
        elif table in own:
            options[table] = knobs.table()
    return options


class Known(Mapping[str, type[Knobs]]):
    """Every table by name; the strategies, which bring torch along, only when the others do not suffice."""

    @cached_property
    def _strategies(self) -> dict[str, type[Knobs]]:
        from sanegnn.baselines import contenders
        from sanegnn.strategies import strategies

        return {
            **{name: strategies[name].knobs for name in strategies},
            **{name: contenders[name].knobs for name in contenders},
        }

    def __getitem__(self, name: str) -> type[Knobs]:
        return TABLES[name] if name in TABLES else self._strategies[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**TABLES, **self._strategies})

    def __len__(self) -> int:
        return len({**TABLES, **self._strategies})
