"""Whether the compiled kernels lie in the cache, and how to put them there."""

from __future__ import annotations

import torch

from sanegnn.kernels import (
    cpu_aggregate,
    cpu_attention,
    cpu_attention_back,
    cpu_dense,
    cpu_distance,
    cpu_largest,
    cpu_lstm,
    cpu_products,
)
from sanegnn.kernels.compiled import (
    aggregate,
    attend,
    distances,
    dropout,
    largest,
    lstm_readout,
    lstm_step,
    project,
)
from sanegnn.kernels.cpu_attend import RULES
from sanegnn.kernels.cpu_tiles import index_file
from sanegnn.kernels.features import Features
from sanegnn.kernels.graph import Graph
from sanegnn.seeds import Noise

KERNELS = (
    cpu_aggregate.fold,
    cpu_aggregate.unfold,
    cpu_attention.node_scores,
    cpu_attention.node_dots,
    cpu_attention.forward,
    cpu_attention_back.by_edges,
    cpu_attention_back.by_node,
    cpu_dense.drop,
    cpu_dense.multiply,
    cpu_dense.scatter,
    cpu_largest.rank,
    cpu_largest.unrank,
    cpu_distance.apart,
    cpu_distance.pull,
    cpu_lstm.step,
    cpu_lstm.step_back,
    cpu_products.by_rows,
    cpu_products.over_rows,
)


def compiled_before() -> bool:
    """Whether every kernel has been compiled on this machine since its source last changed."""
    return all(index_file(kernel).exists() for kernel in KERNELS)


def compile_all() -> None:
    """Run every kernel once, forward and back, on two nodes in float32."""
    graph, noise = Graph.from_edges(torch.tensor([[0], [1]]), 2), Noise(0)

    def ones(*shape: int) -> torch.Tensor:
        return torch.ones(shape, requires_grad=True)

    kinds, att = tuple(RULES), (len(RULES), 1, 1)
    outs = [
        attend(kinds, ones(2, *att), ones(*att), ones(*att), ones(*att), graph, 0.5, noise),
        *aggregate(ones(2, 1), graph, ("sum", "max")),
        distances(ones(2, 1), torch.tensor([[0], [1]])),
        dropout(ones(2, 1), 0.5, noise),
        largest(ones(2, 1), graph, 1),
        project(Features.of(torch.eye(8)), ones(8, 1), 0.5, noise),
        lstm_step(ones(2, 1), ones(1, 3), ones(3)),
        lstm_readout(ones(2, 2, 1), ones(2, 1, 4), ones(2, 1, 4), ones(2, 4), ones(2), ones()),
    ]
    torch.stack([out.sum() for out in outs]).sum().backward()  # type: ignore[no-untyped-call]
