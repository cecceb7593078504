"""One graph as plain arrays: what every loader makes and every task reads."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sanegnn.data.splits import PARTS, Split

if TYPE_CHECKING:
    from sanegnn.data.prepare import Preprocessing

Features = npt.NDArray[np.float32] | sp.csr_array
Ids = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]


class Data(Protocol):
    """What a task is made of: one graph, many, a pair of them."""

    @property
    def name(self) -> str:
        """What scores and errors call it."""

    @property
    def metric(self) -> str:
        """The score by which it is judged."""

    @property
    def task(self) -> str:
        """The task that it is made for, by its name in `tasks`."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found and cleaned on the way in."""

    @property
    def usual_splits(self) -> tuple[str, ...]:
        """The splits of a comparison that names none; the first is that of every other command."""

    @property
    def checksum(self) -> str:
        """SHA-256 over all that results depend on."""

    def named(self, name: str, **details: Any) -> Self:
        """The same under another name (and, say, another metric)."""

    def undirected(self) -> Self:
        """The same with every edge in both directions."""


@dataclass(frozen=True, eq=False)
class Source:
    """The tables that a graph was read from: the id of every node, and how its features were made."""

    ids: npt.NDArray[Any]
    preprocessing: Preprocessing


@dataclass(frozen=True, eq=False)
class GraphData:
    """A graph with node features, labels and its own splits.

    Made by `GraphData.of`, which checks and cleans; the constructor alone believes what it is given.

    Args:
        name: what scores and errors call it.
        x: features (N, F), float32; CSR where few entries are not zero.
        edges: (2, E), int64, row 0 the source, row 1 the target; a message flows source -> target. An
            undirected graph holds both directions. Sorted by source, then target; none twice, no self-loop.
        y: class of each node (N,), int64; -1 where unlabelled.
        classes: the classes' names; y holds places in it.
        weight: one weight per edge (E,), or None when all are alike.
        splits: the dataset's own splits by name.
        metric: the name of the score by which this dataset is judged.
        public: the name in `splits` of its default split.
        notes: what was found and cleaned on the way in.
        source: the tables it was read from, if it was.
    """

    task: ClassVar[str] = "nodes"

    name: str
    x: Features
    edges: Ids
    y: Ids
    classes: tuple[str, ...]
    weight: Weights | None = None
    splits: Mapping[str, Split] = field(default_factory=dict)
    metric: str = "accuracy"
    public: str | None = None
    notes: tuple[str, ...] = ()
    source: Source | None = None

    @property
    def usual_splits(self) -> tuple[str, ...]:
        """Five seeds."""
        return "0", "1", "2", "3", "4"

    @property
    def ids(self) -> npt.NDArray[Any]:
        """What the nodes are called (N,): the ids of their table, else their numbers."""
        return self.source.ids if self.source else np.arange(self.num_nodes)

    @classmethod
    def of(cls, obj: Any, name: str | None = None, **details: Any) -> GraphData:
        """Check and clean whatever holds a graph.

        Args:
            obj: a GraphData, a PyG `Data` (or a dataset of one), a mapping with any of the keys `x`,
                `edges` (or `edge_index`), `y`, `weight`, `train_mask`, `val_mask`, `test_mask`, `splits`,
                `classes`, `num_nodes`, or a tuple (x, edges, y). `edges` is (2, E) ids or a SciPy sparse
                adjacency whose entry [i, j] is the edge i -> j.
            name: its name; otherwise the object's own, or "graph".
            details: `metric` and `public` of the result; `edgeless` where no edge is needed, to predict.

        What is cleaned, each with a note: self-loops are dropped (aggregators add a node to its own
        neighbourhood), duplicate edges become one (their weights are added), features that are missing
        become a constant and the degree. Isolated nodes and directions stay as they are.
        """
        from sanegnn.data.checks import clean
        from sanegnn.data.interop import read

        return clean(read(obj, name), **details)

    def named(self, name: str, **details: Any) -> GraphData:
        """The same graph under another name (and, say, another metric)."""
        return replace(self, name=name, **details)

    @property
    def num_nodes(self) -> int:
        """N."""
        return int(self.x.shape[0])

    @property
    def num_edges(self) -> int:
        """E; an undirected edge counts twice, once for each direction."""
        return int(self.edges.shape[1])

    @property
    def num_features(self) -> int:
        """F."""
        return int(self.x.shape[1])

    @property
    def num_classes(self) -> int:
        """C."""
        return len(self.classes)

    @property
    def is_sparse(self) -> bool:
        """Whether the features are CSR."""
        return not isinstance(self.x, np.ndarray)

    @cached_property
    def directed(self) -> bool:
        """Whether some edge has no reverse, or one of another weight."""
        return is_directed(self.edges, self.weight, self.num_nodes)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 over all but name, notes and source; the same in every process and on every platform."""
        digest = hashlib.sha256()
        parts: dict[str, npt.NDArray[Any] | None] = {"edges": self.edges, "y": self.y, "weight": self.weight}
        parts |= stored_arrays(self.x)
        for key, split in sorted(self.splits.items()):
            parts |= {f"{key}/{part}": getattr(split, part) for part in PARTS}
        for key, array in parts.items():
            digest.update(f"{key}:{None if array is None else array.shape};".encode())
            if array is not None:
                kind = "<f4" if array.dtype.kind == "f" else "<i8"
                digest.update(np.ascontiguousarray(array, dtype=kind).data)
        digest.update(repr((self.classes, self.metric, self.public)).encode())
        return digest.hexdigest()

    def undirected(self) -> GraphData:
        """The graph with every edge in both directions; of two unequal weights the larger counts."""
        edges, weight = symmetric(self.edges, self.weight, self.num_nodes)
        notes = tuple(note for note in self.notes if not note.startswith("the graph is directed"))
        added = edges.shape[1] - self.num_edges
        notes += (f"{added:,} reverse edges added",) if added else ()
        return replace(self, edges=edges, weight=weight, notes=notes)

    def __repr__(self) -> str:
        return (
            f"GraphData({self.name!r}, {self.num_nodes:,} nodes, {self.num_edges:,} edges, "
            f"{self.num_features:,} features, {self.num_classes} classes)"
        )


def stored_arrays(x: Features) -> dict[str, npt.NDArray[Any] | None]:
    """The arrays that make up the features, CSR in canonical order."""
    if isinstance(x, np.ndarray):
        return {"x": x}
    canonical = x if x.has_canonical_format else x.copy()
    canonical.sum_duplicates()
    return {"x.indptr": canonical.indptr, "x.indices": canonical.indices, "x.data": canonical.data}


def edge_keys(edges: Ids, nodes: int) -> Ids:
    """Number source * N + target, one number per edge (E,)."""
    keys: Ids = edges[0] * nodes + edges[1]
    return keys


def merge(
    edges: Ids, weight: Weights | None, nodes: int, reduce: np.ufunc = np.add
) -> tuple[Ids, Weights | None]:
    """Sort the edges by source and target, and reduce those that are there more than once to one."""
    keys = edge_keys(edges, nodes)
    if np.all(keys[1:] > keys[:-1]):
        return edges, weight
    if weight is None:
        keys.sort()
        first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        keys = keys[first]
    else:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        weight = reduce.reduceat(weight[order], first).astype(np.float32)
        keys = keys[first]
    return np.stack(np.divmod(keys, nodes)), weight


def symmetric(edges: Ids, weight: Weights | None, nodes: int) -> tuple[Ids, Weights | None]:
    """Every edge with its reverse, the larger weight of the two on both."""
    both = np.concatenate([edges, edges[::-1]], axis=1)
    return merge(both, None if weight is None else np.tile(weight, 2), nodes, np.maximum)


def is_directed(edges: Ids, weight: Weights | None, nodes: int) -> bool:
    """Whether sorted, unique edges differ from their reverses, or in the reverse's weight."""
    reverse, turned = merge(edges[::-1], weight, nodes)
    if not np.array_equal(reverse, edges):
        return True
    return weight is not None and turned is not None and not np.array_equal(weight, turned)
