"""The net of one architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from sanegnn.kernels import Graph
from sanegnn.nets.backbone import Backbone, Inputs
from sanegnn.ops import Carrying, NodeAggregator, initialise, layer_ops, node_ops, skip_ops
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
        self, architecture: Architecture, setting: Setting, num_features: int, num_outputs: int, seed: int = 0
    ) -> None:
        super().__init__(setting, architecture.depth, num_features, num_outputs)
        self.architecture = architecture
        self.layers = nn.ModuleList(node_ops[name](self.shape) for name in architecture.nodes)
        self.skips = [skip_ops[name] for name in architecture.skips]
        kept = [layer for layer, name in enumerate(architecture.skips, start=1) if name != "zero"]
        self.reach = max(kept, default=0) if architecture.skips else self.depth
        self.readout = None if architecture.layer is None else layer_ops[architecture.layer](self.shape)
        initialise(self, seed)

    def partial(self, layer: int) -> bool:
        """Whether the operation of the layer is."""
        return cast("NodeAggregator", self.layers[layer]).partial

    def embed(self, inputs: Inputs, noise: Noise | None = None) -> Tensor:
        """z (R, D)."""
        carried: dict[type[nn.Module], Any] = {}

        def aggregate(layer: int, x: Tensor, graph: Graph, noise: Noise | None) -> Tensor:
            op, kind = self.layers[layer], type(self.layers[layer])
            if isinstance(op, Carrying):
                aggregated, carried[kind] = op.step(x, graph, carried.get(kind), noise)
            else:
                aggregated = op(x, graph, noise)
            return aggregated

        states = self.states(inputs, noise, aggregate, self.reach)
        if self.readout is None:
            return states[-1]
        asked = inputs.graph.num_nodes if inputs.rows is None else inputs.rows.numel()
        states += [self.stem.new_zeros(asked, self.setting.hidden)] * (self.depth - self.reach)
        kept = [skip(state) for skip, state in zip(self.skips, states, strict=True)]
        embedding: Tensor = self.readout(torch.stack(kept))
        return embedding

    def forward(self, inputs: Inputs, noise: Noise | None = None) -> Tensor:
        """(R, outputs)."""
        return self.outputs(self.embed(inputs, noise), noise)


def inherit(supernet: Supernet, architecture: Architecture) -> Net:
    """The net of a member of the supernet's space, with the supernet's weights, type and device."""
    stem, head = supernet.stem, supernet.head
    net = Net(architecture, supernet.setting, stem.shape[0], head.shape[0]).to(stem)
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
        else:
            source = name
        renamed.append((name, weights[source]))
    return renamed
