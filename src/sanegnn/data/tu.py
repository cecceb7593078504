"""The TU datasets, and whatever lies in their layout: graphs with a class or a number each.

<folder>/NAME_A.txt  NAME_graph_indicator.txt  NAME_graph_labels.txt  NAME_node_labels.txt  ...
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sanegnn.data.pyg import PyGSource
from sanegnn.data.wholegraphs import WholeGraphs
from sanegnn.errors import BadGraph
from sanegnn.settings import DataChoice

KIND, ROOT, EDGES = "TUDataset", "TUDataset", "_A.txt"


class TUSource(PyGSource):
    """A set by its TU name; the features of a node are its attributes and its label, one-hot."""

    @classmethod
    def of(cls, called: str) -> TUSource:
        """The raw files lie in `TUDataset/<called>/raw` below the data root."""
        return cls(KIND, (("name", called), ("use_node_attr", True)), ROOT, called)

    def read(self, name: str, root: Path) -> WholeGraphs:  # type: ignore[override]
        """The checked graphs."""
        return self.made(name, root, lambda opened: _graphs(opened, name))


def is_tu(folder: Path) -> bool:
    """Whether a folder has the raw files of a TU dataset, or holds a folder `raw` with them."""
    return _raw(folder) is not None


def read_tu(folder: Path, choice: DataChoice | None = None) -> WholeGraphs:  # noqa: ARG001
    """The graphs in a folder that has the raw files of a TU dataset, or holds a folder `raw` with them."""
    raw = _raw(folder)
    if raw is None:
        raise BadGraph(f"{folder} holds no file NAME{EDGES}")
    called = _named(raw)
    name = folder.resolve().name
    return TUSource.of(called).made(name, folder, lambda opened: _graphs(opened, name), raw)


def _named(raw: Path) -> str:
    """The NAME before `_A.txt`."""
    return next(path.name.removesuffix(EDGES) for path in sorted(raw.glob(f"*{EDGES}")))


def _raw(folder: Path) -> Path | None:
    places = (folder, folder / "raw")
    return next((one for one in places if one.is_dir() and any(one.glob(f"*{EDGES}"))), None)


def _graphs(opened: Callable[..., Any], name: str) -> WholeGraphs:
    graphs = list(opened())
    for one in graphs:
        if one.x is not None and not one.x.shape[1]:
            one.num_nodes, one.x = one.x.shape[0], None
    return WholeGraphs.of(graphs, name=name)
