"""The supernet: every operation of a space in its slot, mixed by weights that are an argument.

The weights w are the module's; the mixing weights softmax(alpha) come with every call, one row a slot
(Eq. 2), so that a one-hot row, a sampled path and the relaxed mixture are the same forward pass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import torch
from torch import Tensor, nn

from sanegnn.errors import BadSetting
from sanegnn.kernels import Graph
from sanegnn.nets.backbone import Backbone, Inputs, Pool
from sanegnn.nets.fused import mixture_of
from sanegnn.ops import Carrying, NodeAggregator, initialise, layer_ops, node_ops, pool_ops, skip_ops
from sanegnn.seeds import Noise
from sanegnn.settings import Setting
from sanegnn.space import Family, SearchSpace


@dataclass(frozen=True)
class Gated:
    """The operation at `place` alone, its output times `factor`: a way for a gradient to reach its odds."""

    place: int
    factor: Tensor


Choice = Tensor | int | Gated
"""What stands in a slot: mixing weights, or the only operation computed, by its index or with its factor."""


class MixedAggregator(nn.Module):
    """The mixed operation of one layer (Eq. 3): sum_o p_o o(h, graph)."""

    def __init__(self, ops: list[NodeAggregator]) -> None:
        super().__init__()
        if any(isinstance(op, Carrying) for op in ops):
            raise BadSetting(
                "an operation that carries a memory through depth cannot be mixed with others: search it with"
                " a strategy that trains whole nets, or take its restarted form"
            )
        self.ops = nn.ModuleList(ops)

    def forward(self, x: Tensor, graph: Graph, choice: Choice, noise: Noise | None) -> Tensor:
        """(N, D) -> (N, D)."""
        if isinstance(choice, int):
            alone: Tensor = self.ops[choice](x, graph, noise)
            return alone
        if isinstance(choice, Gated):
            return choice.factor * self.forward(x, graph, choice.place, noise)
        return mixture_of(self.ops, choice, x, graph, noise)


def mixable(space: SearchSpace) -> None:
    """Refuse a space that no supernet can hold."""
    if isinstance(space.node_ops, Family):
        raise BadSetting(
            f"the operations of space {space.name!r} have widths of their own, so that no supernet can mix"
            " them: take a strategy that trains whole nets, such as random, tpe, evolution, hyperband,"
            " graphnas, graphnas-ws or autognn"
        )


def blend(choice: Choice, ops: Iterable[Callable[..., Tensor]], *given: Any) -> Tensor:
    """Σ_o p_o o(given), or what the only operation computed gives."""
    if isinstance(choice, Tensor):
        return torch.stack([p * op(*given) for p, op in zip(choice, ops, strict=True)]).sum(0)
    if isinstance(choice, Gated):
        return choice.factor * blend(choice.place, ops, *given)
    return next(islice(ops, choice, None))(*given)


class Supernet(Backbone):
    """All architectures of `space` with shared weights, drawn from `seed`."""

    def __init__(
        self,
        space: SearchSpace,
        setting: Setting,
        num_features: int,
        num_outputs: int,
        seed: int = 0,
        head: str = "linear",
    ) -> None:
        mixable(space)
        super().__init__(setting, [setting.hidden] * space.depth, num_features, num_outputs, head)
        self.space = space
        layers = [slot.choices for slot in space.slots if slot.kind == "node"]
        self.layers = nn.ModuleList(
            MixedAggregator([node_ops[name](self.shape) for name in names]) for names in layers
        )
        self.skips = [skip_ops[name] for name in space.skip_ops]
        self.readouts = nn.ModuleList(layer_ops[name](self.shape) for name in space.layer_ops)
        self.pools = nn.ModuleList(pool_ops[name](self.shape) for name in space.pool_ops)
        initialise(self, seed)

    def partial(self, layer: int) -> bool:
        """Whether all operations of the layer are."""
        mixed = cast("MixedAggregator", self.layers[layer])
        return all(cast("NodeAggregator", op).partial for op in mixed.ops)

    def embed(self, inputs: Inputs, mix: Mapping[str, Choice], noise: Noise | None = None) -> Tensor:
        """z (R, D), or (G, D) of whole graphs, under the given choice for every slot."""

        def aggregate(layer: int, x: Tensor, graph: Graph, noise: Noise | None) -> Tensor:
            mixed: Tensor = self.layers[layer](x, graph, mix[f"node.{layer}"], noise)
            return mixed

        states = self.states(inputs, noise, aggregate, self.depth)
        return self.pooled(self.read(states, mix), inputs, self.pool_of(mix))

    def read(self, states: list[Tensor], mix: Mapping[str, Choice]) -> Tensor:
        """The mixed skips (Eq. 4) and layer aggregator (Eq. 5): (R, D)."""
        if not self.readouts:
            return states[-1]
        kept = [blend(mix[f"skip.{layer}"], self.skips, state) for layer, state in enumerate(states)]
        return blend(mix["layer.0"], self.readouts, torch.stack(kept))

    def pool_of(self, mix: Mapping[str, Choice]) -> Pool | None:
        """The mixed pooling, where the space has one."""
        return functools.partial(blend, mix["pool.0"], self.pools) if self.pools else None

    def forward(self, inputs: Inputs, mix: Mapping[str, Choice], noise: Noise | None = None) -> Tensor:
        """(R, outputs)."""
        return self.outputs(self.embed(inputs, mix, noise), inputs, noise)
