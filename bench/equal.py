"""Weights from sanegnn's nets into the stock ones, and the proof that both compute the same.

Nothing is timed before outputs and all gradients agree, with dropout off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bench.stock import Stock, StockNet, StockSupernet
from sanegnn.nets import Net, Supernet
from sanegnn.nets.backbone import Backbone
from sanegnn.seeds import derive
from sanegnn.tasks import Ready

View = Callable[[Tensor], Tensor]
"""Rearranges a weight of ours into the stock layer's; linear, so that it fits the gradient too."""


class Unequal(AssertionError):
    """The two sides do not compute the same: a comparison of their speed would mean nothing."""


@dataclass(frozen=True)
class Tie:
    """A weight of ours by name, its counterpart by name, and how it is rearranged."""

    ours: str
    theirs: str
    view: View = torch.clone


def _heads(x: Tensor) -> Tensor:
    return x[None]


def _with_forget_gate(x: Tensor) -> Tensor:
    """Gates i, g, o in the last dimension -> i, f, g, o in the first; f does nothing to a zero state."""
    i, g, o = x.chunk(3, dim=-1)
    return torch.cat([i, torch.zeros_like(i), g, o], dim=-1).t()


def _direction(place: int) -> View:
    return lambda x: x[place].t()


SAGE = (Tie("root", "lin_r.weight"), Tie("neighbour", "lin_l.weight"), Tie("bias", "lin_l.bias"))
PROJECTED = (Tie("weight", "lin.weight"), Tie("bias", "bias"))
GAT = (*PROJECTED, Tie("att_source", "att_src", _heads), Tie("att_target", "att_dst", _heads))
MLP = (
    Tie("eps", "eps"),
    Tie("inner", "nn.0.weight"),
    Tie("inner_bias", "nn.0.bias"),
    Tie("outer", "nn.2.weight"),
    Tie("outer_bias", "nn.2.bias"),
)
GENIE = (
    *(Tie(tie.ours, f"breadth.{tie.theirs}", tie.view) for tie in GAT),
    Tie("gates", "depth.weight_ih_l0", _with_forget_gate),
    Tie("gates_bias", "depth.bias_ih_l0", lambda x: _with_forget_gate(x[None])[:, 0]),
)
NODE_TIES: dict[str, tuple[Tie, ...]] = {
    **dict.fromkeys(("sage_sum", "sage_mean", "sage_max"), SAGE),
    "gcn": PROJECTED,
    **dict.fromkeys(("gat", "gat_sym", "gat_linear"), GAT),
    "gat_cos": PROJECTED,
    "gat_gen_linear": (*GAT, Tie("att_gate", "gate", _heads)),
    "gin": MLP,
    "geniepath": GENIE,
}
LAYER_TIES: dict[str, tuple[Tie, ...]] = {
    "concat": (Tie("weight", "lin.weight"), Tie("bias", "lin.bias")),
    "max": (),
    "lstm": (
        *(
            Tie(f"weight_{part}", f"lstm.weight_{part}_l0{suffix}", _direction(place))
            for part in ("ih", "hh")
            for place, suffix in enumerate(("", "_reverse"))
        ),
        Tie("bias", "lstm.bias_ih_l0", lambda x: x.chunk(2)[0]),
        Tie("bias", "lstm.bias_ih_l0_reverse", lambda x: x.chunk(2)[1]),
        Tie("score", "att.weight"),
        Tie("score_bias", "att.bias"),
    ),
}
ENDS = (
    Tie("stem", "stem.weight", torch.t),
    Tie("stem_bias", "stem.bias"),
    Tie("head", "head.weight"),
    Tie("head_bias", "head.bias"),
)


def _under(ties: tuple[Tie, ...], ours: str, theirs: str) -> Iterator[Tie]:
    for tie in ties:
        yield Tie(f"{ours}.{tie.ours}", f"{theirs}.{tie.theirs}", tie.view)


