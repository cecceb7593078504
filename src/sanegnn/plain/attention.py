"""Aggregators that weigh the neighbours, each head by coefficients of its own."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import MessagePassing

from sanegnn.plain.edges import degree, gcn_norm, with_loops


class Constant(nn.Module):
    """α_uv = w_uv, the weight of the edge."""

    def forward(self, z: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, H, C) -> (E, 1)."""
        return edge_weight[:, None]


class Normalised(nn.Module):
    """α_uv = w_uv / sqrt(d_u d_v)."""

    def forward(self, z: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, H, C) -> (E, 1)."""
        return gcn_norm(edge_index, edge_weight, z.size(0))[:, None]


class Softmax(nn.Module):
    """α_uv = w_uv exp(e_uv) / sum of the same over all edges that arrive at v."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(self, z: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, H, C) -> (E, H)."""
        target, nodes = edge_index[1], z.size(0)
        score = self.score(z, *edge_index)
        score = score.masked_fill((edge_weight == 0)[:, None], -torch.inf)
        where = target[:, None].expand_as(score)
        lowest = score.new_full((nodes, score.size(1)), -torch.inf)
        top = lowest.scatter_reduce(0, where, score.detach(), "amax")
        part = torch.exp(score - top[target]) * edge_weight[:, None]
        total = score.new_zeros(nodes, score.size(1)).index_add(0, target, part)
        return F.dropout(part / total[target], self.dropout, self.training)

    def score(self, z: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """e_uv: (N, H, C) -> (E, H)."""
        raise NotImplementedError


class Gat(Softmax):
    """e_uv = LeakyReLU(a_s · z_u + a_t · z_v)."""

    def __init__(self, heads: int, channels: int, dropout: float = 0.0) -> None:
        super().__init__(dropout)
        self.source = nn.Parameter(torch.zeros(heads, channels))
        self.target = nn.Parameter(torch.zeros(heads, channels))

    def score(self, z: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """(N, H, C) -> (E, H)."""
        sent, heard = (z * self.source).sum(-1), (z * self.target).sum(-1)
        return F.leaky_relu(sent[source] + heard[target], 0.2)


class GatSym(Gat):
    """e_uv + e_vu of GAT."""

    def score(self, z: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """(N, H, C) -> (E, H)."""
        return super().score(z, source, target) + super().score(z, target, source)


class GatCos(Softmax):
    """e_uv = z_u · z_v."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__(dropout)

    def score(self, z: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """(N, H, C) -> (E, H)."""
        return (z[source] * z[target]).sum(-1)


class GatLinear(Gat):
    """e_uv = tanh(a_s · z_u + a_t · z_v)."""

    def score(self, z: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """(N, H, C) -> (E, H)."""
        sent, heard = (z * self.source).sum(-1), (z * self.target).sum(-1)
        return torch.tanh(sent[source] + heard[target])


class GatSource(Softmax):
    """e_uv = tanh(a_s · z_u)."""

    def __init__(self, heads: int, channels: int, dropout: float = 0.0) -> None:
        super().__init__(dropout)
        self.source = nn.Parameter(torch.zeros(heads, channels))

    def score(self, z: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """(N, H, C) -> (E, H)."""
        return torch.tanh((z * self.source).sum(-1))[source]


class GatGenLinear(Gat):
    """e_uv = g · tanh(a_s ⊙ z_u + a_t ⊙ z_v)."""

    def __init__(self, heads: int, channels: int, dropout: float = 0.0) -> None:
        super().__init__(heads, channels, dropout)
        self.gate = nn.Parameter(torch.zeros(heads, channels))

    def score(self, z: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """(N, H, C) -> (E, H)."""
        both = (z * self.source)[source] + (z * self.target)[target]
        return (self.gate * torch.tanh(both)).sum(-1)


class Perceptron(nn.Module):
    """W_2 ReLU(W_1 x + b_1) + b_2 over the last dimension."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Parameter(torch.zeros(width, width))
        self.inner_bias = nn.Parameter(torch.zeros(width))
        self.outer = nn.Parameter(torch.zeros(width, width))
        self.outer_bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        """(…, C) -> (…, C)."""
        hidden = F.relu(F.linear(x, self.inner, self.inner_bias))
        return F.linear(hidden, self.outer, self.outer_bias)


class Attention(MessagePassing):
    """The sum of α_uv W h_u over v and its neighbours u, plus b; heads side by side."""

    def __init__(
        self,
        width: int,
        heads: int,
        channels: int,
        alpha: nn.Module,
        perceptron: nn.Module | None = None,
        aggr: str = "sum",
    ) -> None:
        super().__init__(aggr=aggr, node_dim=0)
        self.heads, self.channels = heads, channels
        self.weight = nn.Parameter(torch.zeros(heads * channels, width))
        self.bias = nn.Parameter(torch.zeros(heads * channels))
        self.alpha, self.perceptron = alpha, perceptron

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, H * C)."""
        z = F.linear(x, self.weight).unflatten(1, (self.heads, self.channels))
        edge_index, edge_weight = with_loops(edge_index, edge_weight, x.size(0))
        mixed = self.combined(self.pool(z, edge_index, edge_weight))
        return mixed.flatten(1) + self.bias

    def pool(self, z: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, H, C) -> (N, H, C)."""
        alpha = self.alpha(z, edge_index, edge_weight)
        return self.propagate(edge_index, z=z, alpha=alpha)

    def combined(self, mixed: Tensor) -> Tensor:
        """What follows the sum: (N, H, C) -> (N, H, C)."""
        return mixed if self.perceptron is None else self.perceptron(mixed)

    def message(self, z_j: Tensor, alpha: Tensor) -> Tensor:
        """What goes along every edge (E, H, C)."""
        return alpha[..., None] * z_j


class MeanAttention(Attention):
    """The mean in place of the sum."""

    def pool(self, z: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, H, C) -> (N, H, C)."""
        total = super().pool(z, edge_index, edge_weight)
        return total / degree(edge_index, edge_weight, z.size(0))[:, None, None]


class PerceptronAttention(Attention):
    """The sum of a perceptron's answers to the messages."""

    perceptron: nn.Module

    def message(self, z_j: Tensor, alpha: Tensor) -> Tensor:
        """What goes along every edge (E, H, C)."""
        return self.perceptron(super().message(z_j, alpha))

    def combined(self, mixed: Tensor) -> Tensor:
        """Nothing follows: (N, H, C) -> (N, H, C)."""
        return mixed


class GeniePath(Attention):
    """o ⊙ tanh(i ⊙ tanh(c)), with gates i, o and candidate c of a = tanh(attention)."""

    def __init__(self, heads: int, channels: int, alpha: nn.Module) -> None:
        width = heads * channels
        super().__init__(width, heads, channels, alpha)
        self.gates = nn.Parameter(torch.zeros(width, 3 * width))
        self.gates_bias = nn.Parameter(torch.zeros(3 * width))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        broad = torch.tanh(super().forward(x, edge_index, edge_weight))
        gates = broad @ self.gates + self.gates_bias
        take, candidate, give = gates.chunk(3, dim=1)
        inner = torch.sigmoid(take) * torch.tanh(candidate)
        return torch.sigmoid(give) * torch.tanh(inner)


class GeniePathDeep(Attention):
    """An LSTM's step from layer to layer; its input is a = tanh(attention)."""

    def __init__(self, heads: int, channels: int, alpha: nn.Module) -> None:
        width = heads * channels
        super().__init__(width, heads, channels, alpha)
        self.gates = nn.Parameter(torch.zeros(4 * width, width))
        self.gates_bias = nn.Parameter(torch.zeros(4 * width))

    def step(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_weight: Tensor,
        memory: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """(N, D) -> (N, D), and the memory for the next such layer."""
        broad = torch.tanh(self(x, edge_index, edge_weight))
        gates = F.linear(broad, self.gates, self.gates_bias)
        take, keep, candidate, give = gates.chunk(4, dim=1)
        kept = torch.zeros_like(x) if memory is None else torch.sigmoid(keep) * memory
        memory = kept + torch.sigmoid(take) * torch.tanh(candidate)
        return torch.sigmoid(give) * torch.tanh(memory), memory
