"""Many graphs from a folder: a folder for each, with a table of nodes and one or several of edges.

    proteins/                       or, with parts by name:     proteins/
        lung/                                                       train/lung/ ...
            nodes.csv                                               val/liver/ ...
            edges.csv                                               test/brain/ ...
        liver/ ...

What the columns mean is found by looking at the graphs of the training part together, and all graphs are
read in that way.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from sanegnn.data.base import GraphData
from sanegnn.data.graphset import GraphSet, by_seed
from sanegnn.data.prepare import PART_WORDS, Preprocessing
from sanegnn.data.readers import Table, stacked, table
from sanegnn.data.splits import PARTS, Split
from sanegnn.data.tables import read
from sanegnn.errors import BadGraph, BadSplit
from sanegnn.settings import Columns, DataChoice

Files = dict[str, list[Path]]
"""The files of one graph, by what they hold."""


def is_folder(folder: Path) -> bool:
    """Whether a folder holds graphs."""
    return bool(members_of(folder)) or any(members_of(one) for one in _folders(folder))


def read_folder(folder: Path, choice: DataChoice, columns: Columns | None = None) -> GraphSet:
    """The graphs of a folder, the columns fitted on those of the training part of the chosen split."""
    named, members = _parts(folder)
    splits = {"public": _split(named, members)} if named else {}
    text = choice.split or ("public" if named else "0")
    split = by_seed(len(members), int(text)) if text.isdigit() else splits.get(text)
    if split is None:
        raise BadSplit(
            f"{folder} has no split {text!r}; its own are {', '.join(splits) or 'none'}; "
            "a seed such as 0 makes a 60/20/20 split"
        )
    encoding = (columns or Columns()).encoding
    nodes = [nodes_of(files["nodes"], name, encoding) for name, files in members.items()]
    trained = stacked([nodes[place] for place in split.train.tolist()])
    fitted = Preprocessing.fit(trained, columns or Columns())
    graphs = [
        graph_of(name, one, files["edges"], fitted)
        for (name, files), one in zip(members.items(), nodes, strict=True)
    ]
    _refuse_new_labels(graphs)
    name = folder.resolve().name
    return GraphSet.of(graphs, name, classes=fitted.classes, splits=splits, public=next(iter(splits), None))


def read_again(folder: Path, fitted: Preprocessing) -> list[GraphData]:
    """The graphs of a folder, their columns read as those of other graphs were."""
    _, members = _parts(folder)
    return [
        graph_of(name, nodes_of(files["nodes"], name, fitted.asked.encoding), files["edges"], fitted)
        for name, files in members.items()
    ]


def _folders(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []


def members_of(folder: Path) -> dict[str, Files]:
    """The graphs right below a folder, by their names."""
    found = {one.name: _files(one) for one in _folders(folder)}
    return {name: files for name, files in found.items() if files["nodes"] and files["edges"]}


def _files(folder: Path) -> Files:
    """The tables of a graph: nodes.csv, edges.csv, or several such as edges-2.parquet."""
    kinds: Files = {"nodes": [], "edges": []}
    for path in sorted(folder.iterdir()):
        for kind, paths in kinds.items():
            if path.is_file() and path.name.lower().startswith(kind):
                paths.append(path)
    return kinds


def _parts(folder: Path) -> tuple[dict[str, str], dict[str, Files]]:
    """The part of every graph, where folders are named after parts, and the files of every graph."""
    members = members_of(folder)
    if members:
        return {}, members
    named: dict[str, str] = {}
    for one in _folders(folder):
        part = PART_WORDS.get(one.name.lower())
        for name, files in members_of(one).items():
            if part is None:
                raise BadGraph(f"{one} holds graphs, but is none of {', '.join(PARTS)}: rename it")
            members[f"{one.name}/{name}"] = files
            named[f"{one.name}/{name}"] = part
    if not members:
        raise BadGraph(f"{folder} holds no folder with a file nodes.* and a file edges.*")
    return named, members


def _split(named: dict[str, str], members: dict[str, Files]) -> Split:
    """The split that the folders' names tell."""
    places = {part: [at for at, name in enumerate(members) if named[name] == part] for part in PARTS}
    return Split("public", *(np.array(places[part], dtype=np.int64) for part in PARTS))


def nodes_of(paths: list[Path], name: str, encoding: str) -> Table:
    """The table of a graph's nodes."""
    found = stacked([table(path, "nodes", encoding) for path in paths])
    return replace(found, name=f"{name}/{found.name}")


def graph_of(name: str, nodes: Table, edges: list[Path], fitted: Preprocessing) -> GraphData:
    """A graph, its columns read as those of other graphs were."""
    return read(nodes, list(edges), preprocessing=fitted).named(name)


def _refuse_new_labels(graphs: list[GraphData]) -> None:
    """Fail if a graph has classes that were not met in training; a model would pass them over."""
    for one in graphs:
        new = next((note for note in one.notes if "that the model does not know" in note), None)
        if new is not None:
            told = new.replace("that the model does not know", "that no training graph has")
            raise BadGraph(f"{one.name}: {told}")
