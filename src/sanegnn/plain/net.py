"""The net around the aggregators, and several trained ones as one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.utils import dropout_edge


class Layer(nn.Module):
    """σ(norm(AGG(h))); with `residual`, h is added before the norm."""

    def __init__(
        self,
        op: nn.Module,
        norm: nn.Module,
        activation: nn.Module,
        dropout: float = 0.0,
        residual: bool = False,
    ) -> None:
        super().__init__()
        self.op: Any = op
        self.norm, self.activation = norm, activation
        self.dropout, self.residual = dropout, residual

    def forward(self, h: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D')."""
        h = F.dropout(h, self.dropout, self.training)
        return self.closed(self.op(h, edge_index, edge_weight), h)

    def closed(self, aggregated: Tensor, before: Tensor) -> Tensor:
        """What follows the aggregator."""
        if self.residual:
            aggregated = aggregated + before
        return self.activation(self.norm(aggregated))


class CarryingLayer(Layer):
    """A layer whose aggregator hands a memory to the next of its kind."""

    def step(
        self, h: Tensor, edge_index: Tensor, edge_weight: Tensor, memory: Any
    ) -> tuple[Tensor, Any]:
        """(N, D) -> (N, D), and the memory."""
        h = F.dropout(h, self.dropout, self.training)
        aggregated, memory = self.op.step(h, edge_index, edge_weight, memory)
        return self.closed(aggregated, h), memory


class Layers(nn.ModuleList):
    """The layers, one after the other."""

    def forward(
        self, h: Tensor, edge_index: Tensor, edge_weight: Tensor
    ) -> list[Tensor]:
        """The states h_1 … h_K."""
        states = []
        for layer in self:
            h = layer(h, edge_index, edge_weight)
            states.append(h)
        return states


class CarryingLayers(nn.ModuleList):
    """The layers, one after the other; aggregators of one kind share a memory."""

    def forward(
        self, h: Tensor, edge_index: Tensor, edge_weight: Tensor
    ) -> list[Tensor]:
        """The states h_1 … h_K."""
        states: list[Tensor] = []
        memories: dict[str, Any] = {}
        for layer in self:
            if isinstance(layer, CarryingLayer):
                kind = type(layer.op).__name__
                known = memories.get(kind)
                h, memories[kind] = layer.step(h, edge_index, edge_weight, known)
            else:
                h = layer(h, edge_index, edge_weight)
            states.append(h)
        return states


class Net(nn.Module):
    """A linear stem, the layers, and a head on the last state."""

    def __init__(
        self,
        stem: nn.Module,
        layers: nn.Module,
        head: nn.Module,
        input_dropout: float = 0.0,
        edge_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.stem, self.layers, self.head = stem, layers, head
        self.input_dropout, self.edge_dropout = input_dropout, edge_dropout

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor, *pairs: Tensor
    ) -> Tensor:
        """Logits (N, outputs); (P, outputs) of a head that is given pairs (2, P)."""
        if self.training and self.edge_dropout:
            edge_index, kept = dropout_edge(edge_index, self.edge_dropout)
            edge_weight = edge_weight[kept]
        h = self.stem(F.dropout(x, self.input_dropout, self.training))
        z = self.embedding(h, self.layers(h, edge_index, edge_weight))
        return self.head(z, *pairs)

    def embedding(self, h: Tensor, states: list[Tensor]) -> Tensor:
        """z (N, D)."""
        return states[-1]


class JumpingNet(Net):
    """The same with a layer aggregator over the states; some of them are zeros."""

    def __init__(
        self,
        stem: nn.Module,
        layers: nn.Module,
        head: nn.Module,
        skips: Sequence[bool],
        width: int,
        readout: nn.Module,
        **dropouts: float,
    ) -> None:
        super().__init__(stem, layers, head, **dropouts)
        self.skips, self.width, self.readout = tuple(skips), width, readout

    def embedding(self, h: Tensor, states: list[Tensor]) -> Tensor:
        """z (N, D); layers above the last one that counts are not there at all."""
        zeros = h.new_zeros(h.size(0), self.width)
        kept = [
            states[place] if skip else zeros for place, skip in enumerate(self.skips)
        ]
        return self.readout(torch.stack(kept))


class Ensemble(nn.Module):
    """The mean of the nets' predictions, on features as they come, not scaled yet."""

    def __init__(
        self, scaling: nn.Module, nets: Sequence[nn.Module], link: nn.Module
    ) -> None:
        super().__init__()
        self.scaling: Any = scaling
        self.link: Any = link
        self.nets = nn.ModuleList(nets)

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> Tensor:
        """(N, F), (2, E) source over target, (E,) -> (N, outputs)."""
        if edge_weight is None:
            edge_weight = x.new_ones(edge_index.size(1))
        return self.joined(self.scaling(x), edge_index, edge_weight)

    def joined(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """The same of features that are scaled."""
        odds = [self.link(net(x, edge_index, edge_weight)) for net in self.nets]
        return torch.stack(odds).mean(dim=0)
