"""Sum, mean, max and GCN over neighbours in one compiled pass over the edges, and one back."""
# ruff: noqa: ANN001, ANN201, ANN202 (numba infers the types)
# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call, misc, no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numba.extending import register_jitable
from torch import Tensor

from sanegnn.kernels.cpu_tiles import AHEAD, flat, kernel, run
from sanegnn.kernels.simd import LANES, bare, fetch, fma, like, select, splat, zeros
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
    """Which kinds are asked for, D, and the numbers between a node's row of a kind and the next node's."""

    own: bool
    sum: bool
    mean: bool
    max: bool
    gcn: bool
    again: bool
    width: int
    step: int


class Rows(NamedTuple):
    """From where the rows of each kind stand, (R, step), and the position of the winning edge for max (R, D).

    `again` (R, D) is a second gradient of the sum. What is not asked for is empty.
    """

    own: Any
    sum: Any
    mean: Any
    max: Any
    gcn: Any
    winner: Any
    again: Any


@kernel
def fold(bounds, first, last, links, wanted, x, rows):
    """Fill the rows from x (N, D)."""
    _fold(bounds[first], bounds[last], bare(links), wanted, bare((x,))[0], bare(rows))


@register_jitable
def _fold(start, stop, links, wanted, x, rows):
    width = wanted.width
    linear = wanted.sum or wanted.mean
    last = links.ptr[stop] - 1
    for v in range(start, stop):
        for c in range(0, width, LANES):
            left, here, at = width - c, v * width + c, v * wanted.step + c
            own = load_up_to(x, here, left)
            sums, gcn = zeros(x), own * links.scale[v]
            high, winner = like(sums, -np.inf), like(zeros(links.src), -1)
            for k in range(links.ptr[v] + 1, links.ptr[v + 1]):
                u, coming = np.int64(links.src[k]), np.int64(links.src[min(k + AHEAD, last)])
                fetch(x, coming * width + c)
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
            if wanted.own:
                store_up_to(rows.own, at, own, left)
            if wanted.sum:
                store_up_to(rows.sum, at, sums, left)
            if wanted.mean:
                store_up_to(rows.mean, at, sums * links.per_degree[v], left)
            if wanted.max:
                alone = links.ptr[v + 1] - links.ptr[v] == 1
                store_up_to(rows.max, at, zeros(x) if alone else high, left)
                store_up_to(rows.winner, here, winner, left)
            if wanted.gcn:
                store_up_to(rows.gcn, at, gcn * links.scale[v], left)


@register_jitable
def _fetch(wanted, rows, at, alone):
    if wanted.sum:
        fetch(rows.sum, at)
    if wanted.mean:
        fetch(rows.mean, at)
    if wanted.max:
        fetch(rows.max, at)
        fetch(rows.winner, alone)
    if wanted.gcn:
        fetch(rows.gcn, at)


@kernel
def unfold(bounds, first, last, links, targets, wanted, rows, dx):
    """Fill dx (N, D) from the gradients of the rows of the targets."""
    _unfold(bounds[first], bounds[last], bare(links), targets, wanted, bare(rows), bare((dx,))[0])


@register_jitable
def _unfold(start, stop, links, targets, wanted, rows, dx):
    width, step = wanted.width, wanted.step
    last = links.out_ptr[stop] - 1
    for u in range(start, stop):
        for c in range(0, width, LANES):
            left, sums, gcn = width - c, zeros(dx), zeros(dx)
            if wanted.own and u < targets:
                sums = load_up_to(rows.own, u * step + c, left)
            for k in range(links.out_ptr[u], links.out_ptr[u + 1]):
                v, e = np.int64(links.out_dst[k]), links.out_edge[k]
                there, coming = v * step + c, np.int64(links.out_dst[min(k + AHEAD, last)])
                _fetch(wanted, rows, coming * step + c, coming * width + c)
                w = like(sums, links.weight[e]) if links.weighted else like(sums, 1.0)
                if wanted.gcn:
                    gcn = fma(w * links.scale[v], load_up_to(rows.gcn, there, left), gcn)
                if e == links.ptr[v]:  # the added self-loop, which stands first
                    continue
                if wanted.sum:
                    sums = fma(w, load_up_to(rows.sum, there, left), sums)
                if wanted.again:
                    sums = fma(w, load_up_to(rows.again, v * width + c, left), sums)
                if wanted.mean:
                    sums = fma(w * links.per_degree[v], load_up_to(rows.mean, there, left), sums)
                if wanted.max:
                    winner = load_up_to(rows.winner, v * width + c, left)
                    mine = load_up_to(rows.max, there, left)
                    sums = sums + select(winner == like(winner, e), mine, zeros(dx))
            store_up_to(dx, u * width + c, fma(gcn, splat(links.scale[u]), sums), left)


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


KINDS = ("self", "sum", "mean", "max", "gcn")


class Aggregate(torch.autograd.Function):
    """The kinds side by side, (R, kinds, D), and if `again` the sum once more; keeps the winners of max."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, graph: Graph, kinds: tuple[str, ...], again: bool) -> tuple[Tensor, ...]:
        """The kinds are different."""
        x = x.contiguous()
        side = x.new_empty(graph.num_targets, len(kinds), x.shape[1])
        winner = torch.empty(side[:, 0].shape if "max" in kinds else (0,), dtype=graph.src.dtype)
        ctx.set_materialize_grads(False)
        ctx.graph, ctx.kinds, ctx.winner = graph, kinds, winner
        wanted, rows = _laid_out(side, kinds, winner, None)
        run(
            fold, graph.units, graph.src.numel() * wanted.width, _links(graph, x.dtype), wanted, flat(x), rows
        )
        return (side, side[:, kinds.index("sum")]) if again else (side,)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, None, None, None]:
        """The gradient of x."""
        graph, kinds = ctx.graph, ctx.kinds
        side, again = (*grads, None)[:2]
        if side is None:
            if again is None:
                return None, None, None, None
            side = again.new_zeros(graph.num_targets, len(kinds), again.shape[1])
        wanted, rows = _laid_out(side.contiguous(), kinds, ctx.winner, again)
        dx = side.new_empty(graph.num_nodes, wanted.width)
        links, work = _links(graph, side.dtype), graph.src.numel() * wanted.width
        run(unfold, graph.out_units, work, links, graph.num_targets, wanted, rows, flat(dx))
        return dx, None, None, None


def _laid_out(
    side: Tensor, kinds: tuple[str, ...], winner: Tensor, again: Tensor | None
) -> tuple[Wanted, Rows]:
    """Where the kernels find the rows of every kind."""
    numbers, width = flat(side), side.shape[2]
    has = [kind in kinds for kind in KINDS]
    wanted = Wanted(has[0], has[1], has[2], has[3], has[4], again is not None, width, len(kinds) * width)
    at = [numbers[kinds.index(kind) * width :] if kind in kinds else numbers[:0] for kind in KINDS]
    more = flat(side.new_empty(0) if again is None else again)
    return wanted, Rows(at[0], at[1], at[2], at[3], at[4], flat(winner), more)


def aggregate(x: Tensor, graph: Graph, kinds: tuple[str, ...], again: bool = False) -> tuple[Tensor, ...]:
    """The kinds side by side, and the sum once more if asked for."""
    out: tuple[Tensor, ...] = Aggregate.apply(x, graph, tuple(kinds), again)
    return out
