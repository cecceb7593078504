"""LSTMs over few steps: matrix products by torch, everything element-wise in one compiled pass each way.

A row of gates holds `count` parts of width H: i, g, o for a single step from a zero state, else i, f, g, o. A
step that is not `later` has a zero state before it: no recurrent product, and a forget gate without effect.
"""
# ruff: noqa: ANN001, ANN201, ANN202 (numba infers the types)
# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call, misc, no-any-return"

from __future__ import annotations

from typing import Any

import torch
from numba.extending import register_jitable
from torch import Tensor

from sanegnn.kernels.cpu_tiles import flat, kernel, run
from sanegnn.kernels.products import outer, product
from sanegnn.kernels.simd import LANES, bare, fma, zeros
from sanegnn.kernels.simd_math import load_up_to, sigmoid, store_up_to, tanh
from sanegnn.kernels.units import cut_evenly

IN_CACHE = 2**22
"""The numbers of the gates of a step that should stay in the cache: more nodes are taken in turn."""


@kernel
def step(bounds, first, last, arrays, width, count, later):
    """From the sums of the gates (N, count H) and the cell before to cell and hidden, (N, H).

    The activated gates take the place of their sums.
    """
    _step(bounds[first], bounds[last], *bare(arrays), width, count, later)


@register_jitable
def _step(start, stop, gates, before, cell, hidden, width, count, later):
    for v in range(start, stop):
        for c in range(0, width, LANES):
            left, at, row = width - c, v * width + c, v * count * width + c
            at_g, at_o = row + (count - 2) * width, row + (count - 1) * width
            i = sigmoid(load_up_to(gates, row, left))
            g = tanh(load_up_to(gates, at_g, left))
            o = sigmoid(load_up_to(gates, at_o, left))
            new = i * g
            if later:
                f = sigmoid(load_up_to(gates, row + width, left))
                new = fma(f, load_up_to(before, at, left), new)
                store_up_to(gates, row + width, f, left)
            store_up_to(gates, row, i, left)
            store_up_to(gates, at_g, g, left)
            store_up_to(gates, at_o, o, left)
            store_up_to(cell, at, new, left)
            store_up_to(hidden, at, o * tanh(new), left)


@kernel
def step_back(bounds, first, last, arrays, width, count, later):
    """From the gradients of hidden and cell (N, H) to that of the gates and, in place, of the cell before."""
    _step_back(bounds[first], bounds[last], *bare(arrays), width, count, later)


@register_jitable
def _step_back(start, stop, gates, before, cell, d_hidden, d_cell, d_gates, width, count, later):
    for v in range(start, stop):
        for c in range(0, width, LANES):
            left, at, row = width - c, v * width + c, v * count * width + c
            at_g, at_o = row + (count - 2) * width, row + (count - 1) * width
            i, g, o = (
                load_up_to(gates, row, left),
                load_up_to(gates, at_g, left),
                load_up_to(gates, at_o, left),
            )
            t, dh = tanh(load_up_to(cell, at, left)), load_up_to(d_hidden, at, left)
            dc = fma(dh * o, 1.0 - t * t, load_up_to(d_cell, at, left))
            store_up_to(d_gates, row, dc * g * i * (1.0 - i), left)
            store_up_to(d_gates, at_g, dc * i * (1.0 - g * g), left)
            store_up_to(d_gates, at_o, dh * t * o * (1.0 - o), left)
            if later:
                f = load_up_to(gates, row + width, left)
                store_up_to(d_gates, row + width, dc * load_up_to(before, at, left) * f * (1.0 - f), left)
                store_up_to(d_cell, at, dc * f, left)
            elif count == 4:
                store_up_to(d_gates, row + width, zeros(gates), left)


def _run_step(function: Any, tensors: tuple[Tensor, ...], count: int, later: bool) -> None:
    rows, width = tensors[2].shape
    work = tensors[0].numel()
    run(function, cut_evenly(rows), work, tuple(flat(x) for x in tensors), width, count, later)


class LstmStep(torch.autograd.Function):
    """One step from a zero state, gates i, g, o; keeps the activated gates and the cell."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """(N, H)."""
        gates = product(x, weight, bias)
        cell = torch.empty(x.shape[0], weight.shape[1] // 3, dtype=x.dtype)
        hidden = torch.empty_like(cell)
        _run_step(step, (gates, cell, cell, hidden), 3, False)
        ctx.save_for_backward(x, weight, gates, cell)
        return hidden

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of x, weight and bias."""
        x, weight, gates, cell = ctx.saved_tensors
        d_gates, d_cell = torch.empty_like(gates), torch.zeros_like(cell)
        _run_step(step_back, (gates, cell, cell, grads[0], d_cell, d_gates), 3, False)
        need_x, need_weight, need_bias = ctx.needs_input_grad
        return (
            product(d_gates, weight.T) if need_x else None,
            outer(x, d_gates) if need_weight else None,
            d_gates.sum(0) if need_bias else None,
        )


