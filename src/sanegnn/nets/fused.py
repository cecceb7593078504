"""The operations of one layer, mixed at once: Σ_o p_o o(h, graph).

Pooled aggregators share one pass over the edges, attention aggregators one projection and one pass. What is
linear in the end is mixed before it is multiplied: Σ_o p_o (X_o W_o + b_o) takes one product with Σ_o p_o W_o
for all o that read the same X, and no output of their own. Any other operation runs by itself.
"""
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from sanegnn.kernels import Graph, aggregate, attend
from sanegnn.ops import Attention, NodeAggregator, Pooled, linear
from sanegnn.ops.pooled import LinearlyPooled
from sanegnn.seeds import Noise

Members = Sequence[tuple[Tensor, Any]]
"""Mixing weights, each with its operation."""


def mixture_of(
    ops: Iterable[nn.Module], choice: Tensor, x: Tensor, graph: Graph, noise: Noise | None
) -> Tensor:
    """Σ_o p_o o(x, graph), with p the rows of the choice: (N, D)."""
    pairs = list(zip(choice.unbind(), cast("Iterable[NodeAggregator]", ops), strict=True))
    pooled = [(p, op) for p, op in pairs if isinstance(op, Pooled)]
    attended = [(p, op) for p, op in pairs if isinstance(op, Attention)]
    others = [(p, op) for p, op in pairs if not isinstance(op, Pooled | Attention)]
    parts = [
        *_pooled(pooled, x, graph),
        *_attended(attended, x, graph, noise),
        *(p * op(x, graph, noise) for p, op in others),
    ]
    return cast("Tensor", sum(parts[1:], start=parts[0]))


def _pooled(members: Members, x: Tensor, graph: Graph) -> list[Tensor]:
    kinds = tuple(dict.fromkeys(op.pool for _, op in members))
    pools = dict(zip(kinds, aggregate(x, graph, kinds), strict=True)) if members else {}
    straight = [(p, *op.terms(x, pools[op.pool])) for p, op in members if isinstance(op, LinearlyPooled)]
    bent = [(p, op) for p, op in members if not isinstance(op, LinearlyPooled)]
    return [*_products(straight), *(p * op.transform(x, pools[op.pool]) for p, op in bent)]


def _products(members: Sequence[tuple[Tensor, list[tuple[Tensor, Tensor]], Tensor]]) -> list[Tensor]:
    """Σ_o p_o (Σ_t X_t W_tᵀ + b), one product per different X."""
    inputs: dict[int, Tensor] = {}
    weights: dict[int, list[Tensor]] = {}
    for p, terms, _ in members:
        for x, weight in terms:
            inputs[id(x)] = x
            weights.setdefault(id(x), []).append(p * weight)
    bias = sum(p * shift for p, _, shift in members)
    sums = {key: sum(parts[1:], start=parts[0]) for key, parts in weights.items()}
    return [
        linear(inputs[key], weight, cast("Tensor", bias) if place == 0 else None)
        for place, (key, weight) in enumerate(sums.items())
    ]


def _attended(members: Members, x: Tensor, graph: Graph, noise: Noise | None) -> list[Tensor]:
    """Those with nothing but a bias behind the weighted sum stand first, and are mixed in one pass."""
    plain = [(p, op) for p, op in members if type(op).finish is Attention.finish]
    finished = [(p, op) for p, op in members if type(op).finish is not Attention.finish]
    if not members:
        return []
    mixed = _attend([op for _, op in plain + finished], x, graph, noise)
    first, second = mixed.split([len(plain), len(finished)], dim=1)
    parts = [p * op.finish(part.flatten(1)) for (p, op), part in zip(finished, second.unbind(1), strict=True)]
    if plain:
        shift = sum(p * op.bias for p, op in plain)
        parts.append(Blend.apply(first.flatten(2), torch.stack([p for p, _ in plain])) + shift)
    return parts


def _attend(ops: list[Attention], x: Tensor, graph: Graph, noise: Noise | None) -> Tensor:
    heads, channels, rate = ops[0].heads, ops[0].channels, ops[0].shape.attention_dropout
    values = linear(x, torch.cat([op.weight for op in ops])).view(-1, len(ops), heads, channels)
    source, target, gate = (
        torch.stack([op.vector(name) for op in ops]) for name in ("source", "target", "gate")
    )
    return attend(tuple(op.score for op in ops), values, source, target, gate, graph, rate, noise)


class Blend(torch.autograd.Function):
    """Σ_a p_a z_a without a copy of the parts."""

    @staticmethod
    def forward(ctx: Any, parts: Tensor, shares: Tensor) -> Tensor:
        """(N, A, D), (A,) -> (N, D)."""
        ctx.save_for_backward(parts, shares)
        out = parts[:, 0] * shares[0]
        for part, share in zip(parts.unbind(1)[1:], shares[1:], strict=True):
            out.addcmul_(part, share)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """The gradients of parts and shares."""
        parts, shares = ctx.saved_tensors
        d_parts = grads[0][:, None] * shares[:, None] if ctx.needs_input_grad[0] else None
        if not ctx.needs_input_grad[1]:
            return d_parts, None
        return d_parts, torch.stack([(part * grads[0]).sum() for part in parts.unbind(1)])
