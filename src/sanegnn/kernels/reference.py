"""The kernels in plain torch: for every device and type, and the truth for the compiled ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from sanegnn.kernels.noise import hashes, keep_mask
from sanegnn.kernels.reference_largest import largest as largest

if TYPE_CHECKING:
    from sanegnn.kernels.features import Features
    from sanegnn.kernels.graph import Graph
    from sanegnn.seeds import Noise

SLOPE = 0.2


def uniform(noise: Noise, n: int, device: torch.device) -> Tensor:
    """Numbers in [0, 1), (n,) float32."""
    return (hashes(noise, n, device) >> 8).float() * 2.0**-24


def dropout(x: Tensor, rate: float, noise: Noise | None) -> Tensor:
    """Zero with probability `rate`, else divided by 1 - rate."""
    if noise is None or rate == 0.0:
        return x
    mask = keep_mask(noise, x.numel(), rate, x.device).view(x.shape)
    return torch.where(mask, x, 0.0) * (1.0 / (1.0 - rate))


def _sum(x: Tensor, graph: Graph) -> Tensor:
    source, target = graph.edge_index[:, graph.proper]
    message = x[source]
    if graph.weight is not None:
        message = message * graph.weight[graph.proper].to(x.dtype)[:, None]
    return x.new_zeros(graph.num_targets, x.shape[1]).index_add(0, target, message)


def _mean(x: Tensor, graph: Graph) -> Tensor:
    degree = graph.degree[: graph.num_targets].to(x.dtype)[:, None]
    return _sum(x, graph) / torch.where(degree > 0, degree, 1.0)


def _max(x: Tensor, graph: Graph) -> Tensor:
    """The gradient goes to the first of equal neighbours."""
    source, target = graph.edge_index[:, graph.proper]
    where = target[:, None].expand(-1, x.shape[1])
    message = x[source]
    with torch.no_grad():
        shape = (graph.num_targets, x.shape[1])
        top = x.new_full(shape, -torch.inf).scatter_reduce(0, where, message, "amax")
        none = source.numel()
        position = torch.arange(none, device=x.device)[:, None].where(message == top[target], none)
        first = x.new_full(shape, none, dtype=torch.int64).scatter_reduce(0, where, position, "amin")
        winner = torch.cat([source, source.new_zeros(1)])[first]
    return torch.where(first < none, x.gather(0, winner), 0.0)


def _gcn(x: Tensor, graph: Graph) -> Tensor:
    source, target = graph.edge_index
    out = x.new_zeros(graph.num_targets, x.shape[1])
    return out.index_add(0, target, x[source] * graph.gcn_norm(x.dtype)[:, None])


def _self(x: Tensor, graph: Graph) -> Tensor:
    return x[: graph.num_targets]


AGGREGATIONS: dict[str, Callable[[Tensor, Graph], Tensor]] = {
    "self": _self,
    "sum": _sum,
    "mean": _mean,
    "max": _max,
    "gcn": _gcn,
}


def aggregate(x: Tensor, graph: Graph, kinds: tuple[str, ...], again: bool = False) -> tuple[Tensor, ...]:
    """The kinds side by side, and the sum once more if asked for."""
    side = torch.stack([AGGREGATIONS[kind](x, graph) for kind in kinds], dim=1)
    return (side, side[:, kinds.index("sum")]) if again else (side,)


Score = Callable[[Tensor, Tensor, Tensor, Tensor, "Graph"], Tensor]  # (z, a_s, a_t, gate, graph) -> (M, H)


def _gat(z: Tensor, a_s: Tensor, a_t: Tensor, gate: Tensor, graph: Graph) -> Tensor:  # noqa: ARG001
    source, target = graph.edge_index
    return leaky_relu((z * a_s).sum(-1)[source] + (z * a_t).sum(-1)[target], SLOPE)


def _gat_sym(z: Tensor, a_s: Tensor, a_t: Tensor, gate: Tensor, graph: Graph) -> Tensor:
    return _gat(z, a_s, a_t, gate, graph) + _gat(z, a_t, a_s, gate, graph)


def _gat_cos(z: Tensor, a_s: Tensor, a_t: Tensor, gate: Tensor, graph: Graph) -> Tensor:  # noqa: ARG001
    source, target = graph.edge_index
    return (z[source] * z[target]).sum(-1)


def _gat_linear(z: Tensor, a_s: Tensor, a_t: Tensor, gate: Tensor, graph: Graph) -> Tensor:  # noqa: ARG001
    source, target = graph.edge_index
    return torch.tanh((z * a_s).sum(-1)[source] + (z * a_t).sum(-1)[target])


def _gat_gen_linear(z: Tensor, a_s: Tensor, a_t: Tensor, gate: Tensor, graph: Graph) -> Tensor:
    source, target = graph.edge_index
    return (gate * torch.tanh((z * a_s)[source] + (z * a_t)[target])).sum(-1)


SCORES: dict[str, Score] = {
    "gat": _gat,
    "gat_sym": _gat_sym,
    "gat_cos": _gat_cos,
    "gat_linear": _gat_linear,
    "gat_gen_linear": _gat_gen_linear,
}


def _segment_softmax(score: Tensor, graph: Graph) -> Tensor:
    """The share of w exp(score) in its sum over each target, (M, A, H)."""
    target = graph.edge_index[1]
    if graph.weight is not None:
        score = score.masked_fill((graph.weight == 0)[:, None, None], -torch.inf)
    where = target[:, None, None].expand_as(score)
    shape = (graph.num_targets, *score.shape[1:])
    top = score.new_full(shape, -torch.inf).scatter_reduce(0, where, score.detach(), "amax")
    part = torch.exp(score - top[target])
    if graph.weight is not None:
        part = part * graph.weight.to(score.dtype)[:, None, None]
    total = score.new_zeros(shape).index_add(0, target, part)
    return part / total[target].clamp(min=torch.finfo(score.dtype).tiny)


def coefficients(
    kind: str, values: Tensor, att_source: Tensor, att_target: Tensor, gate: Tensor, graph: Graph
) -> Tensor:
    """α of one op."""
    score = SCORES[kind](values, att_source, att_target, gate, graph)
    return _segment_softmax(score[:, None], graph)[:, 0]


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
    source, target = graph.edge_index
    parts = zip(kinds, values.unbind(1), att_source, att_target, gate, strict=True)
    score = torch.stack([SCORES[kind](z, a_s, a_t, g, graph) for kind, z, a_s, a_t, g in parts], dim=1)
    alpha = dropout(_segment_softmax(score, graph), rate, noise)
    outs = [
        z.new_zeros(graph.num_targets, *z.shape[1:]).index_add(0, target, a[..., None] * z[source])
        for a, z in zip(alpha.unbind(1), values.unbind(1), strict=True)
    ]
    if shares is not None:
        blended = torch.stack([share * out for share, out in zip(shares, outs, strict=False)]).sum(0)
        outs = [blended, *outs[shares.numel() :]]
    return torch.stack(outs, dim=1)


def project(features: Features, weight: Tensor, rate: float, noise: Noise | None) -> Tensor:
    """X W with dropout on the stored entries of X."""
    values = dropout(features.values.to(weight.dtype), rate, noise)
    if not features.is_sparse:
        return values @ weight
    index = torch.stack([features.row, features.part("col").long()])
    x = torch.sparse_coo_tensor(index, values, features.shape, is_coalesced=True, check_invariants=False)
    out: Tensor = torch.sparse.mm(x, weight)
    return out


def distances(x: Tensor, pairs: Tensor) -> Tensor:
    """Σ_c |x_uc - x_vc| for every pair of rows u, v."""
    return (x.index_select(0, pairs[0]) - x.index_select(0, pairs[1])).abs().sum(1)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """X W + b."""
    return x @ weight if bias is None else torch.addmm(bias, x, weight)


def linear_sum(inputs: Sequence[Tensor], weights: Sequence[Tensor], bias: Tensor) -> Tensor:
    """Σ_t X_t W_tᵀ + b."""
    return torch.stack([x @ weight.T for x, weight in zip(inputs, weights, strict=True)]).sum(0) + bias


def add_scaled(x: Tensor, y: Tensor, factor: Tensor) -> Tensor:
    """X + factor · Y."""
    return torch.addcmul(x, y, factor)


def lstm_step(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """σ(o) tanh(σ(i) tanh(g)) of the gates i, g, o = x W + b."""
    i, g, o = torch.addmm(bias, x, weight).chunk(3, dim=-1)
    return torch.sigmoid(o) * torch.tanh(torch.sigmoid(i) * torch.tanh(g))


def _lstm_direction(states: Tensor, w_in: Tensor, w_rec: Tensor, bias: Tensor, steps: range) -> list[Tensor]:
    """The hidden states of one direction from zero, in the order of `steps`."""
    gates_in = states @ w_in + bias
    hidden: list[Tensor] = []
    cell: Tensor | None = None
    for k in steps:
        gates = gates_in[k] if cell is None else gates_in[k] + hidden[-1] @ w_rec
        i, f, g, o = gates.chunk(4, dim=-1)
        new = torch.sigmoid(i) * torch.tanh(g)
        cell = new if cell is None else torch.sigmoid(f) * cell + new
        hidden.append(torch.sigmoid(o) * torch.tanh(cell))
    return hidden


def lstm_readout(
    states: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias: Tensor, att_weight: Tensor, att_bias: Tensor
) -> Tensor:
    """Σ_k softmax_k(a · [h_k→, h_k←] + b) x_k."""
    count = states.shape[0]
    forth = _lstm_direction(states, weight_ih[0], weight_hh[0], bias[0], range(count))
    back = _lstm_direction(states, weight_ih[1], weight_hh[1], bias[1], range(count - 1, -1, -1))[::-1]
    score = (
        torch.stack([torch.cat(pair, -1) @ att_weight for pair in zip(forth, back, strict=True)]) + att_bias
    )
    return (torch.softmax(score, dim=0)[..., None] * states).sum(0)
