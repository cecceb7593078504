"""`tune` and `train`: the commands that take one architecture."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from sanegnn.cli.config import OUTPUT, TABLES_GIVEN, Given, Shown, by_name, chosen, flat
from sanegnn.cli.own import AIMS, Aims
from sanegnn.cli.show import result, working
from sanegnn.settings import DataChoice, Machine, Repeats, RunChoice, Seed, Setting, Training, Tuning
from sanegnn.space import Architecture

Dataset = Annotated[
    str | None,
    Parameter(
        help="a dataset by name, as `sanegnn datasets` lists them, an .npz file or a folder; else digits"
    ),
]
Arch = Annotated[str, Parameter(help="as in 'gcn,gcn' or 'gat,gin | skip,zero | concat'")]


def tune(
    dataset: Dataset = None,
    /,
    *,
    arch: Arch,
    tables: Given = TABLES_GIVEN,
    data: Annotated[DataChoice, flat("Data")] = DataChoice(),
    setting: Annotated[Setting, flat("Setting")] = Setting(),
    training: Annotated[Training, flat("Training")] = Training(),
    tuning: Annotated[Tuning, flat("Tuning")] = Tuning(),
    seed: Annotated[Seed, flat("Run")] = Seed(),
    run: Annotated[RunChoice, flat("Run")] = RunChoice(),
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    aims: Aims = AIMS,
    output: Shown = OUTPUT,
) -> None:
    """Only tune: the best setting for one architecture."""
    architecture = Architecture.parse(arch)
    from sanegnn import api

    with working(output) as listen:
        done = api.tune(
            chosen(dataset, tables),
            architecture,
            choice=data,
            setting=setting,
            training=training,
            tuning=tuning,
            seed=seed,
            run=run,
            machine=machine,
            knobs=by_name(aims),
            on_event=listen,
        )
    result(output, done, run)


def train(
    dataset: Dataset = None,
    /,
    *,
    arch: Arch,
    tables: Given = TABLES_GIVEN,
    data: Annotated[DataChoice, flat("Data")] = DataChoice(),
    setting: Annotated[Setting, flat("Setting")] = Setting(),
    training: Annotated[Training, flat("Training")] = Training(),
    repeats: Annotated[Repeats, flat("Training")] = Repeats(),
    seed: Annotated[Seed, flat("Run")] = Seed(),
    run: Annotated[RunChoice, flat("Run")] = RunChoice(),
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    aims: Aims = AIMS,
    output: Shown = OUTPUT,
) -> None:
    """Only train: one architecture with one setting, several times."""
    architecture = Architecture.parse(arch)
    from sanegnn import api

    with working(output) as listen:
        done = api.train(
            chosen(dataset, tables),
            architecture,
            choice=data,
            setting=setting,
            training=training,
            repeats=repeats,
            seed=seed,
            run=run,
            machine=machine,
            knobs=by_name(aims),
            on_event=listen,
        )
    result(output, done, run)
