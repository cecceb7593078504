"""Promises as sentences, and the small examples that contracts are tried on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from sanegnn.aims import GraphsKnobs
from sanegnn.data.generate import planted_partition, translated_pair
from sanegnn.data.graphset import GraphSet
from sanegnn.data.motifs import motifs
from sanegnn.kernels import Features, Graph, Segments
from sanegnn.nets import Inputs
from sanegnn.ops import Shape, initialise
from sanegnn.seeds import generator
from sanegnn.tasks import AlignmentTask, GraphsTask, InductiveTask, LinkTask, NodeTask, Task

NODES, WIDTH, DEPTH = 12, 8, 3
ISOLATED = NODES - 1


def require(kept: bool, sentence: str) -> None:
    """Fail with the sentence unless the promise is kept."""
    if not kept:
        raise AssertionError(sentence)


def close(one: Tensor, other: Tensor, within: float = 1e-9) -> bool:
    """Whether two tensors have equal shapes and nearly equal, finite values."""
    return one.shape == other.shape and bool(torch.allclose(one, other, rtol=within, atol=within))


def example_edges(seed: int = 0) -> Tensor:
    """Thirty directed edges between twelve nodes; the last node has none."""
    rng = generator(seed, "contract", "edges")
    pairs = [(u, v) for u, v in product(range(ISOLATED), repeat=2) if u != v]
    return torch.tensor([pairs[place] for place in sorted(rng.permutation(len(pairs))[:30])]).T


def example_graph(seed: int = 0) -> Graph:
    """The graph of those edges."""
    return Graph.from_edges(example_edges(seed), NODES)


def numbers(*size: int, seed: int = 0) -> Tensor:
    """Standard normal float64 numbers."""
    return torch.from_numpy(generator(seed, "contract", "numbers", *size).standard_normal(size))


def filled(module: nn.Module, seed: int = 0) -> Any:
    """The module in float64 with every weight away from zero, biases too."""
    initialise(module, seed)
    module.double()
    with torch.no_grad():
        for place, parameter in enumerate(module.parameters()):
            parameter.add_(0.1 * numbers(*parameter.shape, seed=seed + place))
    return module


def example_inputs(features: int = 5, whole: bool = False) -> Inputs:
    """Dense float64 features over the example graph; `whole` asks for the graph, and for an empty one."""
    segments = Segments.of(torch.tensor([NODES, 0])) if whole else None
    return Inputs(Features.of(numbers(NODES, features).numpy()), example_graph(), segments=segments)


def example_task(nodes: int = 90) -> NodeTask:
    """A small planted graph that every strategy can be tried on."""
    data = planted_partition(0, nodes=nodes, classes=3, features=6, degree=5.0, homophily=0.9)
    return NodeTask.of(data)


def example_set(several: bool = False) -> GraphSet:
    """Five small planted graphs of one schema, of one class a node or of several labels."""
    graphs = [
        planted_partition(seed, nodes=40 + 5 * seed, classes=3, features=6, degree=5.0, homophily=0.9)
        for seed in range(5)
    ]
    if not several:
        return GraphSet.of(graphs, "five", classes=("0", "1", "2"))
    labels = [(one.y[:, None] == (0, 1, 2)) | (one.x[:, :3] > 1) for one in graphs]
    return GraphSet.of(graphs, "five", labels, metric="micro_f1")


EXAMPLES: dict[str, Callable[[], Task]] = {
    "alignment": lambda: AlignmentTask.of(translated_pair(0, entities=60, triples=300, attributes=8)),
    "nodes": example_task,
    "inductive": lambda: InductiveTask.of(example_set()),
    "graphs": lambda: GraphsTask.of(motifs(0, graphs=40), knobs=GraphsKnobs(batch=16)),
    "links": lambda: LinkTask.of(planted_partition(0, nodes=90, classes=3, features=6, degree=5.0)),
}
"""A small task of every kind; one that is registered without an example fails the contract."""


def shape(heads: int = 2) -> Shape:
    """What the operations under test are built from."""
    return Shape(WIDTH, heads, 0.0, DEPTH)
