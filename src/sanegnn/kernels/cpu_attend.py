"""Attention on the CPU: the compiled passes as a function with a gradient."""
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sanegnn.kernels import cpu_attention as fore
from sanegnn.kernels import cpu_attention_back as back
from sanegnn.kernels.cpu_tiles import flat, run
from sanegnn.kernels.noise import threshold, words
from sanegnn.kernels.simd import LANES

if TYPE_CHECKING:
    from sanegnn.kernels.graph import Graph
    from sanegnn.seeds import Noise

# kind: (rule, symmetric, linear)
RULES = {
    "gat": (fore.SEPARABLE, 0, 0),
    "gat_sym": (fore.SEPARABLE, 1, 0),
    "gat_linear": (fore.SEPARABLE, 0, 1),
    "gat_cos": (fore.COSINE, 0, 0),
    "gat_gen_linear": (fore.GENERAL, 0, 0),
}

KEPT = 2**24
"""The numbers that a backward may keep per edge, from the pass by target for the pass by source: 64 MiB."""


def _layer(
    kinds: tuple[str, ...],
    values: Tensor,
    att_source: Tensor,
    att_target: Tensor,
    gate: Tensor,
    shares: Tensor | None,
) -> fore.Layer:
    _, ops, heads, width = values.shape
    blended = 0 if shares is None else shares.numel()
    lanes = -(-ops * heads // LANES) * LANES
    code = np.array([RULES[kind][0] for kind in kinds], dtype=np.int64)
    general = code == fore.GENERAL
    per_op = np.array([(RULES[kind][0] == fore.SEPARABLE, *RULES[kind][1:]) for kind in kinds])
    per_lane = np.zeros((3, lanes), dtype=flat(gate).dtype)
    per_lane[:, : ops * heads] = np.repeat(per_op.T, heads, axis=1)
    separable, symmetric, linear = per_lane
    places = np.maximum(np.arange(ops) - max(blended - 1, 0), 0)
    column = (places[:, None] * heads + np.arange(heads)).ravel() * width
    share = np.ones(lanes, dtype=per_lane.dtype)
    if shares is not None:
        share[: blended * heads] = np.repeat(shares.detach().numpy(), heads)
    grad_row = (int(places[-1]) + 1) * heads * width
    sizes = (ops, heads, width, lanes, int(general.sum()), blended, grad_row, bool(linear.any()))
    slot = np.cumsum(general) - general
    rules = (code, slot, separable, symmetric, linear, share, column)
    return fore.Layer(*sizes, *rules, flat(att_source), flat(att_target), flat(gate))


def chance(rate: float, noise: Noise | None) -> fore.Chance:
    """The dropout of that rate as the kernels take it."""
    if noise is None or rate == 0.0:
        return fore.Chance(0, 0, 0, 0.0)
    return fore.Chance(*words(noise), threshold(rate), 1.0 / (1.0 - rate))


def _work(graph: Graph, values: Tensor) -> int:
    return graph.src.numel() * values[0].numel()


def _node_scores(graph: Graph, layer: fore.Layer, values: Tensor) -> tuple[Any, Any]:
    s, d = (np.empty(graph.num_nodes * layer.lanes, dtype=layer.gate.dtype) for _ in range(2))
    run(fore.node_scores, graph.out_units, values.numel(), layer, (flat(values), s, d))
    return s, d


class Attend(torch.autograd.Function):
    """Keeps the values, the output and four numbers per node and lane; see `cpu_attention`."""

    @staticmethod
    def forward(
        ctx: Any,
        values: Tensor,
        att_source: Tensor,
        att_target: Tensor,
        gate: Tensor,
        shares: Tensor | None,
        *rest: Any,
    ) -> Tensor:
        """Attention over Ñ(v); `rest` is kinds, graph and dropout."""
        kinds, graph, drop = rest
        values = values.contiguous()
        layer = _layer(kinds, values, att_source, att_target, gate, shares)
        s, d = _node_scores(graph, layer, values)
        out = values.new_empty(graph.num_targets, *values.shape[1:])
        blend = values.new_empty(graph.num_targets * layer.grad_row if layer.blended else 0)
        top, norm = np.empty_like(s), np.empty_like(s)
        edges, _ = _edges(graph, values.dtype)
        arrays = (flat(values), s, d, top, norm, flat(out), flat(blend))
        run(fore.forward, graph.units, _work(graph, values), edges, layer, drop, arrays)
        ctx.save_for_backward(values, gate, out)
        ctx.graph, ctx.drop, ctx.layer, ctx.statistics = graph, drop, layer, (s, d, top, norm)
        return blend.view(graph.num_targets, -1, *values.shape[2:]) if layer.blended else out

    @staticmethod
    def backward(ctx: Any, *grads_out: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of values, att_source, att_target, gate and shares."""
        values, gate, out = ctx.saved_tensors
        graph, layer = ctx.graph, ctx.layer
        s, d, top, inverse = ctx.statistics
        grad, r = flat(grads_out[0]), np.zeros_like(s)
        run(fore.node_dots, graph.units, values.numel(), layer, (grad, flat(out), r))
        d_shares = _d_shares(layer, r) if layer.blended else None
        need_values, *need = ctx.needs_input_grad[:4]
        if not (need_values or any(need)):
            return None, None, None, None, d_shares, None, None, None
        known = back.Known(flat(values), grad, s, d, top, inverse, r)
        sums = _sums(graph, layer, any(need))
        d_values = torch.zeros_like(values)
        grads = back.Grads(flat(d_values), np.zeros_like(s), np.zeros_like(s), any(need), *sums)
        _passes(graph, layer, ctx.drop, known, grads, _work(graph, values))
        d_params = [
            torch.from_numpy(part.reshape(-1, gate.numel()).sum(0)).view(gate.shape) if asked else None
            for part, asked in zip(sums, need, strict=True)
        ]
        return d_values if need_values else None, *d_params, d_shares, None, None, None


def _d_shares(layer: fore.Layer, r: Any) -> Tensor:
    """Σ_v <g_v, out_v> of every blended op."""
    per_pair = r.reshape(-1, layer.lanes)[:, : layer.blended * layer.heads].sum(0)
    return torch.from_numpy(per_pair.reshape(layer.blended, layer.heads).sum(1))


def _sums(graph: Graph, layer: fore.Layer, needed: bool) -> list[Any]:
    """Per parameter its gradient by unit, empty if nobody asks."""
    units = max(graph.units.size, graph.out_units.size) - 1 if needed else 0
    return [np.zeros(units * layer.gate.size, dtype=layer.gate.dtype) for _ in range(3)]


def _edges(graph: Graph, dtype: torch.dtype) -> tuple[fore.Edges, fore.Edges]:
    """The two layouts of the graph, by target and by source."""
    key = ("edges", dtype)
    if key not in graph.memo:
        ptr, src, weight = graph.rows(dtype)
        out_ptr, out_dst, out_edge = graph.columns()
        weighted = graph.weight is not None
        graph.memo[key] = (
            fore.Edges(ptr, src, out_edge, weight, weighted, False),
            fore.Edges(out_ptr, out_dst, out_edge, weight, weighted, True),
        )
    both: tuple[fore.Edges, fore.Edges] = graph.memo[key]
    return both


def _passes(
    graph: Graph, layer: fore.Layer, drop: fore.Chance, known: back.Known, grads: back.Grads, work: int
) -> None:
    by_target, by_source = _edges(graph, torch.from_numpy(known.z).dtype)
    numbers = 3 * layer.ops * layer.heads * graph.src.numel()
    here = numbers <= KEPT
    kept = back.Kept(here, np.empty(numbers if here else 0, dtype=known.z.dtype))
    run(back.by_edges, graph.units, work, by_target, layer, drop, known, kept, grads)
    run(back.by_edges, graph.out_units, work, by_source, layer, drop, known, kept, grads)
    run(back.by_node, graph.out_units, known.z.size, layer, known, grads)


def attend(
    kinds: tuple[str, ...],
    values: Tensor,
    att_source: Tensor,
    att_target: Tensor,
    gate: Tensor,
    graph: Graph,
    rate: float,
    noise: Noise | None,
    shares: Tensor | None = None,
) -> Tensor:
    """Attention over Ñ(v) for all ops of a layer."""
    rest = (tuple(kinds), graph, chance(rate, noise))
    out: Tensor = Attend.apply(values, att_source, att_target, gate, shares, *rest)
    return out
