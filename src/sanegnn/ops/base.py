"""What every operation of the space is, and the tables they are registered in.

An operation maps states of width D to states of width D, so that any of them can stand in any slot of
its kind; a member of a family may have a width of its own, for plain stacks. It is a module that holds
weights and calls plain functions of `sanegnn.kernels`. Randomness is an argument: `noise=None` means
prediction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sanegnn.kernels import Graph, Segments
from sanegnn.kernels import linear as product
from sanegnn.registry import Registry
from sanegnn.seeds import Noise, derive


@dataclass(frozen=True)
class Shape:
    """What an operation is built from: D, the heads that share it, dropout on attention, K, teleport."""

    width: int
    heads: int = 1
    attention_dropout: float = 0.0
    depth: int = 1
    teleport: float = 0.1


class NodeAggregator(nn.Module, ABC):
    """AGG_node of Eq. 1 with its own weights: (N, D) and a graph -> (N, D).

    `knobs` are the fields of `Setting` that matter to this operation and not to every net; `hops` is how
    many edges a state travels in one application. One that is `partial` reads no more of a graph than the
    edges that end in the nodes it computes, so that these may be a part of all: out is (R, D) then. An
    operation that chooses its output's width or the function after it by itself names them in `own_width` and
    `own_activation`.
    """

    knobs: ClassVar[tuple[str, ...]] = ()
    partial: ClassVar[bool] = False
    hops: ClassVar[int] = 1
    own_width: ClassVar[int | None] = None
    own_activation: ClassVar[str | None] = None

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    @property
    def out_width(self) -> int:
        """The width of the output."""
        return self.own_width or self.shape.width

    @abstractmethod
    def forward(self, x: Tensor, graph: Graph, noise: Noise | None = None) -> Tensor:
        """The states that the neighbourhood gives each node."""


class Carrying(NodeAggregator):
    """An aggregator with a memory that goes on to the next layer with the same operation.

    It stands in the net of one architecture; a supernet, whose layers mix operations, refuses it. Called
    like any other operation, it starts without a memory.
    """

    @abstractmethod
    def step(self, x: Tensor, graph: Graph, memory: Any, noise: Noise | None = None) -> tuple[Tensor, Any]:
        """The states, and the memory for the next such layer; the first one gets None."""

    def forward(self, x: Tensor, graph: Graph, noise: Noise | None = None) -> Tensor:
        """A first step."""
        return self.step(x, graph, None, noise)[0]


class LayerAggregator(nn.Module, ABC):
    """AGG_layer: the K stacked states of Eq. 4 (K, N, D) -> the embedding z of Eq. 5 (N, D)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    @abstractmethod
    def forward(self, states: Tensor) -> Tensor:
        """The embedding of each node."""


class Pooling(nn.Module, ABC):
    """POOL: states (N, D) of the nodes of G graphs and their edges -> a state (G, D) for each graph.

    A graph is pooled by itself, whatever stands beside it, and the order of its nodes carries no meaning.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    @abstractmethod
    def forward(self, x: Tensor, segments: Segments, graph: Graph) -> Tensor:
        """The state of each graph."""


Skip = Callable[[Tensor], Tensor]

node_ops: Registry[type[NodeAggregator]] = Registry("node aggregator")
layer_ops: Registry[type[LayerAggregator]] = Registry("layer aggregator")
skip_ops: Registry[Skip] = Registry("skip")
pool_ops: Registry[type[Pooling]] = Registry("pooling")


def weight(*size: int) -> nn.Parameter:
    """A weight that `initialise` fills."""
    return nn.Parameter(torch.zeros(*size))


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """W x + b for every node: x (N, D), weight (M, D), bias (M,), out (N, M)."""
    return product(x, weight.t(), bias)


def initialise(module: nn.Module, seed: int) -> None:
    """Glorot-uniform weights, each from a stream named after it; biases and scales keep their value."""
    for name, parameter in module.named_parameters():
        if parameter.dim() >= 2:
            stream = torch.Generator().manual_seed(derive(seed, name))
            bound = (6.0 / (parameter.shape[-2] + parameter.shape[-1])) ** 0.5
            with torch.no_grad():
                fresh = torch.rand(parameter.shape, generator=stream, dtype=parameter.dtype)
                parameter.copy_(fresh.mul_(2 * bound).sub_(bound))
