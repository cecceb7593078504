"""Sum, mean, max and GCN over neighbours in one compiled pass over the edges, and one back."""
# ruff: noqa: ANN001, ANN201, ANN202 (numba infers the types)
# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call, misc, no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numba.extending import register_jitable
from torch import Tensor

from sanegnn.kernels.cpu_tiles import flat, kernel, run
from sanegnn.kernels.simd import LANES, bare, fma, like, select, splat, zeros
from sanegnn.kernels.simd_math import highest, load_up_to, store_up_to

if TYPE_CHECKING:
    from sanegnn.kernels.graph import Graph


class Links(NamedTuple):
    """The CSR by target and by source, the weights by position, and per node 1 / sqrt(d̃) and 1 / degree."""

    ptr: Any
    src: Any
    out_ptr: Any
    out_dst: Any
    out_edge: Any
    weight: Any
    weighted: bool
    scale: Any
    per_degree: Any


class Wanted(NamedTuple):
    """Which kinds are asked for."""

    sum: bool
    mean: bool
    max: bool
    gcn: bool


class Rows(NamedTuple):
    """One (N, D) per kind, and the position of the winning edge for max; empty if not asked for."""

    sum: Any
    mean: Any
    max: Any
    gcn: Any
    winner: Any


@kernel
def fold(bounds, first, last, links, wanted, x, width, rows):
    """Fill the rows from x (N, D)."""
    for unit in range(first, last):
        _fold(bounds[unit], bounds[unit + 1], bare(links), wanted, bare((x,))[0], width, bare(rows))


@register_jitable
def _fold(start, stop, links, wanted, x, width, rows):
    linear = wanted.sum or wanted.mean
    for v in range(start, stop):
        for c in range(0, width, LANES):
            left, at = width - c, v * width + c
            sums, gcn = zeros(x), load_up_to(x, at, left) * links.scale[v]
            high, winner = like(sums, -np.inf), like(zeros(links.src), -1)
            for k in range(links.ptr[v] + 1, links.ptr[v + 1]):
                u = np.int64(links.src[k])
                message = load_up_to(x, u * width + c, left)
                if wanted.max:
                    winner = select(message > high, like(winner, k), winner)
                    high = highest(message, high)
                if links.weighted:
                    message = message * links.weight[k]
                if linear:
                    sums = sums + message
                if wanted.gcn:
                    gcn = fma(message, splat(links.scale[u]), gcn)
            if wanted.sum:
                store_up_to(rows.sum, at, sums, left)
            if wanted.mean:
                store_up_to(rows.mean, at, sums * links.per_degree[v], left)
            if wanted.max:
                alone = links.ptr[v + 1] - links.ptr[v] == 1
                store_up_to(rows.max, at, zeros(x) if alone else high, left)
                store_up_to(rows.winner, at, winner, left)
            if wanted.gcn:
                store_up_to(rows.gcn, at, gcn * links.scale[v], left)


@kernel
def unfold(bounds, first, last, links, wanted, rows, width, dx):
    """Fill dx (N, D) from the gradients of the rows."""
    for unit in range(first, last):
        _unfold(bounds[unit], bounds[unit + 1], bare(links), wanted, bare(rows), width, bare((dx,))[0])


@register_jitable
def _unfold(start, stop, links, wanted, rows, width, dx):
    for u in range(start, stop):
        for c in range(0, width, LANES):
            left, at = width - c, u * width + c
            sums, gcn = zeros(dx), zeros(dx)
            for k in range(links.out_ptr[u], links.out_ptr[u + 1]):
                v, e = np.int64(links.out_dst[k]), links.out_edge[k]
                there = v * width + c
                w = like(sums, links.weight[e]) if links.weighted else like(sums, 1.0)
                if wanted.gcn:
                    gcn = fma(w * links.scale[v], load_up_to(rows.gcn, there, left), gcn)
                if v == u:
                    continue
                if wanted.sum:
                    sums = fma(w, load_up_to(rows.sum, there, left), sums)
                if wanted.mean:
                    sums = fma(w * links.per_degree[v], load_up_to(rows.mean, there, left), sums)
                if wanted.max:
                    winner = load_up_to(rows.winner, there, left)
                    mine = load_up_to(rows.max, there, left)
                    sums = sums + select(winner == like(winner, e), mine, zeros(dx))
            store_up_to(dx, at, fma(gcn, splat(links.scale[u]), sums), left)


def _links(graph: Graph, dtype: torch.dtype) -> Links:
    key = ("links", dtype)
    if key not in graph.memo:
        graph.memo[key] = _new_links(graph, dtype)
    links: Links = graph.memo[key]
    return links


def _new_links(graph: Graph, dtype: torch.dtype) -> Links:
    degree = graph.degree.to(dtype)
    return Links(
        *graph.rows(dtype)[:2], *graph.columns(), graph.rows(dtype)[2], graph.weight is not None,
        graph.gcn_scale(dtype).numpy(), torch.where(degree > 0, 1.0 / degree, 0.0).numpy(),
    )  # fmt: skip


KINDS = ("sum", "mean", "max", "gcn")


def _rows(given: dict[str, Tensor], winner: Any, dtype: torch.dtype) -> Rows:
    none = torch.empty(0, dtype=dtype)
    by_kind = [flat(given.get(kind, none)) for kind in KINDS]
    return Rows(by_kind[0], by_kind[1], by_kind[2], by_kind[3], winner)


class Aggregate(torch.autograd.Function):
    """Keeps only the winners of max."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, graph: Graph, kinds: tuple[str, ...]) -> tuple[Tensor, ...]:
        """One (N, D) per kind; the kinds are different."""
        x = x.contiguous()
        wanted = Wanted(*(kind in kinds for kind in KINDS))
        shape = (graph.num_targets, x.shape[1])
        outs = {kind: x.new_empty(shape) for kind in kinds}
        winner = torch.empty(shape if wanted.max else (0,), dtype=graph.src.dtype)
        rows = _rows(outs, flat(winner), x.dtype)
        links = _links(graph, x.dtype)
        run(fold, graph.units, graph.src.numel() * x.shape[1], links, wanted, flat(x), x.shape[1], rows)
        ctx.graph, ctx.kinds, ctx.winner, ctx.width = graph, kinds, rows.winner, x.shape[1]
        ctx.set_materialize_grads(False)
        return tuple(outs[kind] for kind in kinds)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, None, None]:
        """The gradient of x."""
        given = {kind: grad for kind, grad in zip(ctx.kinds, grads, strict=True) if grad is not None}
        if not given:
            return None, None, None
        some = next(iter(given.values()))
        wanted = Wanted(*(kind in given for kind in KINDS))
        rows = _rows(given, ctx.winner, some.dtype)
        dx = some.new_empty(ctx.graph.num_nodes, ctx.width)
        links = _links(ctx.graph, some.dtype)
        work = ctx.graph.src.numel() * ctx.width
        run(unfold, ctx.graph.out_units, work, links, wanted, rows, ctx.width, flat(dx))
        return dx, None, None


def aggregate(x: Tensor, graph: Graph, kinds: tuple[str, ...]) -> tuple[Tensor, ...]:
    """One aggregate of the neighbours per kind."""
    different = tuple(dict.fromkeys(kinds))
    outs = dict(zip(different, Aggregate.apply(x, graph, different), strict=True))
    return tuple(outs[kind] for kind in kinds)