def lstm_step(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """σ(o) tanh(σ(i) tanh(g)) of the gates i, g, o = x W + b."""
    out: Tensor = LstmStep.apply(x, weight, bias)
    return out


def _order(direction: int, count: int) -> list[int]:
    """The steps as the direction meets them."""
    return list(range(count)) if direction == 0 else list(range(count - 1, -1, -1))


Run = tuple[list[Tensor], Tensor, Tensor]  # activated gates K (N, 4 H), cells and hidden states (K, N, H)


def _run_direction(states: Tensor, w_in: Tensor, w_rec: Tensor, bias: Tensor, order: list[int]) -> Run:
    """The steps of one direction."""
    count, rows, _ = states.shape
    gates = list(product(states.flatten(0, 1), w_in, bias).view(count, rows, -1).unbind(0))
    cells, hidden = (torch.empty(count, rows, w_rec.shape[0], dtype=states.dtype) for _ in range(2))
    for k, before in zip(order, [None, *order], strict=False):
        if before is not None:
            gates[k] = product(hidden[before], w_rec, plus=gates[k])
        _run_step(step, (gates[k], cells[before or 0], cells[k], hidden[k]), 4, before is not None)
    return gates, cells, hidden


def _run_direction_back(
    gates: list[Tensor], cells: Tensor, d_score: Tensor, att: Tensor, w_rec: Tensor, order: list[int]
) -> Tensor:
    """The gradient of the sums of the gates, (K, N, 4 H), from that of the scores of the steps, (K, N)."""
    d_gates = torch.empty(len(gates), *gates[0].shape, dtype=cells.dtype)
    d_cell, after = torch.zeros_like(cells[0]), None
    for k, before in zip(reversed(order), [*reversed(order[:-1]), None], strict=True):
        d_hidden = torch.outer(d_score[k], att)
        if after is not None:
            d_hidden = product(d_gates[after], w_rec.T, plus=d_hidden)
        tensors = (gates[k], cells[before or 0], cells[k], d_hidden, d_cell, d_gates[k])
        _run_step(step_back, tensors, 4, before is not None)
        after = k
    return d_gates


def _mixed(alpha: Tensor, states: Tensor) -> Tensor:
    """Σ_k alpha_kn x_kn, (N, D)."""
    mixed = alpha[0, :, None] * states[0]
    for share, state in zip(alpha[1:], states[1:], strict=True):
        mixed.addcmul_(share[:, None], state)
    return mixed


class LstmReadout(torch.autograd.Function):
    """The bi-directional LSTM attention; keeps activated gates, cells and hidden states."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, w_in: Tensor, w_rec: Tensor, bias: Tensor, att: Tensor, b: Tensor
    ) -> Tensor:
        """(N, D)."""
        states = states.contiguous()
        count, rows, _ = states.shape
        width = w_rec.shape[1]
        runs = [_run_direction(states, w_in[d], w_rec[d], bias[d], _order(d, count)) for d in range(2)]
        score = sum(
            (run[2].view(-1, width) @ att[d * width : (d + 1) * width] for d, run in enumerate(runs)), start=b
        )
        alpha = torch.softmax(score.view(count, rows), dim=0)
        kept = [part for gates, cells, hidden in runs for part in (cells, hidden, *gates)]
        ctx.save_for_backward(states, w_in, w_rec, att, alpha, *kept)
        return _mixed(alpha, states)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of the six inputs."""
        states, w_in, w_rec, att, alpha, *kept = ctx.saved_tensors
        grad, count, width = grads[0], states.shape[0], w_rec.shape[1]
        runs = (kept[: count + 2], kept[count + 2 :])
        d_alpha = torch.stack([(grad * state).sum(1) for state in states])
        d_score = alpha * (d_alpha - (alpha * d_alpha).sum(0))
        d_gates = [
            _run_direction_back(
                run[2:], run[0], d_score, att[d * width : (d + 1) * width], w_rec[d], _order(d, count)
            )
            for d, run in enumerate(runs)
        ]
        d_states = None
        if ctx.needs_input_grad[0]:
            d_states = (alpha[..., None] * grad).flatten(0, 1)
            for d in range(2):
                d_states = product(d_gates[d].flatten(0, 1), w_in[d].T, plus=d_states)
            d_states = d_states.view(states.shape)
        d_params = (
            _parameter_grads(states, [run[1] for run in runs], d_gates, d_score)
            if any(ctx.needs_input_grad[1:])
            else [None] * 5
        )
        return d_states, *d_params


def _product_of(x: Tensor, d_gates: Tensor) -> Tensor:
    """Σ over steps and nodes of x ⊗ dgates, (width of x, 4 H)."""
    return outer(x.flatten(0, 1), d_gates.flatten(0, 1))


def _parameter_grads(
    states: Tensor, hidden: list[Tensor], d_gates: list[Tensor], d_score: Tensor
) -> list[Tensor]:
    """The gradients of weight_ih, weight_hh, bias, att_weight and att_bias."""
    before = (hidden[0][:-1], hidden[1][1:])
    after = (d_gates[0][1:], d_gates[1][:-1])
    return [
        torch.stack([_product_of(states, part) for part in d_gates]),
        torch.stack([_product_of(h, part) for h, part in zip(before, after, strict=True)]),
        torch.stack([part.sum((0, 1)) for part in d_gates]),
        torch.cat([h.flatten(0, 1).T @ d_score.flatten() for h in hidden]),
        d_score.sum(),
    ]


def lstm_readout(
    states: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias: Tensor, att_weight: Tensor, att_bias: Tensor
) -> Tensor:
    """Σ_k softmax_k(a · [h_k→, h_k←] + b) x_k."""
    rows = max(1, IN_CACHE // weight_ih.shape[2])
    weights = (weight_ih, weight_hh, bias, att_weight, att_bias)
    outs = [LstmReadout.apply(part, *weights) for part in states.split(rows, dim=1)]
    return outs[0] if len(outs) == 1 else torch.cat(outs)
