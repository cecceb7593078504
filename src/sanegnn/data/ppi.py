"""PPI and whatever lies in its layout: many graphs, several labels for every node, parts by graph."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, ClassVar
from zipfile import BadZipFile, ZipFile

import numpy as np

from sanegnn.data import store
from sanegnn.data.base import GraphData
from sanegnn.data.graphset import GraphSet
from sanegnn.data.pyg import PyGSource
from sanegnn.data.splits import PARTS, Split
from sanegnn.errors import BadGraph
from sanegnn.settings import DataChoice

FILES = tuple(f"{part}_graph.json" for part in ("train", "valid", "test"))
"""What a folder in the layout of PPI holds, beside features, labels and graph ids."""


@dataclass(frozen=True)
class PPISource:
    """Where the raw files lie, `<root>/raw` below the data root; PyG's class reads and downloads them."""

    root: str = "PPI"
    kind: ClassVar[str] = "PPI"

    @property
    def raw(self) -> PurePosixPath:
        """Where the raw files lie below the data root."""
        return PurePosixPath(self.root, "raw")

    def read(self, name: str, root: Path) -> GraphSet:
        """The set, from the cache when its raw files are the same as before."""
        source = PyGSource(self.kind, (), self.root, "")
        raw = root / self.raw
        there = raw.is_dir() and any(raw.iterdir())
        if there and (kept := store.recalled(store.fingerprint(name, raw), load_set)) is not None:
            return kept
        made = source.made(name, root, lambda opened: _of_parts(name, opened))
        if raw.is_dir():
            store.kept(store.fingerprint(name, raw), lambda file: save_set(file, made))
        return made


def is_ppi(folder: Path) -> bool:
    """Whether a folder has the raw files of PPI, or holds a folder `raw` with them."""
    return _raw(folder) is not None


def read_ppi(folder: Path, choice: DataChoice | None = None) -> GraphSet:  # noqa: ARG001
    """The set in a folder that has the raw files of PPI, or holds a folder `raw` with them."""
    raw = _raw(folder)
    assert raw is not None
    name = folder.resolve().name
    source = PyGSource(PPISource.kind, (), "", "")
    return source.made(name, folder, lambda opened: _of_parts(name, opened), raw)


def _raw(folder: Path) -> Path | None:
    places = (folder, folder / "raw")
    return next((one for one in places if all((one / file).is_file() for file in FILES)), None)


def _of_parts(name: str, opened: Callable[..., Any]) -> GraphSet:
    """The set of PyG's three datasets."""
    graphs, labels, ends = [], [], [0]
    for part in PARTS:
        for place, one in enumerate(opened(split=part)):
            labels.append(one.y.numpy())
            plain = {"x": one.x.numpy(), "edges": one.edge_index.numpy()}
            graphs.append(GraphData.of(plain, f"{part} {place}"))
        ends.append(len(graphs))
    if len(set(ends)) < len(ends):
        raise BadGraph(f"{name}: each of train, valid and test needs a graph")
    split = Split("public", *(np.arange(*pair) for pair in pairwise(ends)))
    return GraphSet.of(graphs, name, labels, splits={"public": split}, public="public", metric="micro_f1")


def save_set(file: BinaryIO, data: GraphSet) -> None:
    """Write a set as one archive: every graph as arrays, and one JSON text."""
    words = {
        "name": data.name,
        "classes": data.classes,
        "splits": {
            key: [split.name, *(getattr(split, part).tolist() for part in PARTS)]
            for key, split in data.splits.items()
        },
        "rest": [data.metric, data.public, data.notes, data.task],
        "graphs": len(data.graphs),
    }
    with ZipFile(file, "w") as archive:
        archive.writestr("words.json", json.dumps(words))
        for place, graph in enumerate(data.graphs):
            one = io.BytesIO()
            store.save_npz(one, graph)
            archive.writestr(f"{place}.npz", one.getvalue())


def load_set(file: BinaryIO) -> GraphSet:
    """The set that `save_set` wrote."""
    try:
        with ZipFile(file) as archive:
            words = json.loads(archive.read("words.json"))
            graphs = [
                store.load_npz(io.BytesIO(archive.read(f"{place}.npz"))) for place in range(words["graphs"])
            ]
    except (BadZipFile, KeyError) as error:
        raise BadGraph(f"no set of graphs: {error}") from error
    splits = {
        key: Split(name, *(np.array(ids, dtype=np.int64) for ids in parts))
        for key, (name, *parts) in words["splits"].items()
    }
    metric, public, notes, task = words["rest"]
    classes = tuple(words["classes"])
    return GraphSet(words["name"], tuple(graphs), classes, splits, metric, public, tuple(notes), task)
