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
