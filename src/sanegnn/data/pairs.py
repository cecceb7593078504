"""Pairs of nodes with and without an edge, parted so that no part tells of another.

A pair is unordered: both directions of an edge are on the same side, also where a directed graph has but one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sanegnn.data.base import GraphData, Ids, Weights
from sanegnn.data.checks import STAND_IN, degree_features
from sanegnn.errors import BadSplit
from sanegnn.seeds import generator

VALIDATION, TEST = 0.05, 0.10
"""The shares of the pairs that are held out, as Kipf and Welling (2016) hold them out."""
LEAST = 20
"""Joined pairs that a graph has at the least."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Joined pairs (2, P) and as many that are not (2, P)."""

    joined: Ids
    apart: Ids


@dataclass(frozen=True, eq=False)
class PairSplit:
    """The pairs of every part, and the edges that messages may take: those of training."""

    name: str
    train: Ids
    val: Pairs
    test: Pairs
    edges: Ids
    weight: Weights | None


def split_pairs(data: GraphData, text: str) -> PairSplit:
    """85/5/10 of the joined pairs, by a seed."""
    if not (text.isascii() and text.isdigit()):
        raise BadSplit(f"links have no split {text!r}: a seed such as 0 parts them 85/5/10")
    nodes, keys = data.num_nodes, keys_of(data.edges, data.num_nodes)
    known = np.unique(keys)
    if len(known) < LEAST:
        raise BadSplit(f"{data.name} has {len(known)} joined pairs of nodes: {LEAST} are the least to split")
    rng = generator(int(text), "links")
    order = rng.permutation(len(known))
    val, test = (max(1, round(share * len(known))) for share in (VALIDATION, TEST))
    held = [np.sort(known[part]) for part in np.split(order, [val, val + test])]
    parts = [Pairs(_pairs(part, nodes), pairs_apart(rng, known, nodes, len(part))) for part in held[:2]]
    kept = np.isin(keys, held[2])
    weight = None if data.weight is None else data.weight[kept]
    name = f"85/5/10 seed {text}"
    return PairSplit(name, _pairs(held[2], nodes), parts[0], parts[1], data.edges[:, kept], weight)


def keys_of(edges: Ids, nodes: int) -> Ids:
    """A number for the unordered pair of every edge (E,)."""
    keys: Ids = np.minimum(edges[0], edges[1]) * nodes + np.maximum(edges[0], edges[1])
    return keys


def pairs_apart(rng: np.random.Generator, known: Ids, nodes: int, count: int) -> Ids:
    """So many pairs u < v (2, count) that are not among the sorted keys `known`; one may come twice."""
    if nodes * (nodes - 1) // 2 <= 2 * len(known):
        raise BadSplit("half of all pairs of nodes are joined or more: there are no links to predict")
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        ends = rng.integers(nodes, size=(2, 2 * (count - len(found)) + 8))
        keys = keys_of(ends[:, ends[0] != ends[1]], nodes)
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        found = np.r_[found, keys[known[place] != keys]]
    return _pairs(found[:count], nodes)


def _pairs(keys: Ids, nodes: int) -> Ids:
    return np.stack(np.divmod(keys, nodes))


def plain_features(data: GraphData, edges: Ids) -> GraphData:
    """The graph with these edges alone, also in features that stand in for missing ones."""
    if STAND_IN not in data.notes:
        return replace(data, edges=edges)
    return replace(data, edges=edges, x=degree_features(edges, data.num_nodes, []))
