"""Attention aggregators: sum_{u in Ñ(v)} softmax_u(e_uv) W h_u + b, heads side by side.

The softmax runs over the edges that arrive at v. A head has width C = D / heads; its score e_uv is what
sets the variants apart (Table XI). The scores are computed in `sanegnn.kernels.attend`, by kind.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sanegnn.kernels import Graph, attend, lstm_step
from sanegnn.ops.base import NodeAggregator, Shape, linear, node_ops, weight
from sanegnn.seeds import Noise


class Attention(NodeAggregator):
    """Scores of one kind over the projected states W h; a variant holds the vectors its score needs."""

    knobs = ("heads", "attention_dropout")
    partial = True
    score: ClassVar[str]
    vectors: ClassVar[tuple[str, ...]] = ("source", "target")

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.heads, self.channels = shape.heads, shape.width // shape.heads
        self.weight = weight(shape.width, shape.width)
        self.bias = weight(shape.width)
        for name in self.vectors:
            setattr(self, f"att_{name}", weight(self.heads, self.channels))

    def vector(self, name: str) -> Tensor:
        """The attention vector of that name (H, C); zero where the score has none."""
        if name in self.vectors:
            return self.get_parameter(f"att_{name}")
        return torch.zeros(self.heads, self.channels, dtype=self.weight.dtype, device=self.weight.device)

    def forward(self, x: Tensor, graph: Graph, noise: Noise | None = None) -> Tensor:
        """Project, attend, finish."""
        values = linear(x, self.weight).view(-1, 1, self.heads, self.channels)
        source, target, gate = (self.vector(name)[None] for name in ("source", "target", "gate"))
        rate = self.shape.attention_dropout
        mixed = attend((self.score,), values, source, target, gate, graph, rate, noise)
        return self.finish(mixed.flatten(1))

    def finish(self, mixed: Tensor) -> Tensor:
        """What follows the weighted sum: the bias."""
        return mixed + self.bias


@node_ops.add("gat", source="Velickovic et al.: GAT, ICLR 2018")
class Gat(Attention):
    """e_uv = LeakyReLU(a_s · W h_u + a_t · W h_v), slope 0.2."""

    score = "gat"


@node_ops.add("gat_sym", source="Gao et al.: GraphNAS, 2019")
class GatSym(Attention):
    """e_uv = e^gat_uv + e^gat_vu."""

    score = "gat_sym"


@node_ops.add("gat_cos", source="Gao et al.: GraphNAS, 2019")
class GatCos(Attention):
    """e_uv = <W h_u, W h_v>."""

    score = "gat_cos"
    vectors = ()


@node_ops.add("gat_linear", source="Gao et al.: GraphNAS, 2019")
class GatLinear(Attention):
    """e_uv = tanh(a_s · W h_u + a_t · W h_v)."""

    score = "gat_linear"


@node_ops.add("gat_gen_linear", source="Gao et al.: GraphNAS, 2019")
class GatGenLinear(Attention):
    """e_uv = W_G · tanh(a_s ⊙ W h_u + a_t ⊙ W h_v), with a vector W_G for each head."""

    score = "gat_gen_linear"
    vectors = ("source", "target", "gate")


@node_ops.add("geniepath", source="Liu et al.: GeniePath, AAAI 2019")
class GeniePath(Attention):
    """Breadth, then depth: a = tanh(GAT(h)); i, o = σ(a W_i), σ(a W_o); o ⊙ tanh(i ⊙ tanh(a W_c)).

    The depth is one step of an LSTM that starts from a zero state in every layer, so that the operation
    can stand in any slot; the forget gate would multiply zero and is left out.
    """

    score = "gat"

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.gates = weight(shape.width, 3 * shape.width)
        self.gates_bias = nn.Parameter(torch.zeros(3 * shape.width))

    def finish(self, mixed: Tensor) -> Tensor:
        """The adaptive breadth's tanh, then the adaptive depth's gates."""
        return lstm_step(torch.tanh(mixed + self.bias), self.gates, self.gates_bias)
