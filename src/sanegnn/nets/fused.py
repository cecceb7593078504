"""All operations of a mixed layer at once: what they share is computed once.

Pooled aggregators share one pass over the edges, attention aggregators one projection and one pass. Any
other operation runs by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn

from sanegnn.kernels import Graph, aggregate, attend
from sanegnn.ops import Attention, NodeAggregator, Pooled, linear
from sanegnn.seeds import Noise


def outputs_of(ops: Iterable[nn.Module], x: Tensor, graph: Graph, noise: Noise | None) -> Tensor:
    """What every operation gives, stacked: (O, N, D)."""
    members = cast("list[NodeAggregator]", list(ops))
    done: dict[NodeAggregator, Tensor] = {
        **_pooled([op for op in members if isinstance(op, Pooled)], x, graph),
        **_attended([op for op in members if isinstance(op, Attention)], x, graph, noise),
    }
    return torch.stack([done[op] if op in done else op(x, graph, noise) for op in members])


def _pooled(ops: list[Pooled], x: Tensor, graph: Graph) -> dict[NodeAggregator, Tensor]:
    kinds = tuple(dict.fromkeys(op.pool for op in ops))
    pools = dict(zip(kinds, aggregate(x, graph, kinds), strict=True)) if ops else {}
    return {op: op.transform(x, pools[op.pool]) for op in ops}


def _attended(
    ops: list[Attention], x: Tensor, graph: Graph, noise: Noise | None
) -> dict[NodeAggregator, Tensor]:
    if not ops:
        return {}
    heads, channels, rate = ops[0].heads, ops[0].channels, ops[0].shape.attention_dropout
    values = linear(x, torch.cat([op.weight for op in ops])).view(-1, len(ops), heads, channels)
    source, target, gate = (
        torch.stack([op.vector(name) for op in ops]) for name in ("source", "target", "gate")
    )
    mixed = attend(tuple(op.score for op in ops), values, source, target, gate, graph, rate, noise)
    return {op: op.finish(part.flatten(1)) for op, part in zip(ops, mixed.unbind(1), strict=True)}
