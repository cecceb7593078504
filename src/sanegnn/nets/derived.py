"""The net of one architecture."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from sanegnn.errors import BadArchitecture, BadSetting
from sanegnn.kernels import Graph
from sanegnn.nets.backbone import Backbone, Inputs, shape_of
from sanegnn.ops import Carrying, NodeAggregator, Shape, initialise, layer_ops, node_ops, pool_ops, skip_ops
from sanegnn.seeds import Noise
from sanegnn.settings import Setting
from sanegnn.space import Architecture

if TYPE_CHECKING:
    from sanegnn.nets.supernet import Supernet


class Net(Backbone):
    """The network that an architecture text names, with weights drawn from `seed`.

    With all skips zero, z is the layer aggregator of zeros: the same for every node, so that the net
    can only learn how frequent the classes are. Layers above the last skip, `reach`, are not computed.
    """

    def __init__(
        self,
        architecture: Architecture,
        setting: Setting,
        num_features: int,
        num_outputs: int,
        seed: int = 0,
        head: str = "linear",
    ) -> None:
        layers = stacked(architecture, shape_of(setting, architecture.depth))
        super().__init__(setting, [op.out_width for op in layers], num_features, num_outputs, head)
        self.architecture = architecture
        self.layers = nn.ModuleList(layers)
        self.skips = [skip_ops[name] for name in architecture.skips]
        self.reach = architecture.reach
        wide = replace(self.shape, width=layers[-1].out_width)
        self.readout = None if architecture.layer is None else layer_ops[architecture.layer](wide)
        self.pool = None if architecture.pool is None else pool_ops[architecture.pool](wide)
        initialise(self, seed)

    def partial(self, layer: int) -> bool:
        """Whether the operation of the layer is."""
        return cast("NodeAggregator", self.layers[layer]).partial

    def activation(self, layer: int) -> str:
        """The operation's own, or the setting's."""
        op = cast("NodeAggregator", self.layers[layer])
        return op.own_activation or self.setting.activation

    def embed(self, inputs: Inputs, noise: Noise | None = None) -> Tensor:
        """z (R, D), or (G, D) of whole graphs."""
        return self.pooled(self.read(inputs, noise), inputs, self.pool)

    def read(self, inputs: Inputs, noise: Noise | None) -> Tensor:
        """What the layer aggregator makes of the states, (R, D)."""
        states = self.hidden(inputs, noise, self.reach)
        if self.readout is None:
            return states[-1]
        asked = inputs.graph.num_nodes if inputs.rows is None else inputs.rows.numel()
        states += [self.stem.new_zeros(asked, self.readout.shape.width)] * (self.depth - self.reach)
        kept = [skip(state) for skip, state in zip(self.skips, states, strict=True)]
        embedding: Tensor = self.readout(torch.stack(kept))
        return embedding

    def hidden(self, inputs: Inputs, noise: Noise | None, depth: int) -> list[Tensor]:
        """h^1 … h^depth of the asked nodes, each (R, D)."""
        carried: dict[type[nn.Module], Any] = {}

        def aggregate(layer: int, x: Tensor, graph: Graph, noise: Noise | None) -> Tensor:
            op, kind = self.layers[layer], type(self.layers[layer])
            if isinstance(op, Carrying):
                aggregated, carried[kind] = op.step(x, graph, carried.get(kind), noise)
            else:
                aggregated = op(x, graph, noise)
            return aggregated

        return self.states(inputs, noise, aggregate, depth)

    def forward(self, inputs: Inputs, noise: Noise | None = None) -> Tensor:
        """(R, outputs)."""
        return self.outputs(self.embed(inputs, noise), inputs, noise)


def stacked(architecture: Architecture, shape: Shape) -> list[NodeAggregator]:
    """The operations of the layers, each built for the width that the one below it gives."""
    layers: list[NodeAggregator] = []
    for name in architecture.nodes:
        width = layers[-1].out_width if layers else shape.width
        kind = node_ops[name]
        if "heads" in kind.knobs and width % shape.heads:
            raise BadSetting(f"{name} over states of width {width} cannot share them by {shape.heads} heads")
        layers.append(kind(replace(shape, width=width)))
    _are_equally_wide(architecture, [shape.width, *(op.out_width for op in layers)])
    return layers


def widths(architecture: Architecture, hidden: int) -> list[int]:
    """The widths of h^0 … h^K."""
    wide = [hidden]
    for name in architecture.nodes:
        wide.append(node_ops[name].own_width or wide[-1])
    return wide


def _are_equally_wide(architecture: Architecture, widths: list[int]) -> None:
    """Refuse to join states of several widths, and to carry a memory from one width to another."""
    told = ", ".join(map(str, widths[1:]))
    if architecture.layer is not None and len(set(widths[1:])) > 1:
        raise BadArchitecture(
            f"{architecture}: its layers have widths {told}, but {architecture.layer} joins states of one"
            " width: give all layers the same width, or leave skips and layer aggregator out"
        )
    carrying = [name for name in architecture.nodes if issubclass(node_ops[name], Carrying)]
    if carrying and len(set(widths)) > 1:
        raise BadArchitecture(
            f"{architecture}: {carrying[0]} carries a memory of width {widths[0]}, but the layers have widths"
            f" {told}: combine it with operations that keep the width"
        )


def inherit(supernet: Supernet, architecture: Architecture) -> Net:
    """The net of a member of the supernet's space, with the supernet's weights, type and device."""
    net = Net(architecture, supernet.setting, *supernet.sizes, head=supernet.ends_in).to(supernet.stem)
    net.load_state_dict(dict(_inherited(net, supernet)))
    return net


def _inherited(net: Net, supernet: Supernet) -> list[tuple[str, Tensor]]:
    choice = supernet.space.encode(net.architecture)
    weights = supernet.state_dict()
    renamed = []
    for name in net.state_dict():
        room, _, rest = name.partition(".")
        if room == "layers":
            layer, _, tail = rest.partition(".")
            source = f"layers.{layer}.ops.{choice[f'node.{layer}']}.{tail}"
        elif room == "readout":
            source = f"readouts.{choice['layer.0']}.{rest}"
        elif room == "pool":
            source = f"pools.{choice['pool.0']}.{rest}"
        else:
            source = name
        renamed.append((name, weights[source]))
    return renamed
