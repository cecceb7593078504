"""The operations of one layer, mixed at once: Σ_o p_o o(h, graph).

Pooled aggregators share one pass over the edges, attention aggregators one projection and one pass. What is
linear in the end is mixed before it is multiplied: Σ_o p_o (X_o W_o + b_o) takes one product with Σ_o p_o W_o
for all o that read the same X, and attention sums its messages by p. Any other operation runs by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from sanegnn.kernels import Graph, aggregate_beside, attend, linear_sum
from sanegnn.ops import Attention, NodeAggregator, Pooled, linear
from sanegnn.ops.pooled import LinearlyPooled
from sanegnn.seeds import Noise

Members = Sequence[tuple[Tensor, Any]]
"""Mixing weights, each with its operation."""


def mixture_of(
    ops: Iterable[nn.Module], choice: Tensor, x: Tensor, graph: Graph, noise: Noise | None
) -> Tensor:
    """Σ_o p_o o(x, graph), with p the rows of the choice: (R, D)."""
    pairs = list(zip(choice.unbind(), cast("Iterable[NodeAggregator]", ops), strict=True))
    pooled = [(p, op) for p, op in pairs if isinstance(op, Pooled)]
    attended = [(p, op) for p, op in pairs if isinstance(op, Attention)]
    others = [(p, op(x, graph, noise)) for p, op in pairs if not isinstance(op, Pooled | Attention)]
    sums, apart = _sums([_pooled(pooled, x, graph), _attended(attended, x, graph, noise), ([], others)])
    if not sums:
        (p, first), *apart = apart
        sums = [p * first]
    mixed = sum(sums[1:], start=sums[0])
    for p, out in apart:
        mixed = torch.addcmul(mixed, p, out)
    return mixed


Mixed = tuple[list[Tensor], list[tuple[Tensor, Tensor]]]
"""Sums that are mixed already, and outputs with the mixing weights that they still want."""


def _sums(parts: Sequence[Mixed]) -> Mixed:
    return [one for sums, _ in parts for one in sums], [one for _, apart in parts for one in apart]


def _pooled(members: Members, x: Tensor, graph: Graph) -> Mixed:
    if not members:
        return [], []
    kinds = tuple(dict.fromkeys(("self", "sum", *(op.pool for _, op in members))))
    side, total = aggregate_beside(x, graph, kinds)
    own = x[: graph.num_targets]
    straight = [(p, op) for p, op in members if isinstance(op, LinearlyPooled)]
    bent = [(p, op) for p, op in members if not isinstance(op, LinearlyPooled)]

    def pool(op: Pooled) -> Tensor:
        return total if op.pool == "sum" else side[:, kinds.index(op.pool)]

    hidden = [(p, op, op.hidden(own, pool(op))) for p, op in straight if "hidden" in op.weights()]
    sums = [_linear_sum(straight, side, kinds, hidden)] if straight else []
    return sums, [(p, op.transform(own, pool(op))) for p, op in bent]


def _linear_sum(
    members: Members, side: Tensor, kinds: Sequence[str], hidden: Sequence[tuple[Tensor, Any, Tensor]]
) -> Tensor:
    """Σ_o p_o (Σ_k X_k W_kᵀ + b): one product for what stands side by side, one for every hidden state."""
    terms = [(p, kind, w) for p, op in members for kind, w in op.weights().items() if kind in kinds]
    bias = _mixed([(p, op.shift()) for p, op in members])
    inputs, weights = [state for *_, state in hidden], [p * op.weights()["hidden"] for p, op, _ in hidden]
    if terms:
        where = torch.tensor([kinds.index(kind) for _, kind, _ in terms], device=side.device)
        shares = torch.stack([p for p, *_ in terms])
        parts = torch.stack([weight for *_, weight in terms]) * shares[:, None, None]
        mixed = parts.new_zeros(len(kinds), *parts.shape[1:]).index_add(0, where, parts)
        inputs, weights = [side.flatten(1), *inputs], [mixed.transpose(0, 1).flatten(1), *weights]
    return linear_sum(inputs, weights, bias)


def _mixed(members: Members) -> Tensor:
    """Σ_o p_o b_o of the biases."""
    return torch.stack([p for p, _ in members]) @ torch.stack([bias for _, bias in members])


def _attended(members: Members, x: Tensor, graph: Graph, noise: Noise | None) -> Mixed:
    """Those with nothing but a bias behind the weighted sum stand first, and are blended in one pass."""
    if not members:
        return [], []
    plain = [(p, op) for p, op in members if type(op).finish is Attention.finish]
    finished = [(p, op) for p, op in members if type(op).finish is not Attention.finish]
    shares = torch.stack([p for p, _ in plain]) if plain else None
    out = _attend([op for _, op in plain + finished], shares, x, graph, noise).flatten(2)
    rows = list(out.unbind(1)) if out.shape[1] > 1 else [out.flatten(1)]
    blended = [rows.pop(0) + _mixed([(p, op.bias) for p, op in plain])] if plain else []
    return blended, [(p, op.finish(row)) for (p, op), row in zip(finished, rows, strict=True)]


def _attend(
    ops: list[Attention], shares: Tensor | None, x: Tensor, graph: Graph, noise: Noise | None
) -> Tensor:
    heads, channels, rate = ops[0].heads, ops[0].channels, ops[0].shape.attention_dropout
    values = linear(x, torch.cat([op.weight for op in ops])).view(-1, len(ops), heads, channels)
    source, target, gate = (
        torch.stack([op.vector(name) for op in ops]) for name in ("source", "target", "gate")
    )
    return attend(tuple(op.score for op in ops), values, source, target, gate, graph, rate, noise, shares)
