"""A graph from tables: one of nodes, one or several of edges, as files, frames or a NetworkX graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanegnn.data.base import GraphData, Ids, Source
from sanegnn.data.cells import Misfit
from sanegnn.data.checks import clean
from sanegnn.data.interop import Raw
from sanegnn.data.labels import count
from sanegnn.data.prepare import PART_WORDS, Preprocessing
from sanegnn.data.readers import Table, stacked, table
from sanegnn.data.splits import PARTS, Split
from sanegnn.errors import BadGraph
from sanegnn.settings import Columns, Tables

ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("citing", "cited"),
    ("head", "tail"),
    ("u", "v"),
    ("node1", "node2"),
    ("id1", "id2"),
)
WEIGHTS = ("weight", "weights", "edge_weight")


def read(
    nodes: Any = None,
    edges: Any = (),
    *,
    split: str | None = None,
    name: str | None = None,
    preprocessing: Preprocessing | None = None,
    **columns: Any,
) -> GraphData:
    """The graph in a table of nodes and one or several tables of edges.

    Args:
        nodes: a file (CSV, TSV, Parquet, Arrow), a frame of pandas, polars or another library that narwhals
            knows, an Arrow table, several of these for one table below the other, a NetworkX graph (which
            holds its edges), or None where the ends of the edges are all that is known of the nodes.
        edges: the same, or an edge list; every row is an edge, source -> target.
        split: a column that says train, val or test; such a column is also found by looking.
        name: the graph's name; otherwise that of the file of nodes.
        preprocessing: what a model was fitted with; columns are then not looked at but read by it.
        columns: `label`, `id`, `features`, `ignore`, `kinds`, `source`, `target`, `weight`, `encoding`
            as in `Columns`.
    """
    if hasattr(nodes, "adjacency") and hasattr(nodes, "nodes"):
        nodes, edges = _networkx(nodes)
    asked = preprocessing.asked if preprocessing else Columns.of(columns)
    joints = [table(one, "edges", asked.encoding) for one in _several(edges)]
    if not joints:
        raise BadGraph("no table of edges came; give --edges with a file of them")
    parts = [table(one, "nodes", asked.encoding) for one in _several(nodes)]
    known = stacked(parts) if parts else _ends(joints, asked)
    return _graph(known, joints, preprocessing, asked, split, name)


def of(tables: Tables, split: str | None = None, preprocessing: Preprocessing | None = None) -> GraphData:
    """The graph in the files of a `Tables`."""
    columns: dict[str, Any] = tables.columns.table()
    return read(tables.nodes or None, tables.edges, split=split, preprocessing=preprocessing, **columns)


def _several(source: Any) -> list[Any]:
    if source is None:
        return []
    return list(source) if isinstance(source, list | tuple) else [source]


def _graph(
    nodes: Table,
    joints: Sequence[Table],
    fitted: Preprocessing | None,
    asked: Columns,
    split: str | None,
    name: str | None,
) -> GraphData:
    notes: list[str] = []
    prepared = fitted or Preprocessing.fit(nodes, asked, split if split in nodes.columns else None)
    ids = _node_ids(nodes, prepared.id)
    ends, weight = _edges(joints, ids, prepared)
    y = _labels(nodes, prepared, notes)
    raw = Raw(
        name=name or _name(nodes, joints),
        x=prepared.encode(nodes, notes),
        edges=ends,
        y=y,
        weight=weight,
        num_nodes=len(nodes),
        classes=prepared.classes,
        splits={} if fitted else _splits(nodes, prepared, y, notes),
        notes=tuple(notes),
        source=Source(np.array(ids.to_pylist(), dtype=object), prepared),
    )
    for role in ("identifier", "constant", "empty", "without a name"):
        for column in prepared.role(role) if not fitted else ():
            raw.notes += (f"column {column!r} is left out: {role}",)
    return clean(raw, edgeless=fitted is not None)


def _name(nodes: Table, joints: Sequence[Table]) -> str:
    first = nodes.name if nodes.name.count(".") else joints[0].name
    return Path(first.split(",")[0]).stem if first.count(".") else "tables"


def _id_texts(found: Table, column: str) -> Any:
    """The ids of a column as text (N,); whole numbers without a fraction."""
    cells = found.cells(column, missing=("",))
    if cells.missing.any():
        place = found.where(int(np.flatnonzero(cells.missing)[0]), column)
        raise BadGraph(f"{place}: no id; every row needs one ({int(cells.missing.sum()):,} have none)")
    if pa.types.is_integer(cells.array.type):
        return pc.cast(cells.array, pa.string())
    return cells.array if cells.is_text else pa.array(cells.texts, pa.string())


def _node_ids(nodes: Table, column: str | None) -> Any:
    """The id of every node (N,), none twice; the rows' numbers where there is no column of ids."""
    if column is None:
        return pa.array([str(row) for row in range(len(nodes))], pa.string())
    ids = _id_texts(nodes, nodes.need(column, "id"))
    if len(pc.unique(ids)) < len(ids):
        seen: dict[str, int] = {}
        for row, text in enumerate(ids.to_pylist()):
            if text in seen:
                first = nodes.where(seen[text], column)
                raise BadGraph(
                    f"{nodes.where(row, column)}: the id {text!r} is there twice, first in {first}"
                )
            seen[text] = row
    return ids


