"""A stand-in for the protein graphs of PPI, made from a seed and written in PPI's own layout of raw files.

    x_v                 50 noisy numbers, around a centre for each community that all graphs share
    a_v = tanh(P x_v)
    b_v = mean_{u in N(v)} a_u
    c_v = mean_{u in N(v)} tanh(Q b_u)          so two hops are needed
    y_v,l = 1 where (R c_v + S a_v)_l is among the largest, so many as label l is frequent

R and S have few columns beside the 121 labels, which are therefore correlated. The own part S a_v is lost to
who mixes a node with its neighbours. A few labels are flipped, and no one can be right about these.

At scale 1 the sizes are those of PPI: 24 graphs, 56,944 nodes, 818,716 undirected edges. A smaller scale has
as many graphs with fewer nodes; degrees shrink with its root, so that two hops do not reach the whole graph.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sanegnn.data.base import Ids
from sanegnn.errors import BadSetting, SaneError
from sanegnn.seeds import generator

Values = npt.NDArray[np.float64]

NODES = {"train": 44_906, "valid": 6_514, "test": 5_524}
GRAPHS = {"train": 20, "valid": 2, "test": 2}
EDGES = 818_716
FEATURES, LABELS = 50, 121
COMMUNITIES, INNER = 30, 16
SMALLEST = 20
"""Nodes that a graph has at the least."""

INSIDE = 0.7
"""The share of edges inside a community."""
CENTRE = 0.35
"""The length of a centre's coordinates beside noise of deviation 1."""
OWN = 0.3
"""The weight of a node's own part beside that of its two hops, both of deviation 1."""
FLIPPED = 0.02


@dataclass(frozen=True, eq=False)
class Made:
    """One graph: features (N, 50), each undirected edge once (2, E), labels (N, 121) of 0 and 1."""

    x: npt.NDArray[np.float32]
    edges: Ids
    y: Ids


def ppi_like(seed: int = 0, scale: float = 0.1) -> dict[str, list[Made]]:
    """The graphs of "train", "valid" and "test"."""
    if not SMALLEST * sum(GRAPHS.values()) <= scale * sum(NODES.values()):
        raise BadSetting(f"scale = {scale:g} leaves a graph less than {SMALLEST} nodes: take 0.01 or more")
    rng = generator(seed, "ppi-like")
    centres = CENTRE * rng.standard_normal((COMMUNITIES, FEATURES))
    sizes = {part: _sizes(rng, round(scale * NODES[part]), GRAPHS[part]) for part in NODES}
    flat = [size for part in NODES for size in sizes[part]]
    joined = _shares(round(EDGES * scale**1.5), flat)
    drawn = [_drawn(rng, size, edges, centres) for size, edges in zip(flat, joined, strict=True)]
    labels = _labels(rng, drawn)
    made = iter([Made(x, edges, y) for (x, edges), y in zip(drawn, labels, strict=True)])
    return {part: [next(made) for _ in sizes[part]] for part in NODES}


def _sizes(rng: np.random.Generator, nodes: int, graphs: int) -> list[int]:
    """Nodes of each graph, some three times as many as others."""
    return [SMALLEST + one for one in _shares(nodes - SMALLEST * graphs, 1 + 2 * rng.random(graphs))]


def _shares(whole: int, weights: npt.ArrayLike) -> list[int]:
    """Whole numbers in these proportions, whose sum is `whole`."""
    ends = np.round(np.cumsum(weights) / np.sum(weights) * whole).astype(np.int64)
    return [int(size) for size in np.diff(ends, prepend=0)]


def _drawn(
    rng: np.random.Generator, nodes: int, count: int, centres: Values
) -> tuple[npt.NDArray[np.float32], Ids]:
    """Features around the centres of the communities, and edges mostly inside these."""
    kind = rng.integers(COMMUNITIES, size=nodes)
    x = centres[kind] + rng.standard_normal((nodes, FEATURES))
    eager = np.exp(0.7 * rng.standard_normal(nodes))
    chain = np.arange(nodes - 1) * (nodes + 1) + 1  # v - 1 with v, so that no node is alone
    rest = chain[:0]
    while len(rest) < count - len(chain):
        missing = count - len(chain) - len(rest)
        rest = np.setdiff1d(np.union1d(rest, _pairs(rng, kind, eager, 2 * missing + 8)), chain)
    keys = np.sort(np.r_[chain, rng.permutation(rest)[: count - len(chain)]])
    return x.astype(np.float32), np.stack(np.divmod(keys, nodes))


