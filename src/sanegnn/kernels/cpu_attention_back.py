"""The compiled backward of attention: a pass by target, then one by source, both over tiles of edges.

Every pass sums what belongs to its node, so that no two threads ever write to the same row. The coefficients
are computed again by target; by source too, unless the graph is small enough to keep them from pass to pass.
Gradients of parameters are summed per unit first, in a fixed order.
"""
# ruff: noqa: ANN001, ANN201, ANN202 (numba infers the types)
# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call, misc, no-any-return"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from sanegnn.kernels.cpu_attention import (
    COSINE,
    GENERAL,
    SEPARABLE,
    fetch_rows,
    fill,
    general_scores,
    keep_factor,
    new_tile,
    scores,
)
from sanegnn.kernels.cpu_tiles import TILE, kernel, tile_end
from sanegnn.kernels.simd import LANES, bare, fma, like, load, splat, store, zeros
from sanegnn.kernels.simd_math import dot, exp, load_up_to, store_up_to


class Known(NamedTuple):
    """Values (N, J C), gradient (N, grad_row); per node and lane s, d, highest score, inverse norm, r."""

    z: Any
    grad: Any
    s: Any
    d: Any
    top: Any
    inverse: Any
    r: Any


class Kept(NamedTuple):
    """Per edge, by its position, what the pass by source needs again: (M, 3 J), or empty."""

    here: bool
    rows: Any


class Grads(NamedTuple):
    """To fill: dz (N, J C), ds and dd (N, lanes); if asked, those of parameters per unit, (units, J C)."""

    z: Any
    s: Any
    d: Any
    asked: bool
    att_source: Any
    att_target: Any
    gate: Any


@register_jitable
def _coefficients(layer, edges, tile, n, known, chance):
    """Of every edge: the dropped coefficient times the share in `score`, gradients in `slope` and `back`.

    These are of s_u + d_v and of s_v + d_u for separable ops, and in `slope` of the score itself for others.
    """
    row = layer.ops * layer.heads * layer.width
    scores(layer, edges, tile, n, known.z, known.s, known.d, True)
    for i in range(n):
        u, v = tile.source[i] * row, tile.target[i] * layer.grad_row
        for j in range(layer.ops * layer.heads):
            there = v + layer.column[j]
            tile.dots[i * layer.lanes + j] = dot(known.z, u + j * layer.width, known.grad, there, layer.width)
    for i in range(n):
        v = tile.target[i] * layer.lanes
        for b in range(0, layer.lanes, LANES):
            at = i * layer.lanes + b
            alpha = exp(load(tile.score, at) - load(known.top, v + b)) * load(known.inverse, v + b)
            if edges.weighted:
                alpha = alpha * edges.weight[tile.position[i]]
            keep = like(alpha, 1.0)
            if chance.scale > 0.0:
                keep = keep_factor(layer, chance, tile.position[i], b, alpha)
            alpha = alpha * load(layer.share, b)
            de = alpha * fma(keep, load(tile.dots, at), like(alpha, 0.0) - load(known.r, v + b))
            store(tile.score, at, alpha * keep)
            store(tile.slope, at, de * load(tile.slope, at))
            store(tile.back, at, de * load(tile.back, at))


@register_jitable
def _keep(layer, tile, n, kept):
    pairs = layer.ops * layer.heads
    for i in range(n):
        at = tile.position[i] * 3 * pairs
        for b in range(0, pairs, LANES):
            k, left = i * layer.lanes + b, pairs - b
            store_up_to(kept.rows, at + b, load(tile.score, k), left)
            store_up_to(kept.rows, at + pairs + b, load(tile.slope, k), left)
            store_up_to(kept.rows, at + 2 * pairs + b, load(tile.back, k), left)


@register_jitable
def _recall(layer, tile, n, kept, z):
    for a in range(layer.ops):
        if layer.code[a] == GENERAL:
            general_scores(layer, tile, n, a, z)  # for `bent`
    pairs = layer.ops * layer.heads
    for i in range(n):
        at = tile.position[i] * 3 * pairs
        for b in range(0, pairs, LANES):
            k, left = i * layer.lanes + b, pairs - b
            store(tile.score, k, load_up_to(kept.rows, at + b, left))
            store(tile.slope, k, load_up_to(kept.rows, at + pairs + b, left))
            store(tile.back, k, load_up_to(kept.rows, at + 2 * pairs + b, left))