def _edges(joints: Sequence[Table], ids: Any, prepared: Preprocessing) -> tuple[Ids, Any]:
    """The edges (2, E) of all tables as rows of nodes, and their weights where a table has such."""
    ends, weights = [], []
    for found in joints:
        columns = ends_of(found, prepared.asked)
        ends.append(np.stack([_rows_of(found, column, ids, prepared) for column in columns]))
        weights.append(_weights(found, prepared.asked))
    known = [weight for weight in weights if weight is not None]
    if not known:
        return np.concatenate(ends, axis=1), None
    filled = [
        np.ones(len(found)) if weight is None else weight
        for found, weight in zip(joints, weights, strict=True)
    ]
    return np.concatenate(ends, axis=1), np.concatenate(filled)


def ends_of(found: Table, asked: Columns) -> tuple[str, str]:
    """The columns of an edge's source and target: asked for, named so, or the first two."""
    lower = {column.lower(): column for column in found.columns}
    names = next((pair for pair in ENDS if set(pair) <= set(lower)), None)
    if len(found.columns) < 2:
        raise BadGraph(
            f"{found.name}, line 1, column 1: an edge needs two columns, source and target; "
            f"there is {', '.join(map(repr, found.columns)) or 'none'}"
        )
    source, target = (lower[names[0]], lower[names[1]]) if names else found.columns[:2]
    if asked.source is not None:
        source = found.need(asked.source, "source")
    if asked.target is not None:
        target = found.need(asked.target, "target")
    return source, target


def _rows_of(found: Table, column: str, ids: Any, prepared: Preprocessing) -> Ids:
    """The row of the node that every cell of a column names (E,)."""
    texts = _id_texts(found, column)
    rows = pc.index_in(texts, value_set=ids)
    if rows.null_count:
        row = int(np.flatnonzero(pc.is_null(rows).to_numpy(zero_copy_only=False))[0])
        key = f"column {prepared.id!r}" if prepared.id else "the row numbers (--id names a column of ids)"
        told = f"no node has the id {texts[row].as_py()!r}; ids are taken from {key}"
        raise BadGraph(
            f"{found.where(row, column)}: {told}; {count(rows.null_count, 'end')} of edges like that"
        )
    places: Ids = rows.to_numpy().astype(np.int64)
    return places