def _pairs(rng: np.random.Generator, kind: Ids, eager: Values, count: int) -> Ids:
    """Keys source * N + target with source < target, both drawn by eagerness."""
    nodes = len(kind)
    source = rng.choice(nodes, size=count, p=eager / eager.sum())
    target = rng.choice(nodes, size=count, p=eager / eager.sum())
    inside = rng.random(count) < INSIDE
    for one in range(COMMUNITIES):
        there = np.flatnonzero(kind == one)
        wanted = np.flatnonzero(inside & (kind[source] == one))
        if len(there):
            target[wanted] = rng.choice(there, size=len(wanted), p=eager[there] / eager[there].sum())
    low, high = np.minimum(source, target), np.maximum(source, target)
    keys: Ids = np.unique((low * nodes + high)[low < high])
    return keys


def _labels(rng: np.random.Generator, drawn: Sequence[tuple[npt.NDArray[np.float32], Ids]]) -> Iterator[Ids]:
    """The labels of every graph, thresholds over all of them."""
    first = rng.standard_normal((FEATURES, INNER)) / FEATURES**0.5
    second, across, own = (rng.standard_normal((INNER, wide)) for wide in (INNER, LABELS, LABELS))
    a = [np.tanh(2 * x @ first) for x, _ in drawn]
    c = []
    for (_, edges), inner in zip(drawn, a, strict=True):
        mean = _mean_over_neighbours(edges, len(inner))
        c.append(mean @ np.tanh(3 * (mean @ inner) @ second))
    far, near = _standard(np.concatenate(c)) @ across, _standard(np.concatenate(a)) @ own
    scores = (far + OWN * near) / INNER**0.5
    frequent = 0.1 + 0.55 * rng.random(LABELS)
    limits = np.array([np.quantile(scores[:, k], 1 - frequent[k]) for k in range(LABELS)])
    y = (scores > limits) ^ (rng.random(scores.shape) < FLIPPED)
    ends = np.cumsum([len(x) for x, _ in drawn])[:-1]
    return iter(np.split(y.astype(np.int64), ends))


def _standard(x: Values) -> Values:
    scaled: Values = (x - x.mean(0)) / x.std(0)
    return scaled


def _mean_over_neighbours(edges: Ids, nodes: int) -> Any:
    """D^-1 A, (N, N)."""
    both = np.concatenate([edges, edges[::-1]], axis=1)
    matrix = sp.csr_array((np.ones(both.shape[1]), (both[1], both[0])), shape=(nodes, nodes))
    return sp.diags_array(1 / np.maximum(matrix.sum(1), 1)) @ matrix


def write_ppi(folder: Path, parts: dict[str, list[Made]]) -> None:
    """The raw files of PPI: for each part a graph as JSON, and features, labels and graph ids as .npy."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part, graphs in parts.items():
            _write_part(folder, part, graphs)
    except OSError as error:
        raise SaneError(f"cannot write {folder}: {error.strerror or error}") from error


def _write_part(folder: Path, part: str, graphs: Sequence[Made]) -> None:
    starts = np.cumsum([0, *(len(one.x) for one in graphs)])
    edges = [one.edges + start for one, start in zip(graphs, starts, strict=False)]
    arrays = {
        "feats": np.concatenate([one.x for one in graphs]),
        "labels": np.concatenate([one.y for one in graphs]),
        "graph_id": np.repeat(np.arange(1, len(graphs) + 1), np.diff(starts)),
    }
    for name, array in arrays.items():
        np.save(folder / f"{part}_{name}.npy", array)
    text = json.dumps(_node_link(int(starts[-1]), np.concatenate(edges, axis=1)))
    (folder / f"{part}_graph.json").write_text(text, encoding="utf-8")


def _node_link(nodes: int, edges: Ids) -> dict[str, Any]:
    """A graph as NetworkX writes it."""
    links = [{"source": source, "target": target} for source, target in edges.T.tolist()]
    head = {"directed": False, "multigraph": False, "graph": {}}
    return {**head, "nodes": [{"id": node} for node in range(nodes)], "links": links}