@register_jitable
def _lane_sums(layer, i0, i1, at, parts, fresh, out):
    """out[node] (+)= Σ parts over the edges, per lane."""
    for b in range(0, layer.lanes, LANES):
        sums = zeros(out) if fresh else load(out, at + b)
        for i in range(i0, i1):
            sums = sums + load(parts, i * layer.lanes + b)
        store(out, at + b, sums)


@register_jitable
def _row_sums(factors, lanes, j, i0, i1, rows, row, at, left, table, sums):
    """Add Σ factor_ij · table[row_i, at : at + 16] to the sums."""
    for i in range(i0, i1):
        sums = fma(splat(factors[i * lanes + j]), load_up_to(table, rows[i] * row + at, left), sums)
    return sums


@register_jitable
def _accumulate(layer, tile, i0, i1, v, known, others, by_source, fresh, dz):
    """dz of the node: what the cosine scores ask for, and by source what its messages got."""
    lanes, width, pairs = layer.lanes, layer.width, layer.ops * layer.heads
    row = pairs * width
    for j in range(pairs):
        code = layer.code[j // layer.heads]
        begins = fresh and by_source == (code == SEPARABLE)
        for c in range(0, width, LANES):
            left, at = width - c, j * width + c
            if not by_source and code == SEPARABLE:
                continue
            sums = zeros(dz) if begins else load_up_to(dz, v * row + at, left)
            if by_source:
                there = layer.column[j] + c
                table = known.grad
                sums = _row_sums(
                    tile.score, lanes, j, i0, i1, others, layer.grad_row, there, left, table, sums
                )
            if code == COSINE:
                sums = _row_sums(tile.slope, lanes, j, i0, i1, others, row, at, left, known.z, sums)
            store_up_to(dz, v * row + at, sums, left)


@register_jitable
def _general(layer, tile, i0, i1, v, z, att, grads, d_att, unit, by_source):
    """The GENERAL ops: dz of the node, and the unit's share of the gradients of attention vector and gate."""
    lanes, width, wide = layer.lanes, layer.width, layer.heads * layer.width
    row = layer.ops * wide
    for j in range(layer.ops * layer.heads):
        a = j // layer.heads
        if layer.code[a] != GENERAL:
            continue
        for c in range(0, width, LANES):
            left, at = width - c, j * width + c
            sums, gates = zeros(z), zeros(z)
            for i in range(i0, i1):
                de = splat(tile.slope[i * lanes + j])
                t = load_up_to(tile.bent, (layer.slot[a] * TILE + i) * wide + at - a * wide, left)
                gates = fma(de, t, gates)
                sums = fma(de, 1.0 - t * t, sums)
            sums = sums * load_up_to(layer.gate, at, left)
            _add(grads.z, v * row + at, sums * load_up_to(att, at, left), left)
            if grads.asked:
                _add(d_att, unit * row + at, sums * load_up_to(z, v * row + at, left), left)
                if by_source:
                    _add(grads.gate, unit * row + at, gates, left)


@register_jitable
def _add(out, at, value, left):
    store_up_to(out, at, load_up_to(out, at, left) + value, left)


@kernel
def by_edges(bounds, first, last, edges, layer, chance, known, kept, grads):
    """What a node gets as the target of its edges, or on top of that as their source."""
    tile = new_tile(layer, known.z)
    for unit in range(first, last):
        ends = (unit, bounds[unit], bounds[unit + 1])
        _by_edges(ends, bare(edges), bare(layer), chance, bare(tile), bare(known), bare(kept), bare(grads))
    return len(tile)  # the scratch lives until here


@register_jitable
def _by_edges(ends, edges, layer, chance, tile, known, kept, grads):
    unit, v, stop = ends
    e = np.int64(edges.ptr[v])
    while v < stop:
        next_v, next_e = tile_end(edges.ptr, v, e, stop)
        n = next_e - e
        fill(tile, edges, v, e, next_e)
        _fetch(layer, edges, tile, n, known, kept)
        if edges.by_source and kept.here:
            _recall(layer, tile, n, kept, known.z)
        else:
            _coefficients(layer, edges, tile, n, known, chance)
            if kept.here:
                _keep(layer, tile, n, kept)
        w, i0 = v, 0
        while i0 < n:
            i1 = min(edges.ptr[w + 1], next_e) - e
            fresh = e + i0 == edges.ptr[w]
            if edges.by_source:
                _as_source(layer, tile, i0, i1, w, fresh, known, grads, unit)
            else:
                _as_target(layer, tile, i0, i1, w, fresh, known, grads, unit)
            w, i0 = w + 1, i1
        v, e = next_v, next_e


@register_jitable
def _fetch(layer, edges, tile, n, known, kept):
    """Ask ahead for what a tile reads of the other ends of its edges."""
    wide, lanes = layer.heads * layer.width, layer.lanes
    row = layer.ops * wide
    if not edges.by_source:
        fetch_rows(tile.source, n, known.z, row, 0, row)
        fetch_rows(tile.source, n, known.s, lanes, 0, lanes)
        fetch_rows(tile.source, n, known.d, lanes, 0, lanes)
        return
    fetch_rows(tile.target, n, known.grad, layer.grad_row, 0, layer.grad_row)
    for a in range(layer.ops):
        if layer.code[a] != SEPARABLE:
            fetch_rows(tile.target, n, known.z, row, a * wide, (a + 1) * wide)
    if kept.here:
        numbers = 3 * layer.ops * layer.heads
        fetch_rows(tile.position, n, kept.rows, numbers, 0, numbers)
    else:
        for part in (known.s, known.d, known.top, known.inverse, known.r):
            fetch_rows(tile.target, n, part, lanes, 0, lanes)


@register_jitable
def _as_target(layer, tile, i0, i1, w, fresh, known, grads, unit):
    _lane_sums(layer, i0, i1, w * layer.lanes, tile.slope, fresh, grads.d)
    _lane_sums(layer, i0, i1, w * layer.lanes, tile.back, fresh, grads.s)
    _accumulate(layer, tile, i0, i1, w, known, tile.source, False, fresh, grads.z)
    if layer.generals > 0:
        _general(layer, tile, i0, i1, w, known.z, layer.att_target, grads, grads.att_target, unit, False)


@register_jitable
def _as_source(layer, tile, i0, i1, w, fresh, known, grads, unit):
    _lane_sums(layer, i0, i1, w * layer.lanes, tile.slope, False, grads.s)
    _lane_sums(layer, i0, i1, w * layer.lanes, tile.back, False, grads.d)
    _accumulate(layer, tile, i0, i1, w, known, tile.target, True, fresh, grads.z)
    if layer.generals > 0:
        _general(layer, tile, i0, i1, w, known.z, layer.att_source, grads, grads.att_source, unit, True)


@kernel
def by_node(bounds, first, last, layer, known, grads):
    """Carry ds and dd over to dz and to the attention vectors."""
    for unit in range(first, last):
        _by_node(unit, bounds[unit], bounds[unit + 1], bare(layer), bare(known).z, bare(grads))


@register_jitable
def _by_node(unit, start, stop, layer, z, grads):
    width, pairs = layer.width, layer.ops * layer.heads
    row = pairs * width
    for v in range(start, stop):
        for j in range(pairs):
            if layer.separable[j] == 0.0:
                continue
            ds, dd = splat(grads.s[v * layer.lanes + j]), splat(grads.d[v * layer.lanes + j])
            for c in range(0, width, LANES):
                left, at = width - c, j * width + c
                step = fma(
                    dd, load_up_to(layer.att_target, at, left), ds * load_up_to(layer.att_source, at, left)
                )
                _add(grads.z, v * row + at, step, left)
                if grads.asked:
                    x = load_up_to(z, v * row + at, left)
                    _add(grads.att_source, unit * row + at, ds * x, left)
                    _add(grads.att_target, unit * row + at, dd * x, left)