def _weights(found: Table, asked: Columns) -> Any:
    """The weight of every edge of a table (E,), None where it has none."""
    lower = {column.lower(): column for column in found.columns}
    column = asked.weight or next((lower[name] for name in WEIGHTS if name in lower), None)
    if column is None:
        return None
    cells = found.cells(found.need(column, "weight"))
    try:
        values = cells.numbers()
    except Misfit as misfit:
        raise found.error(misfit, column) from misfit
    wrong = np.flatnonzero(~(values >= 0))
    if len(wrong):
        came = "no weight" if np.isnan(values[wrong[0]]) else f"the weight {values[wrong[0]]:g}"
        raise BadGraph(
            f"{found.where(int(wrong[0]), column)}: {came}; every edge needs one that is not negative"
        )
    return values


def _labels(nodes: Table, prepared: Preprocessing, notes: list[str]) -> Any:
    """The class of every node as a place in the class names (N,), -1 where there is none."""
    label = prepared.asked.label
    if label is None or label not in nodes.columns:
        return None
    place = {name: index for index, name in enumerate(prepared.classes)}
    texts = nodes.cells(label).texts
    new = {text for text in texts if text is not None} - set(place)
    if new:
        notes.append(f"{count(len(new), 'label')} that the model does not know, such as {min(new)!r}")
    return np.array([place.get(text or "", -1) for text in texts], dtype=np.int64)


def _splits(nodes: Table, prepared: Preprocessing, y: Any, notes: list[str]) -> dict[str, Split]:
    """A split for every column that says train, val and test; nodes without a label are in no part."""
    return {column: _split(nodes, column, y, notes) for column in prepared.role("split")}


def _split(nodes: Table, column: str, y: Any, notes: list[str]) -> Split:
    texts = nodes.cells(column).texts
    words = [None if text is None else PART_WORDS.get(text.lower(), text) for text in texts]
    none = (None, "none", "unlabelled", "unlabeled")
    strange = next((row for row, word in enumerate(words) if word not in (*PARTS, *none)), None)
    if strange is not None:
        raise BadGraph(f"{nodes.where(strange, column)}: {texts[strange]!r} is not train, val, test or empty")
    found = np.array([word or "" for word in words])
    labelled = np.zeros(len(nodes), dtype=bool) if y is None else y >= 0
    if bare := int((np.isin(found, PARTS) & ~labelled).sum()):
        notes.append(f"{count(bare, 'node')} of the split {column!r} without a label, left out of it")
    masks = [(found == part) & labelled for part in PARTS]
    return Split.from_masks(column, *masks)


def _ends(joints: Sequence[Table], asked: Columns) -> Table:
    """A table of nodes from the ends of the edges alone."""
    texts = [_id_texts(found, column) for found in joints for column in ends_of(found, asked)]
    ids = sorted(set(pa.chunked_array(texts).to_pylist()), key=lambda text: (len(text), text))
    return Table("the ends of the edges", pa.table({"id": pa.array(ids, pa.string())}))


def _networkx(graph: Any) -> tuple[Table, Table]:
    """The tables of a NetworkX graph: node attributes are columns, the edge attribute `weight` weighs."""
    rows = [{"id": str(node), **attributes} for node, attributes in graph.nodes(data=True)]
    columns = dict.fromkeys(key for row in rows for key in row)
    try:
        nodes = pa.table({key: pa.array([row.get(key) for row in rows]) for key in columns})
    except (pa.ArrowException, TypeError) as error:
        raise BadGraph(f"an attribute of the nodes has mixed types: {error}; make it one type") from error
    ends = [(str(source), str(target), data.get("weight")) for source, target, data in graph.edges(data=True)]
    if not graph.is_directed():
        ends += [(target, source, weight) for source, target, weight in ends]
    named = {key: [end[place] for end in ends] for place, key in enumerate(("source", "target", "weight"))}
    if all(weight is None for weight in named["weight"]):
        del named["weight"]
    return Table("the nodes", nodes), Table("the edges", pa.table(named))
