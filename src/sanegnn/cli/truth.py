"""`truth`: the command that measures a space."""

from __future__ import annotations

from typing import Annotated

from sanegnn.cli.config import OUTPUT, TABLES_GIVEN, Given, Shown, by_name, chosen, flat
from sanegnn.cli.nets import Dataset
from sanegnn.cli.own import AIMS, Aims
from sanegnn.cli.show import result, working
from sanegnn.settings import DataChoice, Machine, RunChoice, Sample, Seed, Setting, Training


def truth(
    dataset: Dataset = None,
    /,
    *,
    tables: Given = TABLES_GIVEN,
    data: Annotated[DataChoice, flat("Data")] = DataChoice(),
    sample: Annotated[Sample, flat("Search")] = Sample(),
    setting: Annotated[Setting, flat("Setting")] = Setting(),
    training: Annotated[Training, flat("Training")] = Training(),
    seed: Annotated[Seed, flat("Run")] = Seed(),
    run: Annotated[RunChoice, flat("Run")] = RunChoice(),
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    aims: Aims = AIMS,
    output: Shown = OUTPUT,
) -> None:
    """Train many architectures drawn at random, to judge searches by."""
    from sanegnn import api

    with working(output) as listen:
        done = api.truth(
            chosen(dataset, tables),
            choice=data,
            sample=sample,
            setting=setting,
            training=training,
            seed=seed,
            run=run,
            machine=machine,
            knobs=by_name(aims),
            on_event=listen,
        )
    result(output, done, run)
