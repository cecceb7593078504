"""Many graphs with a label each from a folder: a folder for each graph, and a table of the labels.

    molecules/
        graphs.csv          id,label: the name of a folder and its class or number; empty: to be predicted
        aspirin/
            nodes.csv
            edges.csv
        caffeine/ ...

A column of graphs.csv that says train, val or test for each labelled graph is a split of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sanegnn.data.folders import Files, graph_of, members_of, nodes_of
from sanegnn.data.prepare import PART_WORDS, Preprocessing
from sanegnn.data.readers import Table, stacked, table
from sanegnn.data.splits import PARTS, Split
from sanegnn.data.wholegraphs import WholeGraphs
from sanegnn.errors import BadGraph
from sanegnn.settings import Columns, DataChoice

LABELS = "graphs"


def is_labelled(folder: Path) -> bool:
    """Whether a folder holds graphs and a table of their labels."""
    return _table(folder) is not None and bool(members_of(folder))


def read_labelled(folder: Path, choice: DataChoice, columns: Columns | None = None) -> WholeGraphs:
    """The graphs of a folder, the columns of their nodes fitted on the training part of the chosen split."""
    told = _table(folder)
    if told is None:
        raise BadGraph(f"{folder} holds no table graphs.csv with the label of each graph")
    members = members_of(folder)
    words = _words(told, "label", members)
    parts = _words(told, "split", members) if "split" in told.columns else {}
    y = _labels([words.get(name) for name in members])
    split = {"public": _split(parts, list(members))} if parts else {}
    bare = _bare(folder.resolve().name, y, len(members), split)
    chosen = bare.resolve(choice.split or bare.usual_splits[0])
    asked = columns or Columns()
    nodes = [nodes_of(files["nodes"], name, asked.encoding) for name, files in members.items()]
    fitted = Preprocessing.fit(stacked([nodes[place] for place in chosen.train.tolist()]), asked)
    return _read(bare.name, members, nodes, fitted, y, split)


def read_again(folder: Path, fitted: Preprocessing) -> WholeGraphs:
    """The graphs of a folder, their columns read as those of other graphs were; labels are not looked at."""
    members = members_of(folder)
    if not members:
        raise BadGraph(f"{folder} holds no folder with a file nodes.* and a file edges.*")
    nodes = [nodes_of(files["nodes"], name, fitted.asked.encoding) for name, files in members.items()]
    return _read(folder.resolve().name, members, nodes, fitted, np.full(len(members), np.nan), {})


def _read(
    name: str,
    members: Mapping[str, Files],
    nodes: list[Table],
    fitted: Preprocessing,
    y: Any,
    splits: Mapping[str, Split],
) -> WholeGraphs:
    graphs = [
        graph_of(called, one, files["edges"], fitted)
        for (called, files), one in zip(members.items(), nodes, strict=True)
    ]
    public = next(iter(splits), None)
    found = WholeGraphs.of(graphs, y, name, ids=list(members), splits=splits, public=public)
    return replace(found, preprocessing=fitted)


def _table(folder: Path) -> Table | None:
    paths = sorted(path for path in folder.glob(f"{LABELS}.*") if path.is_file()) if folder.is_dir() else []
    return table(paths[0], LABELS) if paths else None


def _words(told: Table, column: str, members: Mapping[str, Any]) -> dict[str, str]:
    """What a column says of each graph, where it says something."""
    ids = [str(one) for one in told.data[told.need("id", "the graphs")].to_pylist()]
    values = told.data[told.need(column, "their labels")].to_pylist()
    strange = [one for one in ids if one not in members]
    if strange:
        raise BadGraph(f"{told.name} names graph {strange[0]!r}, but no folder of that name holds a graph")
    twice = {one for one in ids if ids.count(one) > 1} if len(set(ids)) < len(ids) else set()
    if twice:
        raise BadGraph(f"{told.name} names graph {sorted(twice)[0]!r} more than once")
    return {one: str(value) for one, value in zip(ids, values, strict=True) if value not in (None, "")}


def _labels(words: list[str | None]) -> Any:
    """Numbers where all labels are such, else words."""
    try:
        return np.array([np.nan if word is None else float(word) for word in words])
    except ValueError:
        return np.array(words, dtype=object)


def _split(words: Mapping[str, str], names: list[str]) -> Split:
    """The split that a column tells."""
    told = [PART_WORDS.get(words.get(name, "").lower()) for name in names]
    return Split("public", *(np.flatnonzero([one == wanted for one in told]) for wanted in PARTS))


def _bare(name: str, y: Any, graphs: int, splits: Mapping[str, Split]) -> WholeGraphs:
    """The labels and splits alone, under graphs of two nodes, so that a split can be chosen."""
    edge = {"x": np.ones((2, 1), dtype=np.float32), "edges": np.array([[0], [1]])}
    public = next(iter(splits), None)
    return WholeGraphs.of([edge] * graphs, y, name, splits=splits, public=public)
