"""Operations that are told by their components: the layers of GraphNAS and of Auto-GNN.

    z_u  = W h_u                                   H heads of C channels side by side
    m_uv = α_uv z_u                                attention
    a_v  = AGG({m_uv, u in Ñ(v)})                  aggregator: sum, mean, max, mlp
    out  = COMBINE(a_v) + b                        (N, H · C)

The net closes a layer with the operation's own activation. Attention α_uv, with s_u = <a_s, z_u> and
d_v = <a_t, z_v>, each head with vectors of its own:

    const       1
    gcn         1 / sqrt(d̃_u d̃_v)
    gat         softmax LeakyReLU(s_u + d_v)
    gat_sym     softmax LeakyReLU(s_u + d_v) + LeakyReLU(s_v + d_u)
    linear      softmax tanh(s_u)
    cos         softmax <z_u, z_v>
    gen_linear  softmax <W_G, tanh(a_s ⊙ z_u + a_t ⊙ z_v)>

with the softmax over Ñ(v); edge weights multiply const and gcn, and stand in the softmax as in `attend`.

Where this is not what the authors wrote: the net has a linear stem and a linear head as all nets here, so
that the last layer concatenates its heads too; cos compares the states that are summed, without a weight
for each side; perceptrons are C wide with ReLU between their two layers and shared by the heads (the
authors' have 128 hidden channels and nothing between), and stand where `mlp` was chosen alone, not before
mean and max as well; dropout on coefficients falls on the learned ones.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import relu
from torch.utils.checkpoint import checkpoint

from sanegnn.kernels import Graph, aggregate, attend, coefficients, dropout
from sanegnn.ops.base import NodeAggregator, Shape, linear, node_ops, weight
from sanegnn.seeds import Noise
from sanegnn.space import Family
from sanegnn.space.presets import AUTOGNN, GRAPHNAS


class Score(NamedTuple):
    """A learned attention: its kind in `attend`, and the vectors that this reads."""

    kind: str
    vectors: tuple[str, ...]


SCORES = {
    "gat": Score("gat", ("source", "target")),
    "gat_sym": Score("gat_sym", ("source", "target")),
    "linear": Score("gat_linear", ("source",)),
    "cos": Score("gat_cos", ()),
    "gen_linear": Score("gat_gen_linear", ("source", "target", "gate")),
}


class Perceptron(nn.Module):
    """W_2 ReLU(W_1 x + b_1) + b_2 over the last dimension."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner, self.inner_bias = weight(width, width), weight(width)
        self.outer, self.outer_bias = weight(width, width), weight(width)

    def forward(self, x: Tensor) -> Tensor:
        """(…, C) -> (…, C)."""
        hidden = relu(linear(x.flatten(0, -2), self.inner, self.inner_bias))
        return linear(hidden, self.outer, self.outer_bias).view(x.shape)


