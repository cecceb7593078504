"""Seeded sets of small graphs whose label nothing but two steps along the edges can tell."""

from __future__ import annotations

import numpy as np

from sanegnn.data.base import Ids
from sanegnn.data.wholegraphs import WholeGraphs
from sanegnn.seeds import generator

CHAIN = np.array([[0, 1, 2], [1, 2, 3]])


def motifs(seed: int, graphs: int = 150, numbers: bool = False) -> WholeGraphs:
    """Graphs of six or ten chains `end - c - c - end`, whose ends have the colour a or b.

    Half of all ends are a. What differs is how many chains have ends of two colours: less than half, or more;
    with `numbers`, their share is the label. Counts of colours, of nodes and edges, and of what a node has
    next to it are the same in both classes.
    """
    rng = generator(seed, "motifs")
    sizes = rng.choice([6, 10], size=graphs)
    shares = rng.permutation(np.arange(graphs) % 2) * 0.5 + 0.5 * rng.random(graphs)
    mixed = 2 * np.minimum(np.floor(shares * (sizes // 2 + 1)), sizes // 2).astype(np.int64)
    found = [_graph(int(size), int(some), rng) for size, some in zip(sizes, mixed, strict=True)]
    y = mixed / sizes if numbers else (2 * mixed > sizes).astype(np.int64)
    return WholeGraphs.of(found, y, "motifs", classes=() if numbers else ("few", "many"), numbers=numbers)


def _graph(chains: int, mixed: int, rng: np.random.Generator) -> dict[str, Ids]:
    """Chains of which so many, an even number, have ends of two colours; the nodes in any order."""
    alike = (chains - mixed) // 2
    ends = np.array([(0, 1)] * mixed + [(0, 0)] * alike + [(1, 1)] * alike)
    colours = np.stack([ends[:, 0], np.full(chains, 2), np.full(chains, 2), ends[:, 1]], axis=1).ravel()
    place = rng.permutation(4 * chains)
    edges = np.concatenate([CHAIN + 4 * chain for chain in range(chains)], axis=1)
    x = np.zeros((4 * chains, 3), dtype=np.float32)
    x[place, colours] = 1.0
    return {"x": x, "edges": np.concatenate([place[edges], place[edges[::-1]]], axis=1)}
