"""Numbers that describe a graph; plain functions of arrays, no opinion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sanegnn.data.base import Features, GraphData, Ids
from sanegnn.seeds import generator

Keys = npt.NDArray[Any]


def adjacency(data: GraphData) -> sp.csr_array:
    """A (N, N) with A[target, source] = 1: row v holds the nodes whose messages reach v."""
    ones = np.ones(data.num_edges, dtype=np.float32)
    return sp.csr_array((ones, (data.edges[1], data.edges[0])), shape=(data.num_nodes, data.num_nodes))


def degrees(data: GraphData) -> Ids:
    """The number of edges that end in each node (N,)."""
    return np.bincount(data.edges[1], minlength=data.num_nodes)


def isolated(data: GraphData) -> Ids:
    """The ids of the nodes that no edge touches."""
    return np.flatnonzero(np.bincount(data.edges.ravel(), minlength=data.num_nodes) == 0)


def components(data: GraphData) -> Ids:
    """The sizes of the weakly connected components, the largest first."""
    _, label = sp.csgraph.connected_components(adjacency(data), directed=False)
    sizes: Ids = np.sort(np.bincount(label))[::-1]
    return sizes


class Homophily(NamedTuple):
    """How often an edge joins two nodes of one class.

    `adjusted` is 0 when the edges ignore the classes and 1 when they never leave one:
    (h - sum_k p_k^2) / (1 - sum_k p_k^2), p_k the share of edge ends in class k
    (Platonov et al., Characterizing Graph Datasets, NeurIPS 2023).
    """

    edge: float
    adjusted: float


def homophily(data: GraphData) -> Homophily | None:
    """Edge homophily over the edges with two labelled ends; None when there is none."""
    ends = data.y[data.edges]
    ends = ends[:, (ends >= 0).all(axis=0)]
    if not ends.shape[1]:
        return None
    share = np.bincount(ends.ravel(), minlength=max(1, data.num_classes)) / ends.size
    chance = float((share**2).sum())
    edge = float((ends[0] == ends[1]).mean())
    return Homophily(edge, (edge - chance) / (1 - chance) if chance < 1 else 0.0)


def row_keys(x: Features) -> Keys:
    """One key per row (N,), equal for equal rows: the bytes themselves, or a 64-bit hash of a sparse row."""
    if isinstance(x, np.ndarray):
        rows = np.ascontiguousarray(x + np.float32(0))
        return rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))[:, 0]
    table = generator(0, "row-keys").integers(1, 2**63, size=x.shape[1], dtype=np.uint64) * np.uint64(2)
    bits = np.ascontiguousarray(x.data, dtype=np.float32).view(np.uint32).astype(np.uint64)
    mixed = (table + np.uint64(1))[x.indices] * (bits + np.uint64(1))
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed ^ (mixed >> np.uint64(29)))])
    keys: Keys = total[x.indptr[1:]] - total[x.indptr[:-1]]
    return keys


def groups(keys: Keys) -> Ids:
    """A number per entry (N,), the same for equal keys."""
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def columns(x: Features) -> Features:
    """The features turned: one row per column (F, N)."""
    return np.ascontiguousarray(x.T) if isinstance(x, np.ndarray) else sp.csr_array(x.T.tocsr())


def constant_columns(x: Features) -> npt.NDArray[np.bool_]:
    """Which columns (F,) hold one value in every row."""
    if isinstance(x, np.ndarray):
        return np.asarray((x == x[0]).all(axis=0))
    low, high = (bound.toarray().ravel() for bound in (x.min(axis=0), x.max(axis=0)))
    return np.asarray(low == high)


def stored(x: Features) -> npt.NDArray[np.float32]:
    """The entries that are not zero (nnz,)."""
    return x[x != 0] if isinstance(x, np.ndarray) else x.data


def zero_rows(x: Features) -> npt.NDArray[np.bool_]:
    """Which nodes (N,) have no feature at all."""
    return np.asarray(~x.any(axis=1) if isinstance(x, np.ndarray) else np.diff(x.indptr) == 0)


def twins(data: GraphData) -> Ids:
    """A number per node (N,), the same for nodes with equal features and equal in-neighbours."""
    features, neighbours = groups(row_keys(data.x)), groups(row_keys(adjacency(data)))
    return groups(features * data.num_nodes + neighbours)
