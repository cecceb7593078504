"""`predict`: a trained model on a graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, TABLES_GIVEN, Given, Shown, chosen, flat
from sanegnn.errors import BadSetting
from sanegnn.settings import DataChoice, Machine, Tables

if TYPE_CHECKING:
    from sanegnn.bundle.saved import Saved

MANY = 12
"""So many predictions are counted in the summary, the most frequent first."""


def predict(
    model: Annotated[Path, Parameter(help="the folder runs/<name>/model, or the run's own")],
    dataset: Annotated[str | None, Parameter(help="a dataset by name, an .npz file or a folder")] = None,
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
    from sanegnn.session import where

    loaded = bundle.load(model, where(machine.device))
    if isinstance(loaded, bundle.Matches):
        raise BadSetting(f"{model} aligns entities: `sanegnn match` writes their matches")
    given = chosen(dataset, tables, default="")
    if not given:
        raise BadSetting("nothing to predict: give --nodes and --edges, or a dataset by name")
    data = _read(loaded, given, machine)
    table = predictions(loaded, data)
    write(table, to)
    said = table["predicted"].to_pylist() if "predicted" in table.column_names and loaded.classes else []
    counts = dict(Counter(said).most_common(MANY))
    if output.json:
        return show.as_json({"nodes": len(table), "file": str(to), "classes": counts, "notes": data.notes})
    for note in data.notes:
        show.say(note)
    told = ", ".join(f"{name} {number:,}" for name, number in counts.items())
    return show.say(f"{len(table):,} {loaded.things} in {to}{': ' if told else ''}{told}")


def _read(model: Saved, given: str | Tables, machine: Machine) -> Any:
    """What to predict for, as the model reads it."""
    from sanegnn.data.folders import is_folder
    from sanegnn.data.opening import opened

    if isinstance(given, str):
        folder = model.preprocessing is not None and is_folder(Path(given))
        return model.graphs(given if folder else opened(given, DataChoice(), machine))
    if given.graphs:
        return model.graphs(given.graphs)
    return model.graph(model.read(given.nodes or None, given.edges))
