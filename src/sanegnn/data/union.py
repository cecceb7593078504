"""From a sequence of graphs to one checked union with a label for each graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sanegnn.data.checks import clean_edges, clean_features, count_nodes, degree_features, edge_ids
from sanegnn.data.interop import Raw, is_sparse, numpy_of, read
from sanegnn.data.labels import clean_labels, count
from sanegnn.data.splits import Split
from sanegnn.data.wholegraphs import WholeGraphs
from sanegnn.errors import BadGraph, BadSplit

Array = npt.NDArray[Any]


def union(
    graphs: Iterable[Any],
    y: Any = None,
    name: str | None = None,
    *,
    classes: tuple[str, ...] = (),
    ids: Sequence[Any] | None = None,
    splits: Mapping[str, Split] | None = None,
    metric: str | None = None,
    public: str | None = None,
    numbers: bool = False,
) -> WholeGraphs:
    """The graphs side by side; see `WholeGraphs.of`."""
    raws = [_read(number, one) for number, one in enumerate(graphs)]
    if not raws:
        raise BadGraph("no graph came")
    called = np.arange(len(raws)) if ids is None else np.asarray(ids)
    notes = list(dict.fromkeys(note for raw in raws for note in raw.notes))
    target, names = _labels(_own(raws) if y is None else numpy_of(y), classes, len(raws), numbers, notes)
    sizes = np.array([_size(number, raw) for number, raw in enumerate(raws)], dtype=np.int64)
    begins = np.cumsum(sizes) - sizes
    ends = [_ends(number, *pair) for number, pair in enumerate(zip(raws, sizes, strict=True))]
    shifted = [one + begin for one, begin in zip(ends, begins, strict=True)]
    nodes = int(sizes.sum())
    edges, weight = clean_edges(np.concatenate(shifted, axis=1), _weights(raws), nodes, notes)
    x = _features(raws, sizes)
    features = clean_features(x, nodes) if x is not None else degree_features(edges, nodes, notes)
    told = name or (raws[0].name if raws[0].name != "graph" else "graphs")
    judged = metric or ("accuracy" if names else "neg_mae")
    held = (features, edges, sizes, target, names, called, weight)
    made = WholeGraphs(told, *held, splits or {}, judged, public, tuple(notes))
    for split in made.splits.values():
        _refuse_strange(made, split)
    return made


def have_one_label(graphs: Sequence[Any]) -> bool:
    """Whether each graph brings a single label, for all of its nodes together."""
    return all(
        np.size(raw.y) == 1 and raw.y is not None and np.size(raw.edges) > 0 for raw in map(read, graphs)
    )


def _read(number: int, one: Any) -> Raw:
    try:
        raw = read(one)
    except BadGraph as error:
        raise BadGraph(f"graph {number}: {error}") from error
    if is_sparse(raw.edges):
        adjacency = raw.edges.tocoo()
        raw.edges, raw.num_nodes = np.stack([adjacency.row, adjacency.col]), adjacency.shape[0]
        raw.weight = None if np.all(adjacency.data == 1) else adjacency.data
    return raw


def _own(raws: Sequence[Raw]) -> Array:
    """The labels that the graphs bring, one each."""
    own = []
    for number, raw in enumerate(raws):
        label = raw.y if raw.y is None else np.asarray(raw.y).reshape(-1)
        if label is not None and len(label) != 1:
            raise BadGraph(
                f"graph {number} has {len(label):,} labels; a graph has one: give y, one for each graph"
            )
        own.append(None if label is None else label[0])
    if any(isinstance(label, str) for label in own):
        return np.asarray(own, dtype=object)
    return np.asarray([np.nan if label is None else label for label in own])


def _labels(
    y: Any, classes: tuple[str, ...], graphs: int, numbers: bool, notes: list[str]
) -> tuple[Array, tuple[str, ...]]:
    """Places in the names of the classes, or numbers and no names."""
    given = np.asarray(y)
    given = given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
    if given.shape != (graphs,):
        raise BadGraph(
            f"y has shape {given.shape}, but there are {count(graphs, 'graph')}: give one label each"
        )
    if given.dtype.kind == "f":
        there = given[~np.isnan(given)]
        numbers = numbers or not len(there) or not np.array_equal(there, np.trunc(there))
        given = given if numbers else np.where(np.isnan(given), -1, given)
    if numbers:
        return _numbers(given), ()
    return clean_labels(given, classes, graphs, notes, "graph")


def _numbers(given: Array) -> Array:
    if given.dtype.kind not in "iufb" or np.isinf(given.astype(np.float64)).any():
        raise BadGraph(
            f"y has type {given.dtype} or holds infinity; numbers to predict are finite, NaN if unknown"
        )
    return given.astype(np.float64)


def _size(number: int, raw: Raw) -> int:
    raw.y = None
    try:
        return count_nodes(raw, raw.edges)
    except BadGraph as error:
        raise BadGraph(f"graph {number}: {error}") from error


def _ends(number: int, raw: Raw, nodes: int) -> Array:
    try:
        return edge_ids(raw.edges if np.size(raw.edges) else np.zeros((2, 0), dtype=np.int64), nodes)
    except BadGraph as error:
        raise BadGraph(f"graph {number}: {error}") from error


def _weights(raws: Sequence[Raw]) -> Array | None:
    bare = [number for number, raw in enumerate(raws) if raw.weight is None]
    if len(bare) == len(raws):
        return None
    if bare:
        raise BadGraph(f"graph {bare[0]} has no edge weights, but others have: give all or none")
    return np.concatenate([np.asarray(raw.weight).reshape(-1) for raw in raws])


def _features(raws: Sequence[Raw], sizes: Array) -> Any:
    bare = [number for number, raw in enumerate(raws) if raw.x is None]
    if len(bare) == len(raws):
        return None
    if bare:
        raise BadGraph(f"graph {bare[0]} has no features, but others have: give all or none")
    wide = np.shape(raws[0].x)[1:]
    for number, raw in enumerate(raws):
        if np.shape(raw.x) != (sizes[number], *wide):
            raise BadGraph(
                f"graph {number} has features {np.shape(raw.x)}, but graph 0 has {np.shape(raws[0].x)}: "
                "graphs of one schema have the same features in the same order"
            )
    scattered = [is_sparse(raw.x) for raw in raws]
    return (
        sp.vstack([raw.x for raw in raws], format="csr")
        if any(scattered)
        else np.concatenate([np.asarray(raw.x) for raw in raws])
    )


def _refuse_strange(data: WholeGraphs, split: Split) -> None:
    known = set(data.known.tolist())
    for part in ("train", "val", "test"):
        strange = [one for one in getattr(split, part).tolist() if one not in known]
        if strange:
            raise BadSplit(
                f"split {split.name!r}: {part} names graph {strange[0]}, which is not there or has no label; "
                f"there are {count(len(data), 'graph')}"
            )
