"""Compiled attention over tiles of edges: scores, softmax, dropout and sum without a tensor per edge.

Lanes hold (op, head) pairs j, of which there are J = A H, padded to a multiple of 16: per-node statistics are
(N, lanes). Values keep their rows of J C numbers. The first `blended` ops leave one sum by their shares p in
the output, so that one row of its gradient g serves them all. The backward computes the coefficients again
from the maximum and the sum that the forward left per node. With r_v = <g_v, out_v>, the gradient of a score
is p α_uv (k_uv <g_v, z_u> - r_v), where k is the dropout factor.
"""
# ruff: noqa: ANN001, ANN201, ANN202 (numba infers the types)
# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call, misc, no-any-return"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from sanegnn.kernels.cpu_tiles import TILE, kernel, tile_end
from sanegnn.kernels.simd import LANES, bare, fetch, fma, like, load, select, splat, store, total, zeros
from sanegnn.kernels.simd_math import dot, exp, hash_lanes, highest, load_up_to, store_up_to, tanh

SEPARABLE, COSINE, GENERAL = 0, 1, 2
SLOPE = 0.2
PAIR = 2 * LANES


class Edges(NamedTuple):
    """A CSR whose rows are the targets or the sources of the edges."""

    ptr: Any
    other: Any  # the other end of the edge
    position: Any  # where the edge stands in the CSR by target
    weight: Any  # (M,) by this position
    weighted: bool
    by_source: bool


class Layer(NamedTuple):
    """Sizes, the score rule of every op and lane, and the parameters (J C,)."""

    ops: int
    heads: int
    width: int
    lanes: int
    generals: int
    blended: int
    grad_row: int
    has_linear: bool
    code: Any  # (A,) SEPARABLE, COSINE or GENERAL
    slot: Any  # (A,) which of the GENERAL ops it is
    separable: Any  # (lanes,) 1 or 0
    symmetric: Any  # (lanes,) 1 or 0
    linear: Any  # (lanes,) 1 or 0
    share: Any  # (lanes,) the share of a blended op; 1 for the others
    column: Any  # (J,) where the pair stands in a row of the output and of its gradient
    att_source: Any
    att_target: Any
    gate: Any


class Chance(NamedTuple):
    """The dropout of coefficients; a scale of 0 stands for none."""

    low: int
    high: int
    threshold: int
    scale: float


class Tile(NamedTuple):
    """The scratch of one tile: per edge its ends and position in the CSR, and (TILE, lanes) numbers."""

    source: Any
    target: Any
    position: Any
    score: Any
    slope: Any  # d score / d (s_u + d_v)
    back: Any  # d score / d (s_v + d_u)
    dots: Any
    bent: Any  # tanh of the GENERAL ops, (generals, TILE, H C)


@register_jitable
def new_tile(layer, z):
    """Scratch for a layer, of the type of z."""
    size = TILE * layer.lanes
    bent = np.empty(layer.generals * TILE * layer.heads * layer.width + LANES, z.dtype)
    ends = (np.empty(TILE, np.int64), np.empty(TILE, np.int64), np.empty(TILE, np.int64))
    score, slope, back, dots = (
        np.empty(size, z.dtype),
        np.empty(size, z.dtype),
        np.empty(size, z.dtype),
        np.empty(size, z.dtype),
    )
    return Tile(ends[0], ends[1], ends[2], score, slope, back, dots, bent)


@kernel
def node_scores(bounds, first, last, layer, arrays):
    """s_v = <att_source, z_v> and d_v = <att_target, z_v> in the lanes of separable ops, (N, lanes)."""
    _node_scores(bounds[first], bounds[last], bare(layer), *bare(arrays))


@register_jitable
def _node_scores(start, stop, layer, z, s, d):
    row = layer.ops * layer.heads * layer.width
    for v in range(start, stop):
        for b in range(layer.lanes):
            s[v * layer.lanes + b] = 0.0
            d[v * layer.lanes + b] = 0.0
        for a in range(layer.ops):
            if layer.code[a] == SEPARABLE:
                for j in range(a * layer.heads, (a + 1) * layer.heads):
                    at, c = v * row + j * layer.width, j * layer.width
                    s[v * layer.lanes + j] = dot(z, at, layer.att_source, c, layer.width)
                    d[v * layer.lanes + j] = dot(z, at, layer.att_target, c, layer.width)


@kernel
def node_dots(bounds, first, last, layer, arrays):
    """r_v = <g_v, out_v> per lane, (N, lanes), with out the sums of every op before they are blended."""
    _node_dots(bounds[first], bounds[last], bare(layer), *bare(arrays))


@register_jitable
def _node_dots(start, stop, layer, grad, out, r):
    row = layer.ops * layer.heads * layer.width
    for v in range(start, stop):
        for j in range(layer.ops * layer.heads):
            there, at = v * layer.grad_row + layer.column[j], v * row + j * layer.width
            r[v * layer.lanes + j] = dot(grad, there, out, at, layer.width)


