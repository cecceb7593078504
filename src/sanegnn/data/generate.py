"""Seeded graphs for tests and measurements.

A planted graph is made in three steps that do not know each other: labels or features first, edges
between the nodes, and the other of the two by a rule. Another rule is another function of the three.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sanegnn.data.base import GraphData, Ids, symmetric
from sanegnn.data.knowledge import KnowledgePair
from sanegnn.errors import BadSetting
from sanegnn.seeds import generator

Floats = npt.NDArray[np.float32]


def planted_partition(
    seed: int,
    nodes: int = 400,
    classes: int = 4,
    features: int = 16,
    degree: float = 8.0,
    homophily: float = 0.8,
    signal: float = 1.0,
) -> GraphData:
    """Communities of equal size that are the classes, with features around a centre for each.

    Args:
        seed: the same seed gives the same graph.
        nodes: N.
        classes: C, at least 2.
        features: F.
        degree: the mean number of neighbours, before repeated draws are merged.
        homophily: the share of edges inside a community.
        signal: the length of a centre's coordinates beside noise of deviation 1.
    """
    if classes < 2 or nodes < 2 * classes:
        raise BadSetting(
            f"{nodes} nodes in {classes} classes: give 2 classes or more, 2 nodes or more in each"
        )
    rng = generator(seed, "planted-partition")
    y = rng.permutation(np.arange(nodes) % classes)
    edges = community_edges(rng, y, round(nodes * degree / 2), homophily)
    centres = rng.standard_normal((classes, features))
    x = signal * centres[y] + rng.standard_normal((nodes, features))
    return GraphData.of({"x": x.astype(np.float32), "edges": edges, "y": y}, f"planted-{seed}")


def community_edges(rng: np.random.Generator, y: Ids, count: int, homophily: float) -> Ids:
    """Both directions of `count` random edges (2, E), a share `homophily` of them inside a class.

    Draws that repeat an edge or hit their own source are left out, so E is a little under 2 * count.
    """
    classes = int(y.max()) + 1
    members, sizes = np.argsort(y, kind="stable"), np.bincount(y, minlength=classes)
    starts = np.cumsum(sizes) - sizes
    source = rng.integers(len(y), size=count)
    away = np.where(rng.random(count) < homophily, 0, rng.integers(1, max(2, classes), size=count))
    kind = (y[source] + away) % classes
    target = members[starts[kind] + np.floor(rng.random(count) * sizes[kind]).astype(np.int64)]
    return both_ways(np.stack([source, target]), len(y))


def random_graph(
    seed: int, nodes: int, edges: int, features: int = 16, classes: int = 4, skew: float = 0.0
) -> GraphData:
    """Edges, features and labels without any relation: for measuring time and memory.

    Args:
        seed: the same seed gives the same graph.
        nodes: N.
        edges: how many undirected edges to draw; repeats and self-loops are left out.
        features: F, drawn from the standard normal distribution.
        classes: C, drawn evenly.
        skew: 0 draws the ends evenly; above, small ids become hubs.
    """
    rng = generator(seed, "random-graph")
    ends = np.floor(nodes * rng.random((2, edges)) ** (1 + skew)).astype(np.int64)
    x = rng.standard_normal((nodes, features), dtype=np.float32)
    y = rng.permutation(np.arange(nodes) % classes)
    return GraphData.of({"x": x, "edges": both_ways(ends, nodes), "y": y}, f"random-{seed}")


def both_ways(ends: Ids, nodes: int) -> Ids:
    """Every drawn edge once in each direction, without self-loops (2, E)."""
    edges, _ = symmetric(ends[:, ends[0] != ends[1]], None, nodes)
    return edges


def translated_pair(
    seed: int,
    entities: int = 120,
    triples: int = 600,
    relations: int = 6,
    kept: float = 1.0,
    attributes: int = 0,
) -> KnowledgePair:
    """A random knowledge graph and its translation: the same triples between entities in another order.

    Args:
        seed: the same seed gives the same pair.
        entities: in each of the two graphs; all are linked.
        triples: how many are drawn; repeats are left out.
        relations: how many there are; the translation has others.
        kept: the share of triples that the translation has too.
        attributes: how many there are, five for every entity, the same for its translation.
    """
    rng = generator(seed, "translated-pair")
    heads, tails = rng.integers(entities, size=(2, triples))
    first = np.unique(np.stack([heads, rng.integers(relations, size=triples), tails]), axis=1)
    order = rng.permutation(entities)
    second = first[:, rng.random(first.shape[1]) < kept]
    second = np.stack([entities + order[second[0]], relations + second[1], entities + order[second[2]]])
    links = np.stack([np.arange(entities), entities + order])
    held = np.argsort(rng.random((entities, max(attributes, 1))), axis=1)[:, :5]
    table = np.zeros((2 * entities, attributes), dtype=np.float32)
    for side in links if attributes else ():
        table[side[:, None], held] = 1.0
    return KnowledgePair(
        f"translated-{seed}",
        np.array([f"{graph}:{place}" for graph in (1, 2) for place in range(entities)]),
        entities,
        np.concatenate([first, second], axis=1),
        np.arange(2 * relations),
        sp.csr_array(table),
        tuple(f"attribute {place}" for place in range(attributes)),
        links,
    )
