"""`predict`: a trained model on a graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, TABLES_GIVEN, Given, Shown, chosen, flat
from sanegnn.errors import BadSetting
from sanegnn.settings import DataChoice, Machine


def predict(
    model: Annotated[Path, Parameter(help="the folder runs/<name>/model, or the run's own")],
    dataset: Annotated[str | None, Parameter(help="a dataset by name, or an .npz file")] = None,
    /,
    *,
    to: Annotated[
        Path, Parameter(name=("--output", "-o"), help="file to write: .csv, .tsv, .parquet or .arrow")
    ] = Path("predictions.csv"),
    tables: Given = TABLES_GIVEN,
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    output: Shown = OUTPUT,
) -> None:
    """Predict the classes of the nodes of a graph with a model of a run."""
    from sanegnn import bundle
    from sanegnn.bundle.predictions import predictions, write
    from sanegnn.data.opening import opened
    from sanegnn.session import where

    loaded = bundle.load(model, where(machine.device))
    given = chosen(dataset, tables, default="")
    if not given:
        raise BadSetting("nothing to predict: give --nodes and --edges, or a dataset by name")
    read = loaded.read(tables.nodes or None, tables.edges) if tables.edges or tables.nodes else None
    data = loaded.graph(read or opened(given, DataChoice(), machine))
    table = predictions(loaded, data)
    write(table, to)
    counts = dict(Counter(table["predicted"].to_pylist()).most_common())
    if output.json:
        return show.as_json({"nodes": len(table), "file": str(to), "classes": counts, "notes": data.notes})
    for note in data.notes:
        show.say(note)
    told = ", ".join(f"{name} {number:,}" for name, number in counts.items())
    return show.say(f"{len(table):,} nodes in {to}: {told}")
