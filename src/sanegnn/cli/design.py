"""`fit` and `search`: the commands that take a strategy, with its own knobs as `--<strategy>.<knob>`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sanegnn import api
from sanegnn.cli.config import OUTPUT, TABLES_GIVEN, Given, Shown, by_name, chosen, flat, own_options
from sanegnn.cli.own import AIMS, Aims
from sanegnn.cli.show import result, working
from sanegnn.settings import (
    DataChoice,
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
    Parameter(
        help="a dataset by name, as `sanegnn datasets` lists them, an .npz file or a folder; else digits"
    ),
]


if TYPE_CHECKING:
    Strategies = Any
else:
    Strategies = own_options({name: registered[name].knobs for name in registered}, "Strategy")

STRATEGIES = Strategies()


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
    aims: Aims = AIMS,
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
            knobs={**by_name(strategies), **by_name(aims)},
            on_event=listen,
        )
    result(output, done, run)


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
    aims: Aims = AIMS,
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
            knobs={**by_name(strategies), **by_name(aims)},
            on_event=listen,
        )
    result(output, done, run)
