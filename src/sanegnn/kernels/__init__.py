"""The fast core: plain functions with shapes, each with a torch reference and a compiled path for the CPU.

CPU tensors of float32 and float64 take the compiled path; other devices and types, and everything under
`SANEGNN_KERNELS=reference`, take the reference. Both give the same numbers, and identical dropout masks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from sanegnn.errors import BadSetting, UnknownName
from sanegnn.kernels import reference
from sanegnn.kernels.features import Features
from sanegnn.kernels.graph import Graph

if TYPE_CHECKING:
    from sanegnn.seeds import Noise

__all__ = [
    "Features",
    "Graph",
    "add_scaled",
    "aggregate",
    "aggregate_beside",
    "attend",
    "coefficients",
    "compile_all",
    "compiled_before",
    "distances",
    "dropout",
    "largest",
    "linear",
    "linear_sum",
    "lstm_readout",
    "lstm_step",
    "project",
    "uniform",
    "use",
]

_PATHS = ("compiled", "reference")
_DEFAULT: str = os.environ.get("SANEGNN_KERNELS", "compiled")
_path: ContextVar[str] = ContextVar("kernels", default=_DEFAULT)


@contextmanager
def use(path: str) -> Iterator[None]:
    """Take the "reference" or the "compiled" path inside the `with` block."""
    if path not in _PATHS:
        raise UnknownName.of("kernel path", path, _PATHS)
    token = _path.set(path)
    try:
        yield
    finally:
        _path.reset(token)


def _implementation(x: Tensor) -> Any:
    """The module that computes for tensors like x."""
    if _path.get() == "reference" or x.device.type != "cpu" or x.dtype not in (torch.float32, torch.float64):
        return reference
    return import_module("sanegnn.kernels.compiled")  # on first use: numba takes a moment to load


def _check_rate(rate: float) -> None:
    if not 0.0 <= rate < 1.0:
        raise BadSetting(f"a dropout rate must be at least 0 and less than 1; got {rate}")


def aggregate(x: Tensor, graph: Graph, kinds: tuple[str, ...]) -> tuple[Tensor, ...]:
    """Aggregate the neighbours of every node, all kinds in one pass over the edges.

    Kinds: "self" x_v; "sum" Σ w_uv x_u, "mean" Σ w_uv x_u / Σ w_uv and "max" max x_u over u in N(v), all zero
    where N(v) is empty (max ignores the weights, and sends its gradient to the first of equal neighbours);
    "gcn" Σ w_uv x_u / sqrt(d̃_u d̃_v) over Ñ(v).

    Shapes: x (N, D); one (R, D) per kind, with R the targets of the graph, as a rule all N nodes.
    """
    different = tuple(dict.fromkeys(kinds))
    (side,) = _aggregate(x, graph, different)
    rows = (side.flatten(1),) if len(different) == 1 else side.unbind(1)
    outs = dict(zip(different, rows, strict=True))
    return tuple(outs[kind] for kind in kinds)


def aggregate_beside(x: Tensor, graph: Graph, kinds: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    """The same, side by side for one product with all of them; and the sum, one of the kinds, once more.

    Shapes: x (N, D); (R, kinds, D) and (R, D). The kinds are different.
    """
    side, total = _aggregate(x, graph, kinds, again=True)
    return side, total


def _aggregate(x: Tensor, graph: Graph, kinds: tuple[str, ...], again: bool = False) -> tuple[Tensor, ...]:
    for kind in kinds:
        if kind not in reference.AGGREGATIONS:
            raise UnknownName.of("aggregation", kind, reference.AGGREGATIONS)
    out: tuple[Tensor, ...] = _implementation(x).aggregate(x, graph, kinds, again)
    return out


def largest(x: Tensor, graph: Graph, k: int) -> Tensor:
    """The k largest values of each channel over N(v), largest first; zeros where N(v) is smaller.

    Shapes: x (N, D), out (R, k, D) with R the targets of the graph.
    """
    out: Tensor = _implementation(x).largest(x, graph, k)
    return out


def attend(
    kinds: tuple[str, ...],
    values: Tensor,
    att_source: Tensor,
    att_target: Tensor,
    gate: Tensor,
    graph: Graph,
    rate: float = 0.0,
    noise: Noise | None = None,
    shares: Tensor | None = None,
) -> Tensor:
    """Attention over Ñ(v) for several ops a at once: Σ_u dropout(α_uv) z_u.

    α_uv is w_uv exp(e_uv), normalised over the incoming edges of v, per op and head. With z the projected
    features, s_u = <att_source, z_u> and d_v = <att_target, z_v>, the score e_uv is by kind: "gat"
    LeakyReLU_0.2(s_u + d_v); "gat_sym" LeakyReLU(s_u + d_v) + LeakyReLU(s_v + d_u); "gat_cos" <z_u, z_v>;
    "gat_linear" tanh(s_u + d_v); "gat_gen_linear" Σ_c gate_c tanh(att_source_c z_uc + att_target_c z_vc).
    What a kind does not use gets a zero gradient. Dropout with `rate` falls on the coefficients if noise is
    given. With shares (B,), the first B ops are blended: their sum by shares stands first, the others behind.

    Shapes: values (N, A, H, C) with one kind per a; att_source, att_target, gate (A, H, C); out (R, A, H, C),
    or (R, 1 + A - B, H, C) with shares, where R are the targets of the graph.
    """
    for kind in kinds:
        if kind not in reference.SCORES:
            raise UnknownName.of("attention", kind, reference.SCORES)
    _check_rate(rate)
    out: Tensor = _implementation(values).attend(
        kinds, values, att_source, att_target, gate, graph, rate, noise, shares
    )
    return out


def coefficients(
    kind: str, values: Tensor, att_source: Tensor, att_target: Tensor, gate: Tensor, graph: Graph
) -> Tensor:
    """The α_uv of `attend` for one op, on the edges of Ñ in the order of `graph.edge_index`, in plain torch.

    For what does not end in a weighted sum. Shapes: values (N, H, C); att_source, att_target, gate (H, C);
    out (M, H).
    """
    if kind not in reference.SCORES:
        raise UnknownName.of("attention", kind, reference.SCORES)
    return reference.coefficients(kind, values, att_source, att_target, gate, graph)


def distances(x: Tensor, pairs: Tensor) -> Tensor:
    """Σ_c |x_uc - x_vc| for every pair of rows u, v.

    Shapes: x (N, D), pairs (2, P) int64, out (P,).
    """
    out: Tensor = _implementation(x).distances(x, pairs)
    return out


def dropout(x: Tensor, rate: float, noise: Noise | None) -> Tensor:
    """Inverted dropout: zero where the hash of (key, flat index) says so, else x / (1 - rate).

    Gives x itself when noise is None or the rate is 0. Shapes: any.
    """
    if noise is None or rate == 0.0:
        return x
    _check_rate(rate)
    out: Tensor = _implementation(x).dropout(x, rate, noise)
    return out


def uniform(noise: Noise, n: int, device: torch.device | str = "cpu") -> Tensor:
    """The hash of (key, 0), …, (key, n - 1) as numbers in [0, 1), (n,) float32."""
    return reference.uniform(noise, n, torch.device(device))


def project(features: Features, weight: Tensor, rate: float = 0.0, noise: Noise | None = None) -> Tensor:
    """X W, with dropout on the stored entries of X; only the weight gets a gradient.

    Shapes: features (N, F), weight (F, D), out (N, D).
    """
    _check_rate(rate)
    out: Tensor = _implementation(weight).project(features, weight, rate, noise)
    return out


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """X W + b, by the fastest matrix product that torch has here.

    Shapes: x (N, D), weight (D, M), bias (M,), out (N, M).
    """
    out: Tensor = _implementation(x).linear(x, weight, bias)
    return out


def linear_sum(inputs: Sequence[Tensor], weights: Sequence[Tensor], bias: Tensor) -> Tensor:
    """Σ_t X_t W_tᵀ + b.

    Shapes: inputs (N, D_t), weights (M, D_t), bias (M,), out (N, M).
    """
    out: Tensor = _implementation(bias).linear_sum(inputs, weights, bias)
    return out


def add_scaled(x: Tensor, y: Tensor, factor: Tensor) -> Tensor:
    """X + factor · Y.

    Shapes: x, y and out (N, D), factor (1,).
    """
    out: Tensor = _implementation(x).add_scaled(x, y, factor)
    return out


def lstm_step(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """One LSTM step from a zero state, σ(o) tanh(σ(i) tanh(g)); the gates stand in the order i, g, o.

    Shapes: x (N, D), weight (D, 3H), bias (3H,), out (N, H).
    """
    out: Tensor = _implementation(x).lstm_step(x, weight, bias)
    return out


def lstm_readout(
    states: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias: Tensor, att_weight: Tensor, att_bias: Tensor
) -> Tensor:
    """LSTM attention over K states of JK-Networks (Xu et al., 2018): Σ_k softmax_k(a·[h_k→, h_k←] + b) x_k.

    h→ and h← are the hidden states of a bi-directional LSTM over the K states. Against torch.nn.LSTM, the
    weights are stacked by direction and transposed, with its gate order i, f, g, o, and the bias is the sum
    of its two.

    Shapes: states (K, N, D), weight_ih (2, D, 4H), weight_hh (2, H, 4H), bias (2, 4H), att_weight (2H,),
    att_bias (); out (N, D).
    """
    out: Tensor = _implementation(states).lstm_readout(
        states, weight_ih, weight_hh, bias, att_weight, att_bias
    )
    return out


def compiled_before() -> bool:
    """Whether the compiled kernels lie in the cache, so that their first use will not take seconds."""
    if _path.get() == "reference":
        return True
    before: bool = import_module("sanegnn.kernels.warm").compiled_before()
    return before


def compile_all() -> None:
    """Compile the float32 kernels, or load them from the cache."""
    if _path.get() != "reference":
        import_module("sanegnn.kernels.warm").compile_all()
