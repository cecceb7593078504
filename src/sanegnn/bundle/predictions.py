"""Predictions as a table: a row for every node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from sanegnn.bundle.calibration import temper
from sanegnn.bundle.model import Model
from sanegnn.errors import BadSetting


def predictions(model: Model, data: Any) -> Any:
    """An Arrow table: the node's id, the predicted class, its calibrated confidence, and p(class) of each."""
    graph = model.graph(data)
    odds = model.predict_proba(graph)
    best = odds.argmax(1)
    confidence = temper(odds, model.temperature)[np.arange(len(best)), best]
    columns = {
        "id": pa.array(graph.ids.tolist()),
        "predicted": pa.array([model.classes[place] for place in best]),
        "confidence": pa.array(confidence),
    }
    return pa.table({**columns, **{f"p({name})": odds[:, place] for place, name in enumerate(model.classes)}})


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