@register_jitable
def _separable_scores(layer, tile, n, s, d, slopes):
    """The scores of the separable lanes, and with `slopes` their derivatives; 1 stands in the other lanes."""
    for i in range(n):
        u, v = tile.source[i] * layer.lanes, tile.target[i] * layer.lanes
        for b in range(0, layer.lanes, LANES):
            x = load(s, u + b) + load(d, v + b)
            y = load(s, v + b) + load(d, u + b)
            symmetric = load(layer.symmetric, b)
            bend = select(x > like(x, 0.0), like(x, 1.0), like(x, SLOPE))
            bend_back = select(y > like(y, 0.0), like(y, 1.0), like(y, SLOPE)) * symmetric
            score = fma(y, bend_back, x * bend)
            if layer.has_linear:
                linear = load(layer.linear, b) > like(x, 0.5)
                t = tanh(x)
                score = select(linear, t, score)
                bend = select(linear, 1.0 - t * t, bend)
            store(tile.score, i * layer.lanes + b, score)
            if slopes:
                one = like(x, 1.0)
                bend = select(load(layer.separable, b) > like(x, 0.5), bend, one)
                store(tile.slope, i * layer.lanes + b, bend)
                store(tile.back, i * layer.lanes + b, bend_back)


@register_jitable
def _cosine_scores(layer, tile, n, a, z):
    row = layer.ops * layer.heads * layer.width
    for i in range(n):
        for j in range(a * layer.heads, (a + 1) * layer.heads):
            u, v = tile.source[i] * row + j * layer.width, tile.target[i] * row + j * layer.width
            tile.score[i * layer.lanes + j] = dot(z, u, z, v, layer.width)


@register_jitable
def general_scores(layer, tile, n, a, z):
    """The scores of a GENERAL op; leaves tanh(att_source ⊙ z_u + att_target ⊙ z_v) in `bent`."""
    row, wide = layer.ops * layer.heads * layer.width, layer.heads * layer.width
    for i in range(n):
        bent = (layer.slot[a] * TILE + i) * wide
        for h in range(layer.heads):
            at = (a * layer.heads + h) * layer.width
            u, v = tile.source[i] * row + at, tile.target[i] * row + at
            sums = zeros(z)
            for c in range(0, layer.width, LANES):
                left = layer.width - c
                x = load_up_to(layer.att_target, at + c, left) * load_up_to(z, v + c, left)
                t = tanh(fma(load_up_to(layer.att_source, at + c, left), load_up_to(z, u + c, left), x))
                sums = fma(load_up_to(layer.gate, at + c, left), t, sums)
                store_up_to(tile.bent, bent + h * layer.width + c, t, left)
            tile.score[i * layer.lanes + a * layer.heads + h] = total(sums)


@register_jitable
def scores(layer, edges, tile, n, z, s, d, slopes):
    """The score of every edge of the tile; an edge of weight 0 can never be the highest."""
    _separable_scores(layer, tile, n, s, d, slopes)
    for a in range(layer.ops):
        if layer.code[a] == COSINE:
            _cosine_scores(layer, tile, n, a, z)
        elif layer.code[a] == GENERAL:
            general_scores(layer, tile, n, a, z)
    if edges.weighted:
        for i in range(n):
            if edges.weight[tile.position[i]] == 0.0:
                for b in range(0, layer.lanes, LANES):
                    store(tile.score, i * layer.lanes + b, like(zeros(z), -1e30))


@register_jitable
def keep_factor(layer, chance, position, b, x):
    """1 / (1 - rate) in the lanes that dropout keeps, else 0."""
    h = hash_lanes(position * (layer.ops * layer.heads) + b, chance.low, chance.high)
    return select(h >= like(h, chance.threshold), like(x, chance.scale), like(x, 0.0))


@register_jitable
def _softmax(layer, edges, tile, i0, i1, at, fresh, chance, top, norm, shrink):
    """Scores to coefficients that still lack their norm; merges with earlier tiles of the same node."""
    for b in range(0, layer.lanes, LANES):
        high = load(tile.score, i0 * layer.lanes + b)
        for i in range(i0 + 1, i1):
            high = highest(high, load(tile.score, i * layer.lanes + b))
        sums = like(high, 0.0)
        if not fresh:
            before = load(top, at + b)
            high = highest(before, high)
            rescale = exp(before - high)
            sums = load(norm, at + b) * rescale
            store(shrink, b, rescale)
        for i in range(i0, i1):
            p = exp(load(tile.score, i * layer.lanes + b) - high)
            if edges.weighted:
                p = p * edges.weight[tile.position[i]]
            sums = sums + p
            if chance.scale > 0.0:
                p = p * keep_factor(layer, chance, tile.position[i], b, p)
            store(tile.score, i * layer.lanes + b, p)
        store(top, at + b, high)
        store(norm, at + b, sums)


