"""Many graphs with a label each, held as one disjoint union."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from sanegnn.data.base import Features, Ids, Weights, is_directed, merge, stored_arrays, symmetric
from sanegnn.data.folds import fold
from sanegnn.data.splits import PARTS, Split, own_split, unknown_split

if TYPE_CHECKING:
    from sanegnn.data.prepare import Preprocessing

Targets = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class WholeGraphs:
    """Graphs of one schema with a class or a number each.

    Made by `WholeGraphs.of`, which checks and cleans; the constructor alone believes what it is given.

    Args:
        name: what scores and errors call them.
        x: features (N, F) of the nodes of all graphs, graph by graph.
        edges: (2, E), by the numbers of the nodes in the union; none leads from one graph to another.
        sizes: the number of nodes of each graph, (G,).
        y: the class of each graph (G,), int64, -1 where it is not known; or a number, float64, NaN where not.
        classes: the classes' names; none where y are numbers.
        ids: what the graphs are called, (G,).
        weight: one weight per edge (E,), or None when all are alike.
        splits: its own splits by name, of graph numbers.
        metric: the name of the score by which it is judged.
        public: the name in `splits` of its default split.
        notes: what was found and cleaned on the way in.
        preprocessing: how the columns of their nodes became features, where they came from tables.
    """

    name: str
    x: Features
    edges: Ids
    sizes: Ids
    y: Targets
    classes: tuple[str, ...]
    ids: npt.NDArray[Any]
    weight: Weights | None = None
    splits: Mapping[str, Split] = field(default_factory=dict)
    metric: str = "accuracy"
    public: str | None = None
    notes: tuple[str, ...] = ()
    preprocessing: Preprocessing | None = None
    task: str = "graphs"

    @classmethod
    def of(cls, graphs: Any, y: Any = None, name: str | None = None, **details: Any) -> WholeGraphs:
        """Check and clean a sequence of graphs.

        Args:
            graphs: each whatever `GraphData.of` reads, such as a PyG `Data`; a PyG dataset is a sequence.
            y: a label for each; otherwise each graph's own `y`, of one element. Words and whole numbers are
                classes, other numbers are to be predicted as such.
            name: their name together.
            details: `classes`, `ids`, `splits`, `metric` and `public` of the result; `numbers=True` where
                whole numbers are no classes.
        """
        from sanegnn.data.union import union

        return graphs if isinstance(graphs, cls) else union(graphs, y, name, **details)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def num_nodes(self) -> int:
        """N."""
        return int(self.x.shape[0])

    @property
    def num_features(self) -> int:
        """F."""
        return int(self.x.shape[1])

    @property
    def num_edges(self) -> int:
        """E."""
        return int(self.edges.shape[1])

    @cached_property
    def begins(self) -> Ids:
        """The first node of each graph, and N, (G+1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def graph(self) -> Ids:
        """The graph of each node, (N,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def known(self) -> Ids:
        """The graphs that have a label."""
        return np.flatnonzero(self.y >= 0 if self.classes else ~np.isnan(self.y))

    @cached_property
    def directed(self) -> bool:
        """Whether some edge has no reverse, or one of another weight."""
        return is_directed(self.edges, self.weight, self.num_nodes)

    @property
    def usual_splits(self) -> tuple[str, ...]:
        """The splits of a comparison that names none; the first is that of every other command."""
        return (self.public,) if self.public else tuple(map(str, range(10)))

    def among(self, chosen: npt.ArrayLike) -> Self:
        """Some of the graphs, in that order, without splits."""
        picked = np.asarray(chosen, dtype=np.int64)
        begin, sizes = self.begins[picked], self.sizes[picked]
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(picked) else sizes
        nodes = np.repeat(begin - first, sizes) + np.arange(sizes.sum())
        place = np.full(self.num_nodes, -1)
        place[nodes] = np.arange(len(nodes))
        kept = np.flatnonzero(place[self.edges[0]] >= 0)
        weight = None if self.weight is None else self.weight[kept]
        edges, weight = merge(place[self.edges[:, kept]], weight, len(nodes))
        return replace(
            self,
            x=self.x[nodes],
            edges=edges,
            sizes=sizes,
            y=self.y[picked],
            ids=self.ids[picked],
            weight=weight,
            splits={},
            public=None,
        )

    def resolve(self, text: str) -> Split:
        """The split that a text names: one of its own, or i, which is fold i of ten (see `folds.fold`)."""
        if (own := own_split(self, text)) is not None:
            return own
        if text.isascii() and text.isdigit():
            return fold(self.y, self.known, int(text))
        raise unknown_split(self, text, "0 to 9 are the folds of ten, by seed 0")

    def named(self, name: str, **details: Any) -> Self:
        """The same under another name (and, say, another metric)."""
        return replace(self, name=name, **details)

    def undirected(self) -> Self:
        """The same with every edge in both directions."""
        edges, weight = symmetric(self.edges, self.weight, self.num_nodes)
        added = edges.shape[1] - self.num_edges
        notes = tuple(note for note in self.notes if not note.startswith("the graph is directed"))
        notes += (f"{added:,} reverse edges added",) if added else ()
        return replace(self, edges=edges, weight=weight, notes=notes)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 over all but name, ids and notes; the same in every process and on every platform."""
        digest = hashlib.sha256()
        parts: dict[str, Any] = {"edges": self.edges, "y": self.y, "sizes": self.sizes, "weight": self.weight}
        parts |= stored_arrays(self.x)
        for key, split in sorted(self.splits.items()):
            parts |= {f"{key}/{part}": getattr(split, part) for part in PARTS}
        for key, array in parts.items():
            digest.update(f"{key}:{None if array is None else (array.shape, array.dtype.kind)};".encode())
            if array is not None:
                digest.update(np.ascontiguousarray(array).data)
        digest.update(repr((self.classes, self.metric, self.public)).encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        told = f"{len(self.classes)} classes" if self.classes else "a number each"
        return (
            f"WholeGraphs({self.name!r}, {len(self):,} graphs, {self.num_nodes:,} nodes, "
            f"{self.num_edges:,} edges, {self.num_features:,} features, {told})"
        )