def ties_of(ours: Backbone) -> list[Tie]:
    """Every weight of a net or supernet with its counterpart."""
    ties = list(ENDS)
    if isinstance(ours, Supernet):
        for layer in range(ours.depth):
            for place, name in enumerate(ours.space.node_ops):
                ties += _under(NODE_TIES[name], f"layers.{layer}.ops.{place}", f"layers.{layer}.{place}")
        for place, name in enumerate(ours.space.layer_ops):
            ties += _under(LAYER_TIES[name], f"readouts.{place}", f"readouts.{place}")
    elif isinstance(ours, Net):
        for layer, name in enumerate(ours.architecture.nodes):
            ties += _under(NODE_TIES[name], f"layers.{layer}", f"layers.{layer}")
        if ours.architecture.layer is not None:
            ties += _under(LAYER_TIES[ours.architecture.layer], "readout", "readout")
    return ties


@torch.no_grad()
def copy_weights(ours: Backbone, stock: Stock) -> None:
    """Give the stock net the weights of ours; what has no counterpart becomes zero."""
    mine, theirs = dict(ours.named_parameters()), dict(stock.named_parameters())
    for weight in theirs.values():
        weight.zero_()
    for tie in ties_of(ours):
        theirs[tie.theirs].copy_(tie.view(mine[tie.ours]))


def check(ours: Backbone, stock: Stock, ready: Ready, tolerance: float = 2e-3) -> None:
    """Copy the weights; raise `Unequal` unless outputs and gradients agree under random weights.

    The largest difference of each tensor is judged against its largest entry, or a hundredth of the
    largest entry of all gradients where that is more.
    """
    before = {name: value.clone() for name, value in ours.state_dict().items()}
    _randomise(ours)
    copy_weights(ours, stock)
    mix, stock_mix = (_mix(ours) for _ in range(2))
    batch = ready.batches("train")[0]
    ours.eval()
    stock.eval()
    out = ours(batch.inputs, mix) if isinstance(ours, Supernet) else ours(batch.inputs)
    stock_out = stock(batch.inputs, stock_mix) if isinstance(stock, StockSupernet) else stock(batch.inputs)
    pairs = {"output": (out.detach(), stock_out.detach())}
    for total in (ready.loss(out, batch), ready.loss(stock_out, batch)):
        total.backward()
    pairs |= {f"gradient of {key}": (mix[key].grad, stock_mix[key].grad) for key in mix}
    pairs |= _gradients(ours, stock)
    _judge(pairs, tolerance)
    ours.load_state_dict(before)
    copy_weights(ours, stock)
    for net in (ours, stock):
        net.zero_grad()


def _gradients(ours: Backbone, stock: Stock) -> dict[str, tuple[Tensor, Tensor]]:
    mine, theirs = dict(ours.named_parameters()), dict(stock.named_parameters())
    ties = ties_of(ours)
    if missing := set(mine) - {tie.ours for tie in ties}:
        raise Unequal(f"no counterpart is known of {', '.join(sorted(missing))}")
    return {
        f"gradient of {tie.theirs}": (tie.view(_filled(mine[tie.ours])), _filled(theirs[tie.theirs]))
        for tie in ties
    }


def _filled(weight: Tensor) -> Tensor:
    return torch.zeros_like(weight) if weight.grad is None else weight.grad


def _mix(ours: Backbone) -> dict[str, Tensor]:
    """Uneven shares for every slot of a supernet; nothing for a net."""
    slots = ours.space.slots if isinstance(ours, Supernet) else ()
    like = ours.head_bias
    rows = {slot.key: torch.arange(1.0, len(slot.choices) + 1, dtype=like.dtype) for slot in slots}
    return {key: (row / row.sum()).requires_grad_(True) for key, row in rows.items()}


@torch.no_grad()
def _randomise(net: nn.Module) -> None:
    for name, weight in net.named_parameters():
        stream = torch.Generator().manual_seed(derive(0, "check", name))
        reach = weight.shape[-1] ** -0.5 if weight.dim() > 1 else 0.1
        weight.copy_(reach * torch.randn(weight.shape, generator=stream, dtype=weight.dtype))


def _judge(pairs: Mapping[str, tuple[Tensor, Tensor]], tolerance: float) -> None:
    top = {name: float(theirs.abs().max()) for name, (_, theirs) in pairs.items()}
    floor = max(value for name, value in top.items() if name != "output") / 100
    for name, (ours, theirs) in pairs.items():
        error = float((ours - theirs).abs().max())
        if not error <= tolerance * max(top[name], floor):
            raise Unequal(f"{name} differs by {error:.3g}, where the stock net has up to {top[name]:.3g}")


__all__ = ["StockNet", "Tie", "Unequal", "check", "copy_weights", "ties_of"]
