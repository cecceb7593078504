"""`fit` and `search`: the commands that take a strategy, with its own knobs as `--<strategy>.<knob>`."""

from __future__ import annotations

from dataclasses import field, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from cyclopts import Parameter

from sanegnn import api
from sanegnn.cli.config import OUTPUT, TABLES_GIVEN, Given, Shown, chosen, flat
from sanegnn.cli.show import result, working
from sanegnn.settings import (
    DataChoice,
    Knobs,
    Machine,
    RunChoice,
    Search,
    Seed,
    Selection,
    Setting,
    Training,
)
from sanegnn.strategies import strategies as registered

Dataset = Annotated[
    str | None,
    Parameter(help="a dataset by name, as `sanegnn datasets` lists them, or an .npz file; otherwise digits"),
]


def _readable(knobs: type[Knobs]) -> type[Knobs]:
    """The class with types in place of their texts, which say nothing in the module of a subclass."""
    knobs.__init__.__annotations__ |= get_type_hints(knobs, include_extras=True)
    return knobs


if TYPE_CHECKING:
    Strategies = Any
else:
    Strategies = make_dataclass(
        "Strategies",
        [
            (
                name.replace("-", "_"),
                Annotated[_readable(registered[name].knobs), Parameter(group=f"Strategy {name}")],
                field(default_factory=registered[name].knobs),
            )
            for name in registered
        ],
        frozen=True,
        namespace={"__module__": __name__},
    )

STRATEGIES = Strategies()


def _by_name(strategies: Strategies) -> dict[str, Knobs]:
    return {name: getattr(strategies, name.replace("-", "_")) for name in registered}


def fit(
    dataset: Dataset = None,
    /,
    *,
    tables: Given = TABLES_GIVEN,
    data: Annotated[DataChoice, flat("Data")] = DataChoice(),
    search: Annotated[Search, flat("Search")] = Search(),
    selection: Annotated[Selection, flat("Selection")] = Selection(),
    training: Annotated[Training, flat("Training")] = Training(),
    seed: Annotated[Seed, flat("Run")] = Seed(),
    run: Annotated[RunChoice, flat("Run")] = RunChoice(),
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    strategies: Annotated[Strategies, Parameter(name="*")] = STRATEGIES,
    output: Shown = OUTPUT,
) -> None:
    """Design, tune, train and judge a net for one graph."""
    with working(output) as listen:
        done = api.fit(
            chosen(dataset, tables),
            choice=data,
            search=search,
            selection=selection,
            training=training,
            seed=seed,
            run=run,
            machine=machine,
            knobs=_by_name(strategies),
            on_event=listen,
        )
    result(output, done)


def search(
    dataset: Dataset = None,
    /,
    *,
    tables: Given = TABLES_GIVEN,
    data: Annotated[DataChoice, flat("Data")] = DataChoice(),
    search: Annotated[Search, flat("Search")] = Search(),
    setting: Annotated[Setting, flat("Setting")] = Setting(),
    training: Annotated[Training, flat("Training")] = Training(),
    seed: Annotated[Seed, flat("Run")] = Seed(),
    run: Annotated[RunChoice, flat("Run")] = RunChoice(),
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    strategies: Annotated[Strategies, Parameter(name="*")] = STRATEGIES,
    output: Shown = OUTPUT,
) -> None:
    """Only search: the architectures that a strategy ends with."""
    with working(output) as listen:
        done = api.search(
            chosen(dataset, tables),
            choice=data,
            search=search,
            setting=setting,
            training=training,
            seed=seed,
            run=run,
            machine=machine,
            knobs=_by_name(strategies),
            on_event=listen,
        )
    result(output, done)
