"""Which class of `sanegnn.plain` computes the same as an operation, a norm, an activation, a scaling."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

from torch import nn

from sanegnn import ops
from sanegnn.errors import BadExport
from sanegnn.exporting.call import Call, call
from sanegnn.kernels.scaling import Scaling
from sanegnn.ops import lgcn, propagation
from sanegnn.ops.attention import GeniePath
from sanegnn.ops.readout import LstmAttention, Max

SCORES: dict[str, str] = {
    "gat": "Gat",
    "gat_sym": "GatSym",
    "gat_cos": "GatCos",
    "gat_linear": "GatLinear",
    "gat_gen_linear": "GatGenLinear",
}
"""The coefficients of a kind of `kernels.attend`."""

ACTIVATIONS: dict[str, Call] = {
    "relu": call("nn.ReLU"),
    "elu": call("nn.ELU"),
    "leaky_relu": call("nn.LeakyReLU"),
    "tanh": call("nn.Tanh"),
    "linear": call("nn.Identity"),
    "sigmoid": call("nn.Sigmoid"),
    "softplus": call("nn.Softplus"),
    "relu6": call("nn.ReLU6"),
}

NORMS: dict[str, Callable[[int], Call]] = {
    "none": lambda width: call("nn.Identity"),  # noqa: ARG005
    "batch": lambda width: call("nn.BatchNorm1d", width),
    "layer": lambda width: call("nn.LayerNorm", width),
    "pair": lambda width: call("PairNorm"),  # noqa: ARG005
}

SCALINGS: dict[str, Callable[[Scaling], Call]] = {
    "raw": lambda scaling: call("nn.Identity"),  # noqa: ARG005
    "row": lambda scaling: call("Row"),  # noqa: ARG005
    "unit": lambda scaling: call("Row", size=scaling.size),
    "standard": lambda scaling: call("Standard", scaling.width),
}

HEADS: dict[str, Callable[[int, int, float | None], Call]] = {
    "linear": lambda width, outputs, rate: call("Head", width, outputs, dropout=rate),
    "identity": lambda *_: call("nn.Identity"),
    "dot": lambda *_: call("PairDot"),
    "mlp": lambda width, outputs, rate: call("PairMlp", width, outputs, dropout=rate),
}


@singledispatch
def form(op: nn.Module) -> Call:
    """The plain form of an operation; a plug-in registers its own with `form.register`."""
    raise BadExport(
        f"{type(op).__name__} has no plain form, so that no net with it can be exported or explained: "
        "register one with sanegnn.exporting.form"
    )


def _named(kind: type[nn.Module], name: str) -> None:
    """The plain form takes the width alone."""
    form.register(kind)(lambda op: call(name, op.shape.width))


for _kind, _name in (
    (ops.pooled.SageSum, "SageSum"),
    (ops.pooled.SageMean, "SageMean"),
    (ops.pooled.SageMax, "SageMax"),
    (ops.pooled.Gcn, "Gcn"),
    (ops.pooled.Gin, "Gin"),
    (ops.Linear, "Linear"),
):
    _named(_kind, _name)


@form.register
def _mlp(op: ops.Mlp) -> Call:
    return call("Mlp", op.shape.width, op.width, op.layers)


@form.register
def _appnp(op: ops.Appnp) -> Call:
    return call("Appnp", op.shape.teleport, propagation.STEPS)


@form.register
def _gcnii(op: ops.Gcnii) -> Call:
    return call("Gcnii", op.shape.width, op.shape.teleport, propagation.THETA)


@form.register
def _lgcn(op: ops.Lgcn) -> Call:
    return call("Lgcn", op.shape.width, lgcn.K)


@form.register
def _attention(op: ops.Attention) -> Call:
    return call("Attention", op.shape.width, op.heads, op.channels, _alpha(op.score, op))


@form.register
def _geniepath(op: GeniePath) -> Call:
    return call("GeniePath", op.heads, op.channels, _alpha(op.score, op))


@form.register
def _geniepath_deep(op: ops.GeniePathDeep) -> Call:
    return call("GeniePathDeep", op.heads, op.channels, _alpha("gat", op))


def _alpha(kind: str, op: Any, vectors: int = 2) -> Call:
    """Learned coefficients of that kind; only a score with vectors is told heads and channels."""
    if kind not in SCORES:
        raise BadExport(f"{type(op).__name__} has a score, {kind!r}, without a plain form")
    rate = op.shape.attention_dropout or None
    name = "GatSource" if vectors == 1 else SCORES[kind]
    sizes = () if name == "GatCos" else (op.heads, op.channels)
    return call(name, *sizes, dropout=rate)


COEFFICIENTS = {"const": call("Constant"), "gcn": call("Normalised")}


@form.register
def _composite(op: ops.Composite) -> Call:
    score = op.score
    alpha = _alpha(score.kind, op, len(score.vectors)) if score else COEFFICIENTS[op.attention]
    kinds = {"mean": "MeanAttention", "mlp": "PerceptronAttention"}
    perceptron = call("Perceptron", op.channels) if op.perceptron is not None else None
    sizes = (op.shape.width, op.heads, op.channels)
    aggr = "max" if op.aggregator == "max" else None
    return call(kinds.get(op.aggregator, "Attention"), *sizes, alpha, perceptron=perceptron, aggr=aggr)


@form.register
def _concat(op: ops.Concat) -> Call:
    return call("Concat", op.shape.width, op.shape.depth)


@form.register
def _max(op: Max) -> Call:  # noqa: ARG001
    return call("Max")


@form.register
def _lstm(op: LstmAttention) -> Call:
    return call("LstmAttention", op.shape.width, op.inner)
