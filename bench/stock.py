"""The supernet and the derived nets of stock PyG layers, with the mathematics of `sanegnn.nets`.

They keep a dense feature matrix and an edge list of their own, drop with torch's dropout where sanegnn drops,
and are called as sanegnn's nets are, so that the same course and the same training loop drive both. Of the
batch's inputs only the rows are read, and the noise is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.layers import LAYER, NODE, SKIP
from sanegnn.nets import Inputs, Supernet
from sanegnn.nets.backbone import ACTIVATIONS
from sanegnn.ops import Shape
from sanegnn.seeds import Noise
from sanegnn.settings import Setting
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.course import Course
from sanegnn.strategies.darts import Algorithm1
from sanegnn.tasks.nodes import NodeSearch


@dataclass(frozen=True)
class Raw:
    """A node task as PyG holds it: dense features (N, F), edges (2, E), the number of classes."""

    x: Tensor
    edge_index: Tensor
    classes: int

    @classmethod
    def of(cls, task: NodeSearch, features: str) -> Raw:
        """The same features under the same scaling, and the edges in the order of the data."""
        dense = task.ready(features, "cpu").inputs.features.to_dense()
        return cls(dense, torch.as_tensor(task.edges), len(task.classes))


class Stock(nn.Module):
    """Stem, K layers and head."""

    def __init__(self, raw: Raw, setting: Setting, depth: int) -> None:
        super().__init__()
        if setting.norm != "none" or setting.residual or setting.edge_dropout:
            raise ValueError("the stock nets know no norm, no residual and no DropEdge")
        self.raw, self.setting = raw, setting
        self.shape = Shape(setting.hidden, setting.heads, setting.attention_dropout, depth)
        self.stem = nn.Linear(raw.x.shape[1], setting.hidden)
        self.head = nn.Linear(setting.hidden, raw.classes)

    def drop(self, x: Tensor) -> Tensor:
        """Dropout of hidden states."""
        return functional.dropout(x, self.setting.dropout, self.training)

    def outputs(self, embedding: Tensor, inputs: Inputs) -> Tensor:
        """The head for every node, of which a loss takes its rows: (R, classes)."""
        return inputs.asked(self.head(self.drop(embedding)))

    def states(self, layer: Callable[[int, Tensor], Tensor]) -> list[Tensor]:
        """h^1 … h^K, each (N, D)."""
        state = self.stem(functional.dropout(self.raw.x, self.setting.input_dropout, self.training))
        activation, states = ACTIVATIONS[self.setting.activation], []
        for place in range(self.shape.depth):
            state = activation(layer(place, self.drop(state) if place else state))
            states.append(state)
        return states


class StockNet(Stock):
    """The net of one architecture."""

    def __init__(self, architecture: Architecture, setting: Setting, raw: Raw) -> None:
        super().__init__(raw, setting, architecture.depth)
        self.layers = nn.ModuleList(NODE[name](self.shape) for name in architecture.nodes)
        self.skips = [SKIP[name] for name in architecture.skips]
        self.readout = None if architecture.layer is None else LAYER[architecture.layer](self.shape)

    def forward(self, inputs: Inputs, noise: Noise | None = None) -> Tensor:
        """(R, classes)."""
        states = self.states(lambda place, x: self.layers[place](x, self.raw.edge_index))
        if self.readout is None:
            return self.outputs(states[-1], inputs)
        kept = [skip(state) for skip, state in zip(self.skips, states, strict=True)]
        return self.outputs(self.readout(kept), inputs)


class StockSupernet(Stock):
    """All operations of the paper's space, each by itself, mixed."""

    def __init__(self, space: SearchSpace, setting: Setting, raw: Raw) -> None:
        super().__init__(raw, setting, space.depth)
        self.layers = nn.ModuleList(
            nn.ModuleList(NODE[name](self.shape) for name in space.node_ops) for _ in range(space.depth)
        )
        self.skips = [SKIP[name] for name in space.skip_ops]
        self.readouts = nn.ModuleList(LAYER[name](self.shape) for name in space.layer_ops)

    def forward(self, inputs: Inputs, mix: Mapping[str, Tensor], noise: Noise | None = None) -> Tensor:
        """(R, classes)."""

        def layer(place: int, x: Tensor) -> Tensor:
            shares = zip(mix[f"node.{place}"], self.layers[place], strict=True)
            return sum(share * conv(x, self.raw.edge_index) for share, conv in shares)

        kept = [self.skipped(state, mix[f"skip.{place}"]) for place, state in enumerate(self.states(layer))]
        shares = zip(mix["layer.0"], self.readouts, strict=True)
        return self.outputs(sum(share * readout(kept) for share, readout in shares), inputs)

    def skipped(self, state: Tensor, shares: Tensor) -> Tensor:
        """The mixed skip of one layer."""
        return sum(share * skip(state) for share, skip in zip(shares, self.skips, strict=True))


class StockCourse(Course):
    """Algorithm 1 step by step as sanegnn runs it, on the stock supernet."""

    def __init__(self, space: SearchSpace, task: NodeSearch, settings: Algorithm1, seed: int) -> None:
        super().__init__(space, task.ready(settings.scaling, "cpu"), settings, seed)
        stock = StockSupernet(space, settings.setting, Raw.of(task, settings.scaling))
        self.net = cast("Supernet", stock)
        self.weights = list(stock.parameters())
        self.w_adam = torch.optim.Adam(
            self.weights, lr=settings.lr, weight_decay=settings.weight_decay, fused=True
        )
