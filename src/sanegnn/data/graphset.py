"""Many graphs of one schema: the same features and classes, and splits that give whole graphs to a part."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sanegnn.data.base import Features, GraphData, Ids, Weights
from sanegnn.data.labels import count
from sanegnn.data.splits import PARTS, Split, own_split, unknown_split
from sanegnn.errors import BadGraph, BadSplit
from sanegnn.seeds import generator


@dataclass(frozen=True, eq=False)
class GraphSet:
    """Graphs with a name each, and which of them are learned from, chosen by and judged by.

    Made by `GraphSet.of`, which checks; the constructor alone believes what it is given.

    Args:
        name: what scores and errors call it.
        graphs: each a `GraphData`; where a node may have several labels, their y is (N, C) of 0 and 1.
        classes: the classes' names, the same for all graphs.
        splits: its own splits by name, of graph numbers.
        metric: the name of the score by which it is judged.
        public: the name in `splits` of its default split.
        notes: what was found and cleaned on the way in.
        task: what it is made for.
    """

    name: str
    graphs: tuple[GraphData, ...]
    classes: tuple[str, ...]
    splits: Mapping[str, Split] = field(default_factory=dict)
    metric: str = "accuracy"
    public: str | None = None
    notes: tuple[str, ...] = ()
    task: str = "inductive"

    @classmethod
    def of(
        cls,
        graphs: Iterable[Any],
        name: str = "graphs",
        labels: Sequence[npt.ArrayLike] | None = None,
        **details: Any,
    ) -> Self:
        """Check and clean graphs, each whatever `GraphData.of` reads.

        Args:
            graphs: at least three, so that each part gets one.
            name: their name together.
            labels: the labels of the nodes of every graph (N, C), each 0 or 1, if a graph has not its own.
            details: `classes`, `splits`, `metric`, `public` and `task` of the result.
        """
        members = tuple(one if isinstance(one, GraphData) else GraphData.of(one) for one in graphs)
        if labels is not None:
            members, classes = _with_labels(members, labels, tuple(details.pop("classes", ())))
        else:
            members, classes = _with_classes(members, tuple(details.pop("classes", ())))
        _refuse_unlike(members)
        notes = (
            tuple(dict.fromkeys(note for one in members for note in one.notes)) if len(members) < 9 else ()
        )
        made = cls(name, members, classes, notes=notes, **details)
        for split in made.splits.values():
            made.refuse_strange(split)
        return made

    @cached_property
    def several(self) -> bool:
        """Whether a node may have several labels."""
        return self.graphs[0].y.ndim == 2

    @property
    def num_features(self) -> int:
        """F."""
        return self.graphs[0].num_features

    @property
    def num_classes(self) -> int:
        """C."""
        return len(self.classes)

    @property
    def usual_splits(self) -> tuple[str, ...]:
        """The splits of a comparison that names none; the first is that of every other command."""
        return ("public",) if self.public else ("0", "1", "2", "3", "4")

    @cached_property
    def checksum(self) -> str:
        """SHA-256 over the graphs, their order, the splits, the classes and the metric."""
        digest = hashlib.sha256()
        for one in self.graphs:
            digest.update(one.checksum.encode())
        for key, split in sorted(self.splits.items()):
            digest.update(repr((key, *(getattr(split, part).tolist() for part in PARTS))).encode())
        digest.update(repr((self.classes, self.metric, self.public, self.task)).encode())
        return digest.hexdigest()

    def named(self, name: str, **details: Any) -> Self:
        """The same under another name (and, say, another metric)."""
        return replace(self, name=name, **details)

    def undirected(self) -> Self:
        """The same with every edge of every graph in both directions."""
        return replace(self, graphs=tuple(one.undirected() for one in self.graphs))

    def resolve(self, text: str) -> Split:
        """The split that a text names: a seed, "public", or one of its own."""
        if (own := own_split(self, text)) is not None:
            return own
        if text.isascii() and text.isdigit():
            return by_seed(len(self.graphs), int(text))
        raise unknown_split(self, text, "a seed such as 0 makes a 60/20/20 split")

    def refuse_strange(self, split: Split) -> None:
        """Fail if a split names graphs that are not there."""
        largest = max(int(getattr(split, part).max()) for part in PARTS)
        if largest >= len(self.graphs):
            raise BadSplit(
                f"split {split.name!r} names graph {largest}, but {self.name} has {len(self.graphs)} graphs"
            )

    def __repr__(self) -> str:
        nodes = sum(one.num_nodes for one in self.graphs)
        return (
            f"GraphSet({self.name!r}, {len(self.graphs):,} graphs, {nodes:,} nodes, "
            f"{self.num_features:,} features, {self.num_classes} {'labels' if self.several else 'classes'})"
        )


def by_seed(graphs: int, seed: int) -> Split:
    """60/20/20 of the graphs, each part at least one."""
    if graphs < 3:
        raise BadSplit(
            f"{count(graphs, 'graph')} cannot be split: training, validation and test need one each"
        )
    order: Ids = generator(seed, "graphs").permutation(graphs)
    held = max(1, round(graphs / 5))
    parts = (order[2 * held :], order[:held], order[held : 2 * held])
    return Split(f"60/20/20 seed {seed}", *(np.sort(part) for part in parts))


def _refuse_unlike(graphs: Sequence[GraphData]) -> None:
    """Fail unless all graphs have the same features and the same kind of labels."""
    if not graphs:
        raise BadGraph("no graph came")
    first = graphs[0]
    for one in graphs:
        if one.num_features != first.num_features:
            raise BadGraph(
                f"{one.name} has {one.num_features:,} features, but {first.name} has {first.num_features:,}: "
                "graphs of one schema have the same features in the same order"
            )
        if (one.weight is None) != (first.weight is None):
            bare, heavy = (one, first) if one.weight is None else (first, one)
            raise BadGraph(f"{heavy.name} has edge weights, but {bare.name} has none: give all or none")


def _with_classes(
    graphs: Sequence[GraphData], classes: tuple[str, ...]
) -> tuple[tuple[GraphData, ...], tuple[str, ...]]:
    """Graphs whose classes are places in one tuple of names."""
    names = classes or tuple(sorted({one for graph in graphs for one in graph.classes}, key=_in_order))
    place = {name: number for number, name in enumerate(names)}
    found = []
    for graph in graphs:
        strange = next((name for name in graph.classes if name not in place), None)
        if strange is not None:
            raise BadGraph(f"{graph.name} has the class {strange!r}, which is not among {', '.join(names)}")
        own = np.array([place[name] for name in graph.classes] + [-1], dtype=np.int64)
        found.append(replace(graph, y=own[graph.y], classes=names))
    return tuple(found), names


def _in_order(name: str) -> tuple[int, str]:
    """Numbers by their size, before words."""
    return (int(name), "") if name.isdigit() else (10**9, name)


def _with_labels(
    graphs: Sequence[GraphData], labels: Sequence[npt.ArrayLike], classes: tuple[str, ...]
) -> tuple[tuple[GraphData, ...], tuple[str, ...]]:
    """Graphs whose nodes have labels (N, C) of 0 and 1."""
    found = []
    for graph, given in zip(graphs, labels, strict=True):
        y = np.asarray(given)
        wide = len(classes) or np.shape(labels[0])[1]
        if y.shape != (graph.num_nodes, wide):
            raise BadGraph(
                f"the labels of {graph.name} have shape {y.shape}; they must be ({graph.num_nodes:,}, {wide})"
            )
        wrong = np.argwhere((y != 0) & (y != 1))
        if len(wrong):
            row, column = wrong[0]
            raise BadGraph(
                f"label {column} of node {row} of {graph.name} is {y[row, column]}; "
                "where a node may have several labels each is 0 or 1"
            )
        names = classes or tuple(map(str, range(wide)))
        found.append(replace(graph, y=y.astype(np.int64), classes=names))
    return tuple(found), found[0].classes if found else classes


@dataclass(frozen=True, eq=False)
class Union:
    """Several graphs as one, none joined to another: what a step reads of them together."""

    x: Features
    edges: Ids
    weight: Weights | None
    y: Ids

    @classmethod
    def of(cls, graphs: Sequence[GraphData]) -> Self:
        """Nodes and edges in the order of the graphs."""
        starts = np.cumsum([0, *(one.num_nodes for one in graphs)])
        edges = [one.edges + start for one, start in zip(graphs, starts, strict=False)]
        weights = [one.weight for one in graphs if one.weight is not None]
        return cls(
            features_of(graphs),
            np.concatenate(edges, axis=1),
            np.concatenate(weights) if weights else None,
            np.concatenate([one.y for one in graphs]),
        )


def features_of(graphs: Sequence[GraphData]) -> Features:
    """The features of all nodes of several graphs, sparse where most of them are."""
    if sum(one.is_sparse for one in graphs) > len(graphs) / 2:
        return sp.csr_array(sp.vstack([sp.csr_array(one.x) for one in graphs]))
    return np.concatenate([one.x if isinstance(one.x, np.ndarray) else one.x.toarray() for one in graphs])
