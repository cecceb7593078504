"""A trained model in plain PyTorch and PyG: its description, its weights, and the two together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import torch
from torch import Tensor

from sanegnn.bundle import Model
from sanegnn.exporting.call import Call, call
from sanegnn.exporting.forms import ACTIVATIONS, HEADS, NORMS, SCALINGS, form
from sanegnn.nets import Net
from sanegnn.ops import Carrying, NodeAggregator

NAMES = (
    (r"^stem$", "stem.weight"),
    (r"^stem_bias$", "stem.bias"),
    (r"^head$", "head.outer.weight"),
    (r"^head_bias$", "head.outer.bias"),
    (r"^head_inner$", "head.inner.weight"),
    (r"^head_inner_bias$", "head.inner.bias"),
    (r"^norms\.(\d+)\.", r"layers.\1.norm."),
    (r"^layers\.(\d+)\.att_", r"layers.\1.op.alpha."),
    (r"^layers\.(\d+)\.(?!norm\.|op\.)", r"layers.\1.op."),
)
"""What the weights of a `Net` are called in its plain form."""


def net(one: Net) -> Call:
    """The description of a net."""
    setting = one.setting
    width = cast("NodeAggregator", one.layers[-1]).out_width
    head = HEADS[one.ends_in](width, one.sizes[1], setting.dropout or None)
    stem = call("nn.Linear", one.sizes[0], setting.hidden)
    carrying = any(isinstance(op, Carrying) for op in one.layers[: one.reach])
    layers = call("CarryingLayers" if carrying else "Layers", tuple(_layers(one)))
    dropouts = {rate: getattr(setting, rate) or None for rate in ("input_dropout", "edge_dropout")}
    if one.readout is None:
        return call("Net", stem, layers, head, **dropouts)
    skips = tuple(name != "zero" for name in one.architecture.skips)
    joined = {"skips": skips, "width": width, "readout": form(one.readout)}
    return call("JumpingNet", stem, layers, head, **joined, **dropouts)


def _layers(one: Net) -> Iterator[Call]:
    """The layers that are computed."""
    width = one.shape.width
    for place in range(one.reach):
        op = cast("NodeAggregator", one.layers[place])
        kind = "CarryingLayer" if isinstance(op, Carrying) else "Layer"
        norm = NORMS[one.setting.norm](op.out_width)
        rate = one.setting.dropout if place else 0.0
        residual = one.setting.residual and width == op.out_width
        rest = {"dropout": rate or None, "residual": residual or None}
        yield call(kind, form(op), norm, ACTIVATIONS[one.activation(place)], **rest)
        width = op.out_width


def scaling(model: Model) -> Call:
    """The description of the feature scaling."""
    return SCALINGS[model.scaling.mode](model.scaling)


def link(model: Model) -> Call:
    """What the outputs of a net mean."""
    return call("SeveralClasses" if model.several else "OneClass")


def weights(model: Model) -> dict[str, Tensor]:
    """All weights and constants by the names of the plain form."""
    reach = model.nets[0].reach
    found = dict(_constants(model))
    for place, state in enumerate(model.states):
        found |= {f"nets.{place}.{name}": value for name, value in renamed(_computed(state, reach))}
    return {name: value.detach().cpu().contiguous() for name, value in found.items()}


def _computed(state: Mapping[str, Tensor], reach: int) -> dict[str, Tensor]:
    """The weights of a net without those of layers that are not computed."""
    parts = ((name.split("."), name) for name in state)
    idle = {name for (room, *rest), name in parts if room in ("layers", "norms") and int(rest[0]) >= reach}
    return {name: value for name, value in state.items() if name not in idle}


def renamed(state: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """The weights of a net by the names of its plain form."""
    for name, value in state.items():
        new = name
        for pattern, text in NAMES:
            new = re.sub(pattern, text, new)
        yield new, value.t() if name == "stem" else value


def _constants(model: Model) -> Iterator[tuple[str, Tensor]]:
    """The constants of the scaling; sparse features are divided and not moved."""
    if model.scaling.mode == "standard":
        deviation = torch.tensor(model.scaling.deviation)
        mean = torch.zeros_like(deviation) if model.scaling.sparse else torch.tensor(model.scaling.mean)
        yield from (("scaling.mean", mean), ("scaling.deviation", deviation))


def plain(model: Model) -> Any:
    """The model as an `Ensemble` of `sanegnn.plain` with its weights, ready to predict on the CPU."""
    built = call("Ensemble", scaling(model), (net(model.nets[0]),) * len(model.states), link(model)).build()
    built.load_state_dict(weights(model))
    return built.eval()
