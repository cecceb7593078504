"""What a graph must be, and what is put right without asking: raw arrays in, a GraphData or BadGraph out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sanegnn.data.base import Features, GraphData, Ids, Weights, is_directed, merge
from sanegnn.data.interop import Raw, is_sparse
from sanegnn.data.labels import clean_labels, count
from sanegnn.data.splits import PARTS, Split
from sanegnn.errors import BadGraph, BadSplit

SPARSE_BELOW = 0.2
STAND_IN = "no features came: a constant and the log of the in-degree stand in"
Notes = list[str]


def clean(
    raw: Raw, metric: str | None = None, public: str | None = None, edgeless: bool = False
) -> GraphData:
    """The checked graph of `raw`; see `GraphData.of`."""
    notes: Notes = list(raw.notes)
    edges, weight = raw.edges, raw.weight
    if is_sparse(edges):
        edges, weight, raw.num_nodes = _from_adjacency(edges, weight)
    nodes = count_nodes(raw, edges)
    edges, weight = clean_edges(edges, weight, nodes, notes, edgeless)
    x = clean_features(raw.x, nodes) if raw.x is not None else degree_features(edges, nodes, notes)
    y, classes = clean_labels(raw.y, raw.classes, nodes, notes)
    splits = {**raw.splits, **_splits_of_masks(raw.masks, nodes, notes)}
    for split in splits.values():
        split.check(y)
    named = public or raw.public or next((key for key in splits if key.startswith("public")), None)
    if named is not None and named not in splits:
        raise BadSplit(f"public names the split {named!r}, but there is none; known: {', '.join(splits)}")
    unique = tuple(dict.fromkeys(notes))
    judged = metric or raw.metric
    return GraphData(raw.name, x, edges, y, classes, weight, splits, judged, named, unique, raw.source)


def _from_adjacency(matrix: Any, weight: Any) -> tuple[Ids, Any, int]:
    """Edges, weights (None when all are 1) and N of a sparse adjacency (N, N)."""
    if matrix.shape[0] != matrix.shape[1]:
        raise BadGraph(
            f"the adjacency has shape {matrix.shape}; it must be square, a row and column per node"
        )
    if weight is not None:
        raise BadGraph("weights came twice: as the adjacency's values and as weight; leave weight out")
    coo = matrix.tocoo()
    edges = np.stack([coo.row, coo.col]).astype(np.int64)
    return edges, None if np.all(coo.data == 1) else coo.data, matrix.shape[0]


def count_nodes(raw: Raw, edges: Any) -> int:
    """N by the first of: rows of x, num_nodes, labels; all that are there must agree."""
    counts = {
        "x": np.shape(raw.x)[0] if raw.x is not None and np.ndim(raw.x) else None,
        "num_nodes": raw.num_nodes,
        "y": np.shape(raw.y)[0] if raw.y is not None and np.ndim(raw.y) else None,
    }
    known = {key: int(count) for key, count in counts.items() if count is not None}
    if edges is None:
        raise BadGraph("the graph has no edges array; give edges (or edge_index) of shape (2, E)")
    if not known:
        raise BadGraph("neither x, y nor num_nodes says how many nodes there are; give one of them")
    if len(set(known.values())) > 1:
        told = ", ".join(f"{key} says {count:,}" for key, count in known.items())
        raise BadGraph(f"the number of nodes is not clear: {told}; they must have one entry per node")
    nodes = next(iter(known.values()))
    if nodes < 1:
        raise BadGraph("the graph is empty: it has no nodes")
    return nodes


def clean_edges(
    edges: Any, weight: Any, nodes: int, notes: Notes, edgeless: bool = False
) -> tuple[Ids, Weights | None]:
    """Sorted unique edges (2, E) without self-loops, and their weights (E,); none only if `edgeless`."""
    edges = edge_ids(edges, nodes)
    weight = _edge_weights(weight, edges.shape[1])
    loops = edges[0] == edges[1]
    if loops.any():
        notes.append(f"{count(int(loops.sum()), 'self-loop')} dropped")
        edges, weight = edges[:, ~loops], None if weight is None else weight[~loops]
    if not edges.shape[1] and not edgeless:
        raise BadGraph("the graph is empty: no edge joins two nodes, so there is no structure to learn from")
    simple, weight = merge(edges, weight, nodes)
    if twice := edges.shape[1] - simple.shape[1]:
        notes.append(f"{count(twice, 'duplicate edge')} merged")
    reached = np.zeros(nodes, dtype=bool)
    reached[simple.ravel()] = True
    if alone := nodes - int(reached.sum()):
        notes.append(count(alone, "isolated node"))
    if is_directed(simple, weight, nodes):
        notes.append("the graph is directed")
    return simple, weight


def edge_ids(edges: Any, nodes: int) -> Ids:
    """Edges as int64 (2, E) with every id among the nodes."""
    edges = np.asarray(edges)
    if edges.ndim != 2 or edges.shape[0] != 2:
        turned = "; it looks turned: give edges.T" if edges.ndim == 2 and edges.shape[1] == 2 else ""
        raise BadGraph(f"edges have shape {edges.shape}; they must be (2, E), sources above targets{turned}")
    if edges.dtype.kind == "f" and np.isfinite(edges).all() and np.array_equal(edges, np.trunc(edges)):
        edges = edges.astype(np.int64)
    if edges.dtype.kind not in "iu":
        raise BadGraph(f"edges have type {edges.dtype}; node ids must be integers, 0 to {nodes - 1:,}")
    wrong = (edges < 0) | (edges >= nodes)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise BadGraph(
            f"edges[{row}, {column}] is {edges[row, column]}, but there are {nodes:,} nodes "
            f"(ids 0 to {nodes - 1:,}); {wrong.sum():,} ids are out of range"
        )
    ids: Ids = edges.astype(np.int64)
    return ids


def _edge_weights(weight: Any, count: int) -> Weights | None:
    """Weights as finite, non-negative float32 (E,)."""
    if weight is None:
        return None
    weight = np.asarray(weight)
    weight = weight[:, 0] if weight.ndim == 2 and weight.shape[1] == 1 else weight
    if weight.shape != (count,) or weight.dtype.kind not in "fiub":
        raise BadGraph(f"weight is {weight.dtype} {weight.shape}; it must be one number per edge: ({count},)")
    weights: Weights = weight.astype(np.float32)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise BadGraph(
            f"weight[{wrong[0]}] is {weights[wrong[0]]}; weights must be finite and not negative "
            f"({len(wrong):,} are not)"
        )
    return weights


def clean_features(x: Any, nodes: int) -> Features:
    """Finite float32 features (N, F), CSR when fewer than one entry in five is not zero."""
    if x.ndim != 2 or x.shape[1] == 0 or x.shape[0] != nodes:
        hint = "; x.reshape(-1, 1) makes one column of it" if x.ndim == 1 else ""
        raise BadGraph(f"x has shape {x.shape}; it must be (N, F) with N = {nodes:,} and F at least 1{hint}")
    if x.dtype.kind not in "fiub":
        raise BadGraph(f"x has type {x.dtype}; features must be numbers")
    if is_sparse(x):
        x = sp.csr_array(x)
        x.sum_duplicates()
    _refuse_non_finite(x)
    stored = x.count_nonzero() if is_sparse(x) else np.count_nonzero(x)
    if stored >= SPARSE_BELOW * nodes * x.shape[1]:
        dense = x.toarray() if is_sparse(x) else x
        return np.ascontiguousarray(dense, dtype=np.float32)
    sparse = sp.csr_array(x, dtype=np.float32)
    sparse.eliminate_zeros()
    return sparse


def _refuse_non_finite(x: Any) -> None:
    """Say how many entries are NaN, infinite or beyond float32, and where the first one stands."""
    values = x.data if is_sparse(x) else x
    with np.errstate(over="ignore"):
        wrong = ~np.isfinite(values.astype(np.float32, copy=False))
    if not wrong.any():
        return
    if is_sparse(x):
        place = int(np.flatnonzero(wrong)[0])
        row = int(np.searchsorted(x.indptr, place, side="right")) - 1
        column = int(x.indices[place])
        value = x.data[place]
    else:
        row, column = map(int, np.argwhere(wrong)[0])
        value = x[row, column]
    raise BadGraph(
        f"x has {wrong.sum():,} entries that are NaN, infinite or beyond float32, the first at "
        f"x[{row}, {column}] = {value}; fill them (np.nan_to_num) or drop the column"
    )


def degree_features(edges: Ids, nodes: int, notes: Notes) -> npt.NDArray[np.float32]:
    """For nodes without features: a constant and log(1 + in-degree), (N, 2)."""
    notes.append(STAND_IN)
    degree = np.bincount(edges[1], minlength=nodes)
    return np.stack([np.ones(nodes), np.log1p(degree)], axis=1).astype(np.float32)


def _splits_of_masks(masks: dict[str, Any], nodes: int, notes: Notes) -> dict[str, Split]:
    """Masks (N,) give "public"; masks (N, S) give "public-0" to "public-<S-1>"."""
    missing = [part for part in PARTS if part not in masks]
    if missing:
        if masks:
            notes.append(f"masks are not used: no {missing[0]}_mask")
        return {}
    for part, mask in masks.items():
        if mask.dtype != bool or mask.ndim not in (1, 2) or mask.shape[0] != nodes:
            raise BadGraph(
                f"{part}_mask is {mask.dtype} {mask.shape}; it must be boolean, ({nodes},) or ({nodes}, S)"
            )
    widths = {mask.shape[1] for mask in masks.values() if mask.ndim == 2}
    if not widths:
        return {"public": Split.from_masks("public", *(masks[part] for part in PARTS))}
    if len(widths) > 1:
        raise BadGraph(
            f"the masks hold {' and '.join(map(str, sorted(widths)))} splits; give as many of each"
        )
    return {
        f"public-{s}": Split.from_masks(
            f"public-{s}", *(masks[p] if masks[p].ndim == 1 else masks[p][:, s] for p in PARTS)
        )
        for s in range(widths.pop())
    }
