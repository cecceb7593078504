"""What the supernet and every derived net share: stem, K layers, layer aggregator, head.

    h^0 = W_in X                                        the stem, on sparse features where X is sparse
    h^l = σ(norm(AGG_node^l(h^(l-1), graph)))           l = 1 … K (Eq. 1)
    z   = AGG_layer(skip^1(h^1), …, skip^K(h^K))        or h^K in a plain stack
    out = head(z)                                       W_out z + b, unless the task names another head

Dropout falls on the stored entries of X, between the layers and before the head. Where an operation has
an activation of its own, that is its layer's σ; where it has a width of its own, the state is so wide from
there on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, leaky_relu, relu6, softplus

from sanegnn.kernels import Features, Graph, dropout, project
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets.heads import heads
from sanegnn.nets.norms import PairNorm
from sanegnn.ops import Shape, weight
from sanegnn.seeds import Noise
from sanegnn.settings import Setting

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "elu": elu,
    "leaky_relu": leaky_relu,
    "tanh": torch.tanh,
    "linear": lambda state: state,
    "sigmoid": torch.sigmoid,
    "softplus": softplus,
    "relu6": relu6,
}
NORMS: dict[str, Callable[[int], nn.Module]] = {
    "none": nn.Identity,
    "batch": nn.BatchNorm1d,
    "layer": nn.LayerNorm,
    "pair": PairNorm,
}


class Arrays(Protocol):
    """A graph as arrays: features (N, F), edges (2, E), a weight for each or None."""

    @property
    def x(self) -> Any: ...
    @property
    def edges(self) -> Any: ...
    @property
    def weight(self) -> Any: ...


@dataclass(frozen=True)
class Inputs:
    """What a net reads: the features and the graph of its nodes, and whose outputs are asked for.

    A loss looks at some nodes only; the last layer, the layer aggregator and the head are computed for these
    `rows` alone, and a layer below for the nodes that the next one reads. A head that reads pairs of nodes is
    told them in `pairs` (2, P), places in the rows.
    """

    features: Features
    graph: Graph
    rows: Tensor | None = None
    pairs: Tensor | None = None

    @classmethod
    def of(cls, source: Arrays, scaling: str | Scaling, device: str) -> Self:
        """What a net reads of a graph; a scaling by its name takes its constants from this graph."""
        weight = None if source.weight is None else torch.as_tensor(source.weight)
        graph = Graph.from_edges(torch.as_tensor(source.edges), source.x.shape[0], weight)
        x = Features.of(source.x)
        fitted = Scaling.fit(x, scaling) if isinstance(scaling, str) else scaling
        return cls(fitted(x).to(device), graph.to(device))

    @cached_property
    def _rings(self) -> list[tuple[Tensor, Graph]]:
        return []

    @cached_property
    def _read(self) -> dict[int, Features]:
        return {}

    def towards(self, layers: int) -> tuple[Tensor, list[Graph]]:
        """What the last so many layers read: the nodes, the asked ones first, and the graph of each layer.

        Every layer finds its targets first among its nodes.
        """
        while len(self._rings) < layers:
            rows = self._rings[-1][0] if self._rings else self.rows
            assert rows is not None, "no rows are asked for"
            self._rings.append(self.graph.towards(rows))
        rings = self._rings[:layers]
        return rings[-1][0], [graph for _, graph in reversed(rings)]

    def read(self, layers: int) -> Features:
        """The features of the nodes that the last so many layers read; of all nodes for none."""
        if layers and layers not in self._read:
            self._read[layers] = self.features.take(self.towards(layers)[0])
        return self._read[layers] if layers else self.features

    def asked(self, state: Tensor) -> Tensor:
        """The states (N, D) of the rows, (R, D); of all nodes where no rows are named."""
        return state if self.rows is None else state.index_select(0, self.rows)


def place(noise: Noise | None, *path: str | int) -> Noise | None:
    """The noise of a place, or none where there is none."""
    return None if noise is None else noise.at(*path)


def shape_of(setting: Setting, depth: int) -> Shape:
    """What the operations of a net are built from."""
    return Shape(setting.hidden, setting.heads, setting.attention_dropout, depth, setting.teleport)


class Backbone(nn.Module, ABC):
    """The shared parts of the forward pass; what stands in the slots is left to the two kinds of nets."""

    def __init__(
        self, setting: Setting, widths: Sequence[int], num_features: int, num_outputs: int, head: str
    ) -> None:
        """`widths` are those of h^1 … h^K; the head of that name reads the last."""
        super().__init__()
        self.setting, self.depth = setting, len(widths)
        self.shape = shape_of(setting, self.depth)
        self.stem = weight(num_features, setting.hidden)
        self.stem_bias = weight(setting.hidden)
        self.norms = nn.ModuleList(NORMS[setting.norm](width) for width in widths)
        self.sizes = (num_features, num_outputs)
        self.ends_in = head
        self.head_weights = tuple(kept := heads[head].weights(widths[-1], num_outputs))
        for name, parameter in kept.items():
            self.register_parameter(name, parameter)

    def start(self, features: Features, noise: Noise | None) -> Tensor:
        """h^0 (N, D)."""
        rate = self.setting.input_dropout
        return project(features, self.stem, rate, place(noise, "stem")) + self.stem_bias

    def thinned(self, graph: Graph, noise: Noise | None) -> Graph:
        """The graph of this pass: some edges are left out while training (DropEdge)."""
        rate = self.setting.edge_dropout
        return graph.drop_edges(rate, noise.at("edges")) if noise is not None and rate else graph

    def drop(self, x: Tensor, noise: Noise | None) -> Tensor:
        """Dropout of hidden states."""
        return dropout(x, self.setting.dropout, noise)

    def activation(self, layer: int) -> str:
        """The name of a layer's σ."""
        return self.setting.activation

    def closed(self, layer: int, aggregated: Tensor, before: Tensor) -> Tensor:
        """σ(norm(aggregated)); `residual` first adds the layer's input, where that is as wide."""
        added = self.setting.residual and aggregated.shape == before.shape
        normed: Tensor = self.norms[layer](aggregated + before if added else aggregated)
        return ACTIVATIONS[self.activation(layer)](normed)

    @abstractmethod
    def partial(self, layer: int) -> bool:
        """Whether the operations of a layer can be computed for some of the nodes."""

    def states(self, inputs: Inputs, noise: Noise | None, aggregate: Aggregate, depth: int) -> list[Tensor]:
        """h^1 … h^depth of the asked nodes, each (R, D)."""
        graph = self.thinned(inputs.graph, noise)
        narrow = self.narrow(inputs, graph, depth)
        wide = depth - narrow
        nodes, ending = inputs.towards(narrow) if narrow else (None, [])
        state = self.start(inputs.features if wide else inputs.read(narrow), noise)
        states: list[Tensor] = []
        for layer, here in enumerate([graph] * wide + ending):
            at = place(noise, "layer", layer)
            if layer and layer == wide and nodes is not None:
                state = state.index_select(0, nodes)
            before = self.drop(state, at) if layer else state
            state = self.closed(layer, aggregate(layer, before, here, at), before[: here.num_targets])
            states.append(state)
        asked = inputs.graph.num_nodes if inputs.rows is None else inputs.rows.numel()
        return [*map(inputs.asked, states[:wide]), *(state[:asked] for state in states[wide:])]

    def narrow(self, inputs: Inputs, graph: Graph, depth: int) -> int:
        """How many of the last layers can be computed for the nodes alone that the asked ones depend on.

        Batch norm and PairNorm read all nodes; edges that are dropped are the same in every layer.
        """
        if inputs.rows is None or inputs.rows.numel() == graph.num_nodes or graph is not inputs.graph:
            return 0
        if self.setting.norm not in ("none", "layer"):
            return 0
        return next((n for n in range(depth) if not self.partial(depth - 1 - n)), depth)

    def outputs(self, embedding: Tensor, inputs: Inputs, noise: Noise | None) -> Tensor:
        """The head: (R, D) -> (R, outputs), or what its kind gives."""

        def drop(x: Tensor) -> Tensor:
            return self.drop(x, place(noise, "head"))

        weights = {name: self.get_parameter(name) for name in self.head_weights}
        return heads[self.ends_in](embedding, inputs.pairs, weights, drop)


Aggregate = Callable[[int, Tensor, Graph, Noise | None], Tensor]
