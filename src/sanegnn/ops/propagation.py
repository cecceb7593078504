"""Aggregators that go back to an initial state: APPNP and GCNII.

Both mix the share `teleport`, α, of an initial state into every step of Â h, the pool of GCN. APPNP's
steps have no weights, so all of them are one operation; GCNII's layers are layers of the net, and the
initial state is carried through them.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

from torch import Tensor
from torch.nn.functional import relu

from sanegnn.kernels import Graph, aggregate
from sanegnn.ops.base import Carrying, NodeAggregator, Shape, linear, node_ops, weight
from sanegnn.seeds import Noise

STEPS = 10
THETA = 0.5


@node_ops.add("appnp", source="Gasteiger, Bojchevski, Günnemann: APPNP, ICLR 2019")
class Appnp(NodeAggregator):
    """z^0 = h; z^k = (1 - α) Â z^(k-1) + α h; the output is z^10.

    It has no weights; predict first with `linear`. Both this and the head are linear, so that propagating
    before the head is propagating the predictions; ReLU after it changes nothing, since what is mixed of
    numbers that are not negative is not negative.
    """

    knobs = ("teleport",)
    hops = STEPS

    def forward(self, x: Tensor, graph: Graph, noise: Noise | None = None) -> Tensor:
        """(N, D) -> (N, D)."""
        alpha, z = self.shape.teleport, x
        for _ in range(STEPS):
            (pooled,) = aggregate(z, graph, ("gcn",))
            z = (1 - alpha) * pooled + alpha * x
        return z


class Origin(NamedTuple):
    """The initial state of GCNII (N, D), and the number of its layers so far."""

    state: Tensor
    layer: int


@node_ops.add("gcnii", source="Chen et al.: GCNII, ICML 2020")
class Gcnii(Carrying):
    """m = (1 - α) Â h + α h^0; the output is (1 - β_l) m + β_l W m, β_l = log(θ / l + 1), θ = 0.5.

    The first such layer of a net opens the stack: h^0 = ReLU(x), and l counts from there.
    """

    knobs = ("teleport",)

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.weight = weight(shape.width, shape.width)

    def step(
        self, x: Tensor, graph: Graph, memory: Origin | None, noise: Noise | None = None
    ) -> tuple[Tensor, Origin]:
        """(N, D) -> (N, D), and the initial state with the layers counted."""
        if memory is None:
            x = relu(x)
            memory = Origin(x, 0)
        origin, layer = memory.state, memory.layer + 1
        alpha, beta = self.shape.teleport, log(THETA / layer + 1)
        (pooled,) = aggregate(x, graph, ("gcn",))
        mixed = (1 - alpha) * pooled + alpha * origin
        return (1 - beta) * mixed + beta * linear(mixed, self.weight), Origin(origin, layer)
