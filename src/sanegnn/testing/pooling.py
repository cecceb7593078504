"""What every pooling promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from sanegnn.kernels import Graph, Segments
from sanegnn.ops import Pooling, Shape, pool_ops
from sanegnn.seeds import generator
from sanegnn.space import SearchSpace
from sanegnn.testing.examples import WIDTH, close, filled, numbers, require, shape
from sanegnn.testing.ops import one_hot_equals_derived

BuildPool = Callable[[Shape], Pooling]
SIZES = (4, 1, 0, 35, 2)
"""Graphs of the example: one without edges, one without nodes, one larger than what a pooling may keep."""


def check_pooling(op: str | type[Pooling]) -> None:
    """Every promise of a pooling; by its name also those of the supernet around it."""
    build = pool_ops[op] if isinstance(op, str) else op
    for contract in POOL_CONTRACTS:
        contract(build)
    if isinstance(op, str):
        pools = tuple(dict.fromkeys((op, "sum")))
        one_hot_equals_derived(
            SearchSpace("contract", 2, ("gcn", "gin"), ("skip", "zero"), ("concat",), pools)
        )


def example_union(sizes: tuple[int, ...] = SIZES, seed: int = 0) -> tuple[Tensor, Segments, Tensor]:
    """States (N, D), the segments, and directed edges (2, E) within the graphs: cycles with chords."""
    begin, ends = 0, []
    for size in sizes:
        ring = [(node, (node + hop) % size) for node in range(size) for hop in (1, 3) if hop < size]
        ends += [(begin + source, begin + target) for source, target in ring]
        begin += size
    edges = torch.tensor(ends, dtype=torch.long).view(-1, 2).T
    return numbers(begin, WIDTH, seed=seed), Segments.of(torch.tensor(sizes)), edges


def pooled(op: Pooling, x: Tensor, segments: Segments, edges: Tensor) -> Any:
    """What the pooling makes of a union."""
    return op(x, segments, Graph.from_edges(edges, len(x)))


def gives_a_state_for_each_graph(build: BuildPool) -> None:
    """(N, D) becomes (G, D), in the type that came, for unions of any number of nodes."""
    for sizes in (SIZES, (3,), (0,), (0, 0), (1, 1, 1)):
        for kind in (torch.float32, torch.float64):
            op = filled(build(shape())).to(kind)
            x, segments, edges = example_union(sizes)
            out = pooled(op, x.to(kind), segments, edges)
            require(out.shape == (len(sizes), WIDTH), f"{len(sizes)} graphs became {tuple(out.shape)}")
            require(out.dtype == kind, f"{kind} became {out.dtype}")


def takes_nodes_in_any_order(build: BuildPool) -> None:
    """The numbers of the nodes within a graph carry no meaning, even where their last channels agree."""
    op, (x, segments, edges) = filled(build(shape())), example_union()
    x = torch.cat([x[:, :-1], x[:, -1:].clamp(min=0)], dim=1)
    chance = torch.from_numpy(generator(0, "contract", "shuffle").standard_normal(len(x)))
    order = segments.ranked(chance)
    moved = pooled(op, x[order], segments, torch.argsort(order)[edges])
    require(close(moved, pooled(op, x, segments, edges)), "permuting the nodes of a graph changes its state")


def pools_each_graph_by_itself(build: BuildPool) -> None:
    """The graphs of a union are pooled as they are alone."""
    op, (x, segments, edges) = filled(build(shape())), example_union()
    together = pooled(op, x, segments, edges)
    for place, size in enumerate(SIZES):
        begin, end = segments.ptr[place], segments.ptr[place + 1]
        inside = (edges[0] >= begin) & (edges[0] < end)
        alone = pooled(op, x[begin:end], Segments.of(torch.tensor([size])), edges[:, inside] - begin)
        require(close(alone[0], together[place]), f"graph {place} of a union is not pooled as it is alone")


def stands_empty_graphs(build: BuildPool) -> None:
    """A graph without nodes, or only such graphs, gives finite states and gradients."""
    for sizes in (SIZES, (0,), (0, 0)):
        op, (x, segments, edges) = filled(build(shape())), example_union(sizes)
        out = pooled(op, x.requires_grad_(), segments, edges)
        (out.square().sum() + 0 * x.sum()).backward()
        require(bool(out.isfinite().all()), "a graph without nodes has a state that is not finite")
        slopes = [x.grad, *(parameter.grad for parameter in op.parameters())]
        sound = all(slope is None or bool(slope.isfinite().all()) for slope in slopes)
        require(sound, "a graph without nodes gives a gradient that is not finite")


def pools_with_all_its_weights(build: BuildPool) -> None:
    """Every weight, and the states, reach the output; two calls agree to the bit."""
    op, (x, segments, edges) = filled(build(shape())), example_union()
    out = pooled(op, x.requires_grad_(), segments, edges)
    require(torch.equal(out, pooled(op, x, segments, edges)), "two predictions differ")
    out.square().sum().backward()
    idle = [name for name, weight in op.named_parameters() if weight.grad is None or not weight.grad.any()]
    require(not idle, f"these weights have no gradient: {', '.join(idle)}")
    require(x.grad is not None and bool(x.grad.any()), "the states have no gradient")


POOL_CONTRACTS: tuple[Callable[[BuildPool], None], ...] = (
    gives_a_state_for_each_graph,
    takes_nodes_in_any_order,
    pools_each_graph_by_itself,
    stands_empty_graphs,
    pools_with_all_its_weights,
)
