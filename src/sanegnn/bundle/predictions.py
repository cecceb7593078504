"""Predictions as a table: a row for every node."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from sanegnn.bundle.graphs import GraphsModel
from sanegnn.bundle.links import LinkModel
from sanegnn.bundle.model import Model
from sanegnn.bundle.saved import Saved
from sanegnn.data import GraphData
from sanegnn.data.graphset import GraphSet
from sanegnn.errors import BadModel, BadSetting


def predictions(model: Saved, data: Any) -> Any:
    """An Arrow table: the node's id, the predicted class, its calibrated confidence, and p(class) of each.

    Where a node may have several labels, the predicted ones are joined by `|`, and the probabilities are
    calibrated. Of a set of graphs, a first column names the graph. A model of links gives, for every node,
    the partners that are most likely among those it is not joined with. One of whole graphs has a row for
    each graph.
    """
    if isinstance(model, GraphsModel):
        return model.table(data)
    if isinstance(model, LinkModel):
        return _links(model, model.graph(data))
    if not isinstance(model, Model):
        raise BadModel(f"a model of task {model.task!r} has no predictions by node")
    if isinstance(data, GraphSet):
        return pa.concat_tables([_table(model, one, {"graph": one.name}) for one in data.graphs])
    return _table(model, model.graph(data), {})


def _table(model: Model, graph: GraphData, named: Mapping[str, str]) -> Any:
    odds = model.predict_proba(graph)
    columns = {name: pa.array([text] * len(odds)) for name, text in named.items()}
    columns["id"] = pa.array(graph.ids.tolist())
    columns |= _several(model, odds) if model.several else _one(model, odds)
    odds = model.tempered(odds) if model.several else odds
    return pa.table({**columns, **{f"p({name})": odds[:, place] for place, name in enumerate(model.classes)}})


def _links(model: LinkModel, graph: GraphData) -> Any:
    pairs, chances = model.suggested(graph)
    source, target = (pa.array(graph.ids[ends].tolist()) for ends in pairs)
    return pa.table({"source": source, "target": target, "p(link)": chances})


def _one(model: Model, odds: Any) -> dict[str, Any]:
    best = odds.argmax(1)
    confidence = model.tempered(odds)[np.arange(len(best)), best]
    named = [model.classes[place] for place in best]
    return {"predicted": pa.array(named), "confidence": pa.array(confidence)}


def _several(model: Model, odds: Any) -> dict[str, Any]:
    names = np.asarray(model.classes)
    return {"predicted": pa.array(["|".join(names[row]) for row in odds > 0.5])}


def _as_csv(delimiter: str) -> Any:
    return lambda table, path: pyarrow.csv.write_csv(
        table, path, pyarrow.csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    )


WRITERS: dict[str, Any] = {
    ".csv": _as_csv(","),
    ".tsv": _as_csv("\t"),
    ".parquet": pyarrow.parquet.write_table,
    ".arrow": pyarrow.feather.write_feather,
    ".feather": pyarrow.feather.write_feather,
}


def write(table: Any, path: Path) -> None:
    """Write a table in the format that the path ends in."""
    if path.suffix not in WRITERS:
        raise BadSetting(f"cannot write {path}: known endings are {', '.join(WRITERS)}")
    try:
        WRITERS[path.suffix](table, path)
    except OSError as error:
        raise BadSetting(f"cannot write {path}: {error.strerror or error}") from error
