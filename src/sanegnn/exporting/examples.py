"""Graphs that a model and its export are compared on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sanegnn.bundle import Model
from sanegnn.data import GraphData
from sanegnn.seeds import generator

SIZES = ((24, 60), (2, 1), (57, 300), (3, 0))
"""Nodes and edges; the first is also what a program is traced on."""
WITHIN = 1e-4
"""How far predictions may be apart: they are float32, and sums are taken in another order."""

Array = npt.NDArray[Any]
Graph = tuple[Tensor, Tensor, Tensor]
"""Features (N, F), edges (2, E) source over target, and a weight for each (E,)."""


def example(model: Model, nodes: int, edges: int) -> GraphData:
    """A random graph as the model reads it, with features as they come before the scaling."""
    rng = generator(0, "export", nodes, edges)
    width = model.scaling.width
    x = rng.random((nodes, width)) * (rng.random((nodes, width)) < max(0.1, 4 / width))
    if model.scaling.mode == "standard":
        mean, deviation = np.asarray(model.scaling.mean or 0.0), np.asarray(model.scaling.deviation)
        x = mean + deviation * rng.standard_normal((nodes, width))
    ends = np.array([(u, v) for u in range(nodes) for v in range(nodes) if u != v]).reshape(-1, 2)
    picked = ends[np.sort(rng.permutation(len(ends))[:edges])].T
    weight = 0.5 + rng.random(picked.shape[1])
    found = {"x": x.astype(np.float32), "edges": picked.astype(np.int64), "weight": weight}
    return model.graph(GraphData.of(found, "example", edgeless=True))


def tensors(data: GraphData) -> Graph:
    """What an export is given of a graph."""
    x = data.x if isinstance(data.x, np.ndarray) else data.x.toarray()
    weight = np.ones(data.num_edges, np.float32) if data.weight is None else data.weight
    return torch.from_numpy(x), torch.from_numpy(data.edges), torch.from_numpy(weight)


def examples(model: Model) -> Iterator[tuple[Graph, Array]]:
    """Graphs of several sizes, each with what the model says of it."""
    for nodes, edges in SIZES:
        data = example(model, nodes, edges)
        yield tensors(data), np.asarray(model.predict_proba(data))


def apart(one: Any, other: Any) -> float:
    """The largest difference of two arrays; infinite where one has no number."""
    difference = np.abs(np.asarray(one) - np.asarray(other))
    return float(difference.max()) if np.isfinite(difference).all() else float("inf")
