"""Graphs whose right design is known: what makes a node's label is one thing that few operations can see.

All are seeded. Features are values between 0 and 1, each beside its complement, so that the rows have one
sum and every scaling of features gives the same; the columns after those that make the label are noise.
The label is recorded as code here and its answer as data: `steps`, the aggregators that can compute it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sanegnn.data.base import GraphData, Ids
from sanegnn.data.generate import both_ways
from sanegnn.registry import Registry
from sanegnn.seeds import generator
from sanegnn.settings import Setting

Values = npt.NDArray[np.float64]
Steps = tuple[tuple[str, ...], ...]

SETTING = Setting(input_dropout=0.0, dropout=0.2, weight_decay=5e-5)
"""What these graphs are measured with: the values must come through, so little is dropped."""

ADDING = ("sage_sum", "gin", "gcn")
KEEPING = ("sage_sum", "sage_mean")
AVERAGING = ("sage_sum", "sage_mean", "gin", "gcn", "gat", "gat_sym", "gat_linear", "gat_gen_linear")


@dataclass(frozen=True)
class Planted:
    """A graph with a known answer.

    Args:
        title: what the label is, in a few words.
        make: the graph of a seed.
        steps: aggregators in the order of the layers, each step one of several; `space.Recipe` reads them.
    """

    title: str
    make: Callable[[int], GraphData]
    steps: Steps


planted: Registry[Planted] = Registry("planted graph")


def _plant(name: str, title: str, *steps: tuple[str, ...]) -> Callable[[Maker], Maker]:
    def keep(make: Maker) -> Maker:
        planted.add(name)(Planted(title, lambda seed: make(seed).named(name), steps))
        return make

    return keep


Maker = Callable[..., GraphData]


@_plant("planted-sum", "how many neighbours are marked", ADDING)
def planted_sum(seed: int, nodes: int = 2000) -> GraphData:
    """y_v: Σ_{u in N(v)} mark_u is in the upper half; half of the nodes are marked, degrees go from 6 to 30.

    The share of marked neighbours says little about their number. Neighbours' degrees have nothing to do
    with each other: were they alike, the spread of the neighbours' means would betray them. GCN's
    1/sqrt(d(v) d(u)) sums to about sqrt(d(v)) and does betray the degree.
    """
    rng = generator(seed, "planted-sum")
    degrees = np.floor(6 * 5 ** rng.random(nodes)).astype(np.int64)
    edges = drawn(rng, degrees)
    mark, noise = rng.integers(0, 2, nodes), rng.integers(0, 2, nodes)
    count = pooled(mark, edges, nodes)
    return labelled(np.stack([mark, noise], axis=1), edges, count + 0.5 * rng.random(nodes))


@_plant("planted-mean", "the mean over the neighbours, less the own value", ("sage_mean",))
def planted_mean(seed: int, nodes: int = 2000) -> GraphData:
    """y_v: mean_{u in N(v)} s_u - s_v / 4 is in the upper half; degrees go from 2 to 80.

    The own value counts against the label, and GCN and attention average it in. A sum knows the sign of a
    mean, but not this difference, since the degrees spread.
    """
    rng = generator(seed, "planted-mean")
    edges = blocks(rng, nodes, (1, 2, 3, 4, 6, 40))
    values = rng.random((nodes, 5))
    own, degree = values[:, 0], pooled(np.ones(nodes), edges, nodes)
    return labelled(values, edges, pooled(own, edges, nodes) / degree - own / 4)


@_plant("planted-max", "the largest values among the neighbours", ("sage_max",))
def planted_max(seed: int, nodes: int = 2400) -> GraphData:
    """y_v: c(max_{u in N(v)} s_u) - c(s_v) / 4 is in the upper half, with c(s) = s_0 + s_1 - s_2 - s_3.

    Attention can point at the largest value of a column, one for every head, but cannot leave out the node
    itself, whose own value counts against the label.
    """
    rng = generator(seed, "planted-max")
    edges = blocks(rng, nodes, (2, 3, 4, 5))
    values = rng.random((nodes, 6))
    return labelled(values, edges, extremes(values[:, :4], edges))


@_plant("planted-match", "the value of the neighbour with the same key", ("gat_cos",))
def planted_match(seed: int, nodes: int = 2400) -> GraphData:
    """y_v: the value of the one neighbour whose key is v's own, among ten; keys are noisy unit vectors.

    Half of the nodes ask and have no value; the other half have a key and a value, 0 or 1, and no label.
    """
    rng = generator(seed, "planted-match")
    asking, width, degree = nodes // 2, 8, 10
    keys = rng.standard_normal((nodes - asking, width))
    keys /= np.sqrt((keys**2).sum(axis=1, keepdims=True))
    value = rng.permutation(np.arange(len(keys)) % 2)
    known = np.stack([rng.choice(len(keys), degree, replace=False) for _ in range(asking)])
    asked = keys[known[:, 0]] + 0.035 * rng.standard_normal((asking, width))
    ends = np.stack([np.repeat(np.arange(asking), degree), asking + known.ravel()])
    own = np.r_[np.full(asking, 0.5), value]
    shown = np.round(0.5 + 0.45 * np.concatenate([asked, keys]), 6)  # no machine rounds a sum differently
    values = np.column_stack([shown, own, rng.random((nodes, 2))])
    y = np.r_[value[known[:, 0]], np.full(len(keys), -1)]
    return graph(values, both_ways(ends, nodes), y)


@_plant("planted-ring", "the values exactly two steps away", KEEPING, KEEPING)
def planted_ring(seed: int, nodes: int = 2000) -> GraphData:
    """y_v: Σ s_w - 2 s_v, over the ends w of walks of two steps that do not return, is in the upper half.

    Every node lies on two cycles, so that four values nearby say nothing and twelve beyond them do.
    """
    rng = generator(seed, "planted-ring")
    edges = blocks(rng, nodes, (2,))
    values = rng.random((nodes, 5))
    own, degree = values[:, 0], pooled(np.ones(nodes), edges, nodes)
    walked = pooled(pooled(own, edges, nodes), edges, nodes)
    return labelled(values, edges, walked - (degree + 2) * own)


@_plant("planted-path", "the values exactly three steps away", KEEPING, KEEPING, KEEPING)
def planted_path(seed: int, nodes: int = 2000) -> GraphData:
    """y_v: s of the two nodes three steps away on a cycle, added, is in the upper half."""
    rng = generator(seed, "planted-path")
    cycle = rng.permutation(nodes)
    values = rng.random((nodes, 5))
    score = np.empty(nodes)
    score[cycle] = values[np.roll(cycle, 3), 0] + values[np.roll(cycle, -3), 0]
    return labelled(values, both_ways(np.stack([cycle, np.roll(cycle, 1)]), nodes), score)


@_plant("planted-mixture", "the mean of the neighbours' largest values", ("sage_max",), AVERAGING)
def planted_mixture(seed: int, nodes: int = 2000) -> GraphData:
    """y_v: Σ_{u in N(v)} (the score of `planted_max` at u) is in the upper half; degrees are 4 and 6."""
    rng = generator(seed, "planted-mixture")
    edges = blocks(rng, nodes, (2, 3))
    values = rng.random((nodes, 6))
    return labelled(values, edges, pooled(extremes(values[:, :4], edges), edges, nodes))


def blocks(rng: np.random.Generator, nodes: int, cycles: tuple[int, ...]) -> Ids:
    """Both directions of the edges of parts of equal size (2, E); part i is the union of cycles[i] cycles.

    A node in a union of k random cycles has about 2 * k neighbours, and so have they.
    """
    parts = np.array_split(rng.permutation(nodes), len(cycles))
    rounds = [rng.permutation(part) for part, count in zip(parts, cycles, strict=True) for _ in range(count)]
    return both_ways(np.concatenate([[one, np.roll(one, 1)] for one in rounds], axis=1), nodes)


def drawn(rng: np.random.Generator, degrees: Ids) -> Ids:
    """Both directions of the edges (2, E) that join random ends, of which every node has its degree."""
    ends = rng.permutation(np.repeat(np.arange(len(degrees)), degrees))
    return both_ways(ends[: len(ends) // 2 * 2].reshape(2, -1), len(degrees))


def pooled(values: npt.NDArray[np.generic], edges: Ids, nodes: int) -> Values:
    """The sum over the neighbours of every node (N,)."""
    total: Values = np.bincount(edges[1], values[edges[0]].astype(np.float64), nodes).astype(np.float64)
    return total


def extremes(values: Values, edges: Ids) -> Values:
    """c(the largest value of every column over the neighbours) - c(the own values) / 4 (N,)."""
    found = np.full(values.shape, -np.inf)
    np.maximum.at(found, edges[1], values[edges[0]])
    return contrast(found) - contrast(values) / 4


def contrast(values: Values) -> Values:
    """The first half of the columns less the second half (N,)."""
    half = values.shape[1] // 2
    difference: Values = values[:, :half].sum(axis=1) - values[:, half:].sum(axis=1)
    return difference


def labelled(values: npt.NDArray[np.generic], edges: Ids, score: Values) -> GraphData:
    """The graph whose class 1 is the half of the nodes with the larger score."""
    y = np.zeros(len(score), np.int64)
    y[np.argsort(score, kind="stable")[len(score) // 2 :]] = 1
    return graph(values, edges, y)


def graph(values: npt.NDArray[np.generic], edges: Ids, y: Ids) -> GraphData:
    """The graph with every value beside its complement."""
    inside = np.clip(values, 0, 1)
    x = np.concatenate([inside, 1 - inside], axis=1).astype(np.float32)
    return GraphData.of({"x": x, "edges": edges, "y": y}, "planted")