class Composite(NodeAggregator):
    """A layer of one choice for each component."""

    attention: ClassVar[str]
    aggregator: ClassVar[str]
    combine: ClassVar[str] = "identity"
    heads: ClassVar[int]
    channels: ClassVar[int]

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.score = SCORES.get(self.attention)
        self.weight = weight(self.out_width, shape.width)
        self.bias = weight(self.out_width)
        for name in self.score.vectors if self.score else ():
            setattr(self, f"att_{name}", weight(self.heads, self.channels))
        self.perceptron = Perceptron(self.channels) if "mlp" in (self.aggregator, self.combine) else None

    def forward(self, x: Tensor, graph: Graph, noise: Noise | None = None) -> Tensor:
        """(N, D) -> (N, H · C)."""
        values = linear(x, self.weight).view(-1, self.heads, self.channels)
        if self.aggregator in ("sum", "mean"):
            mixed = self.total(values, graph, noise)
        else:
            mixed = self.gathered(values, graph, noise)
        if self.aggregator == "mean":
            mixed = mixed / (graph.degree.to(x.dtype) + 1.0)[:, None, None]
        if self.combine == "mlp" and self.perceptron is not None:
            mixed = self.perceptron(mixed)
        return mixed.flatten(1) + self.bias

    def total(self, values: Tensor, graph: Graph, noise: Noise | None) -> Tensor:
        """Σ_u α_uv z_u over Ñ(v), without a message for each edge: (N, H, C) -> (N, H, C)."""
        if self.score is not None:
            source, target, gate = (vector[None] for vector in self.vectors())
            rate = self.shape.attention_dropout
            return attend((self.score.kind,), values[:, None], source, target, gate, graph, rate, noise)[:, 0]
        flat = values.flatten(1)
        (pooled,) = aggregate(flat, graph, ("gcn" if self.attention == "gcn" else "sum",))
        return (pooled if self.attention == "gcn" else flat + pooled).view_as(values)

    def gathered(self, values: Tensor, graph: Graph, noise: Noise | None) -> Tensor:
        """A head at a time, whose messages are computed again on the way back: they alone are ever held."""
        alpha = self.alpha(values, graph, noise).expand(-1, self.heads)
        heads = [
            checkpoint(self.pooled, value, share, graph, use_reentrant=False, preserve_rng_state=False)
            for value, share in zip(values.unbind(1), alpha.unbind(1), strict=True)
        ]
        return torch.stack(heads, dim=1)

    def pooled(self, values: Tensor, alpha: Tensor, graph: Graph) -> Tensor:
        """The largest message, or the sum of a perceptron's answers to the messages: (N, C) -> (N, C)."""
        source, target = graph.edge_index
        messages = alpha[:, None] * values[source]
        if self.perceptron is not None and self.aggregator == "mlp":
            return torch.zeros_like(values).index_add(0, target, self.perceptron(messages))
        where = target[:, None].expand_as(messages)
        return torch.zeros_like(values).scatter_reduce(0, where, messages, "amax", include_self=False)

    def alpha(self, values: Tensor, graph: Graph, noise: Noise | None) -> Tensor:
        """α for each edge of Ñ, (M, H), or (M, 1) where all heads have the same."""
        if self.score is not None:
            source, target, gate = self.vectors()
            learned = coefficients(self.score.kind, values, source, target, gate, graph)
            return dropout(learned, self.shape.attention_dropout, noise)
        if self.attention == "gcn":
            return graph.gcn_norm(values.dtype)[:, None]
        if graph.weight is not None:
            return graph.weight.to(values.dtype)[:, None]
        return values.new_ones(graph.src.numel(), 1)

    def vectors(self) -> list[Tensor]:
        """The attention vectors of source, target and gate (H, C); zero where the score has none."""
        held = self.score.vectors if self.score else ()
        nothing = self.weight.new_zeros(self.heads, self.channels)
        names = ("source", "target", "gate")
        return [self.get_parameter(f"att_{name}") if name in held else nothing for name in names]


def member(family: Family, parts: tuple[str, ...]) -> type[Composite]:
    """The operation with these components."""
    picks = family.read(parts)
    heads, channels = int(picks.pop("heads")), int(picks.pop("width"))
    told = {
        "own_activation": picks.pop("activation"),
        "own_width": heads * channels,
        **picks,
        "heads": heads,
        "channels": channels,
        "knobs": ("attention_dropout",) if picks["attention"] in SCORES else (),
        "__doc__": f"The layer {family.join(parts)}.",
    }
    return type("Composite", (Composite,), told)


@node_ops.add_family(GRAPHNAS.name, source="Gao et al.: GraphNAS, IJCAI 2020")
@cache
def graphnas(*parts: str) -> type[Composite]:
    """Attention, aggregator, activation, heads, width of a head."""
    return member(GRAPHNAS, parts)


@node_ops.add_family(AUTOGNN.name, source="Zhou et al.: Auto-GNN, arXiv 1909.03184")
@cache
def autognn(*parts: str) -> type[Composite]:
    """Attention, aggregator, combine function, activation, heads, width of a head."""
    return member(AUTOGNN, parts)
