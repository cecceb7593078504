"""The plain designs that stand beside every search: what a person would try first."""

from __future__ import annotations

from sanegnn.space.architecture import Architecture

PLAIN = ("gcn", "sage_mean", "gat", "gin")


def plain_designs(depth: int) -> tuple[Architecture, ...]:
    """Each plain aggregator with two layers and with `depth`, alone and with all skips and concat."""
    depths = dict.fromkeys((min(2, depth), depth))
    alone = [Architecture((op,) * layers) for layers in depths for op in PLAIN]
    joined = [Architecture((op,) * layers, ("skip",) * layers, "concat") for layers in depths for op in PLAIN]
    return (*alone, *joined)


def pooled_designs(depth: int) -> tuple[Architecture, ...]:
    """For whole graphs, with all skips and concat: each aggregator under sum and mean, GCN under two more."""
    pairs = [*((op, pool) for op in PLAIN for pool in ("sum", "mean")), ("gcn", "sort"), ("gcn", "topk")]
    return tuple(Architecture((op,) * depth, ("skip",) * depth, "concat", pool) for op, pool in pairs)