@register_jitable
def _weighted_sums(layer, tile, i0, i1, v, fresh, done, z, norm, shrink, out):
    """Add the rows of the sources by their coefficients; divide by the norm when the node is done."""
    lanes, width, pairs = layer.lanes, layer.width, layer.ops * layer.heads
    row = pairs * width
    even = width - width % PAIR
    for j in range(pairs):
        factor = 1.0 / norm[v * lanes + j] if done else 1.0
        for c in range(0, even, PAIR):
            at, one, two = v * row + j * width + c, zeros(z), zeros(z)
            if not fresh:
                one, two = load(out, at) * shrink[j], load(out, at + LANES) * shrink[j]
            one, two = row_sums(tile.score, lanes, j, i0, i1, tile.source, row, j * width + c, z, one, two)
            store(out, at, one * factor)
            store(out, at + LANES, two * factor)
        for c in range(even, width, LANES):
            left, at = width - c, j * width + c
            sums = zeros(z)
            if not fresh:
                sums = load_up_to(out, v * row + at, left) * shrink[j]
            for i in range(i0, i1):
                p = splat(tile.score[i * lanes + j])
                sums = fma(p, load_up_to(z, tile.source[i] * row + at, left), sums)
            store_up_to(out, v * row + at, sums * factor, left)


@register_jitable
def _blend(layer, v, out, blend):
    """Sum the rows of the blended ops by their shares, and copy the others behind."""
    row, wide = layer.ops * layer.heads * layer.width, layer.heads * layer.width
    for c in range(0, wide, LANES):
        left, sums = wide - c, zeros(out)
        for a in range(layer.blended):
            share = splat(layer.share[a * layer.heads])
            sums = fma(share, load_up_to(out, v * row + a * wide + c, left), sums)
        store_up_to(blend, v * layer.grad_row + c, sums, left)
    for a in range(layer.blended, layer.ops):
        at = v * layer.grad_row + (a - layer.blended + 1) * wide
        for c in range(0, wide, LANES):
            store_up_to(blend, at + c, load_up_to(out, v * row + a * wide + c, wide - c), wide - c)


@register_jitable
def row_sums(factors, lanes, j, i0, i1, rows, row, at, table, one, two):
    """Add Σ factor_ij · table[row_i, at : at + 32] to two vectors side by side."""
    for i in range(i0, i1):
        p, there = splat(factors[i * lanes + j]), rows[i] * row + at
        one = fma(p, load(table, there), one)
        two = fma(p, load(table, there + LANES), two)
    return one, two


@register_jitable
def fill(tile, edges, v, e, end):
    """The two ends of every edge of the tile, and its position."""
    mine, others = (tile.source, tile.target) if edges.by_source else (tile.target, tile.source)
    i = 0
    while e < end:
        for k in range(e, min(edges.ptr[v + 1], end)):
            mine[i], others[i] = v, edges.other[k]
            tile.position[i] = edges.position[k] if edges.by_source else k
            i += 1
        e = np.int64(edges.ptr[v + 1])
        v += 1


@register_jitable
def fetch_rows(ends, n, table, row, first, last):
    """Ask ahead for the numbers from `first` to `last` in the rows of a tile's ends."""
    for i in range(n):
        for c in range(first, last, LANES):
            fetch(table, ends[i] * row + c)


@kernel
def forward(bounds, first, last, edges, layer, chance, arrays):
    """From z, s and d to out (N, J C) and its blend; per node and lane, highest score and inverse norm."""
    tile, shrink = new_tile(layer, arrays[0]), np.empty(layer.lanes, arrays[0].dtype)
    for unit in range(first, last):
        start, stop, scratch = bounds[unit], bounds[unit + 1], bare((shrink,))[0]
        _forward(start, stop, bare(edges), bare(layer), chance, bare(tile), scratch, *bare(arrays))
    return len(tile) + shrink.size  # the scratch lives until here


@register_jitable
def _forward(v, stop, edges, layer, chance, tile, shrink, z, s, d, top, norm, out, blend):
    e, row = np.int64(edges.ptr[v]), layer.ops * layer.heads * layer.width
    while v < stop:
        next_v, next_e = tile_end(edges.ptr, v, e, stop)
        fill(tile, edges, v, e, next_e)
        fetch_rows(tile.source, next_e - e, z, row, 0, row)
        fetch_rows(tile.source, next_e - e, s, layer.lanes, 0, layer.lanes)
        fetch_rows(tile.source, next_e - e, d, layer.lanes, 0, layer.lanes)
        scores(layer, edges, tile, next_e - e, z, s, d, False)
        w, i0 = v, 0
        while i0 < next_e - e:
            i1 = min(edges.ptr[w + 1], next_e) - e
            fresh, done = e + i0 == edges.ptr[w], e + i1 == edges.ptr[w + 1]
            at = w * layer.lanes
            _softmax(layer, edges, tile, i0, i1, at, fresh, chance, top, norm, shrink)
            _weighted_sums(layer, tile, i0, i1, w, fresh, done, z, norm, shrink, out)
            if done:
                for b in range(0, layer.lanes, LANES):
                    store(norm, at + b, 1.0 / load(norm, at + b))
                if layer.blended > 0:
                    _blend(layer, w, out, blend)
            w, i0 = w + 1, i1
        v, e = next_v, next_e
