"""`match`: the ranked matches of the entities that no link names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, Shown, flat
from sanegnn.errors import BadModel, BadSetting
from sanegnn.settings import Machine


def match(
    model: Annotated[Path, Parameter(help="the folder runs/<name>/model, or the run's own")],
    /,
    *,
    top: Annotated[int, Parameter(help="matches for every entity")] = 10,
    to: Annotated[
        Path, Parameter(name=("--output", "-o"), help="file to write: .csv, .tsv, .parquet or .arrow")
    ] = Path("matches.csv"),
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    output: Shown = OUTPUT,
) -> None:
    """Rank the entities of the other graph for every entity that is not linked yet."""
    from sanegnn import bundle
    from sanegnn.bundle.predictions import write
    from sanegnn.session import where

    if top < 1:
        raise BadSetting(f"top = {top} is not possible: ask for at least one match")
    loaded = bundle.load(model, where(machine.device))
    if not isinstance(loaded, bundle.Matches):
        raise BadModel(f"{model} aligns nothing: it is a model for `sanegnn predict`")
    table = loaded.table(top)
    write(table, to)
    count = len(loaded.entities)
    if output.json:
        return show.as_json({"entities": count, "rows": len(table), "file": str(to)})
    return show.say(f"{count:,} entities in {to}, each with up to {top} matches")
