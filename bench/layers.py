"""The operations of the space as a user of PyG has them: its own layers where it has them.

Four attention scores have no layer in PyG; they are written as its message passing asks: a message for
every edge and channel, and PyG's softmax over the edges that arrive at a node.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv, GINConv, JumpingKnowledge, MessagePassing, SAGEConv
from torch_geometric.utils import add_self_loops, remove_self_loops, softmax

from sanegnn.ops import Shape


class Attention(MessagePassing):
    """What the four scores share; a subclass computes its score in `message`."""

    def __init__(self, shape: Shape, vectors: tuple[str, ...]) -> None:
        super().__init__(aggr="add", node_dim=0)
        self.heads, self.channels = shape.heads, shape.width // shape.heads
        self.dropout = shape.attention_dropout
        self.lin = nn.Linear(shape.width, shape.width, bias=False)
        self.bias = nn.Parameter(torch.zeros(shape.width))
        for name in vectors:
            setattr(self, name, nn.Parameter(torch.zeros(1, self.heads, self.channels)))

    def start(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        """The projected states (N, H, C), and the edges with self-loops, as GATConv makes them."""
        edge_index, _ = add_self_loops(remove_self_loops(edge_index)[0], num_nodes=x.shape[0])
        return self.lin(x).view(-1, self.heads, self.channels), edge_index

    def weighted(self, score: Tensor, z_j: Tensor, index: Tensor, size_i: int | None) -> Tensor:
        """The messages (E, H, C) under the scores (E, H)."""
        alpha = softmax(score, index, num_nodes=size_i)
        alpha = functional.dropout(alpha, p=self.dropout, training=self.training)
        return alpha.unsqueeze(-1) * z_j

    def finish(self, out: Tensor) -> Tensor:
        """Heads side by side, and the bias."""
        return out.flatten(1) + self.bias


class SymConv(Attention):
    """LeakyReLU(s_u + d_v) + LeakyReLU(s_v + d_u)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape, ("att_src", "att_dst"))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        z, edge_index = self.start(x, edge_index)
        s, d = (z * self.att_src).sum(-1), (z * self.att_dst).sum(-1)
        return self.finish(self.propagate(edge_index, z=z, s=s, d=d))

    def message(
        self,
        z_j: Tensor,
        s_i: Tensor,
        s_j: Tensor,
        d_i: Tensor,
        d_j: Tensor,
        index: Tensor,
        size_i: int | None,
    ) -> Tensor:
        """One message for each edge."""
        score = functional.leaky_relu(s_j + d_i, 0.2) + functional.leaky_relu(s_i + d_j, 0.2)
        return self.weighted(score, z_j, index, size_i)


class LinearConv(Attention):
    """tanh(s_u + d_v)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape, ("att_src", "att_dst"))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        z, edge_index = self.start(x, edge_index)
        s, d = (z * self.att_src).sum(-1), (z * self.att_dst).sum(-1)
        return self.finish(self.propagate(edge_index, z=z, s=s, d=d))

    def message(self, z_j: Tensor, s_j: Tensor, d_i: Tensor, index: Tensor, size_i: int | None) -> Tensor:
        """One message for each edge."""
        return self.weighted(torch.tanh(s_j + d_i), z_j, index, size_i)


class CosConv(Attention):
    """<z_u, z_v>."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape, ())

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        z, edge_index = self.start(x, edge_index)
        return self.finish(self.propagate(edge_index, z=z))

    def message(self, z_i: Tensor, z_j: Tensor, index: Tensor, size_i: int | None) -> Tensor:
        """One message for each edge."""
        return self.weighted((z_i * z_j).sum(-1), z_j, index, size_i)


class GenLinearConv(Attention):
    """<gate, tanh(att_src ⊙ z_u + att_dst ⊙ z_v)>."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape, ("att_src", "att_dst", "gate"))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        z, edge_index = self.start(x, edge_index)
        return self.finish(self.propagate(edge_index, z=z, s=z * self.att_src, d=z * self.att_dst))

    def message(self, z_j: Tensor, s_j: Tensor, d_i: Tensor, index: Tensor, size_i: int | None) -> Tensor:
        """One message for each edge."""
        return self.weighted((self.gate * torch.tanh(s_j + d_i)).sum(-1), z_j, index, size_i)


class GeniePath(nn.Module):
    """GATConv with tanh for the breadth, one step of nn.LSTM from zero for the depth."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.breadth = gat(shape)
        self.depth = nn.LSTM(shape.width, shape.width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        out, _ = self.depth(torch.tanh(self.breadth(x, edge_index)).unsqueeze(0))
        return out.squeeze(0)


class Cat(nn.Module):
    """JumpingKnowledge that concatenates, and the projection back to width D."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.jump = JumpingKnowledge("cat")
        self.lin = nn.Linear(shape.depth * shape.width, shape.width)

    def forward(self, xs: list[Tensor]) -> Tensor:
        """K times (N, D) -> (N, D)."""
        return self.lin(self.jump(xs))


def gat(shape: Shape) -> GATConv:
    """PyG's GAT layer with its heads side by side."""
    channels = shape.width // shape.heads
    return GATConv(shape.width, channels, heads=shape.heads, dropout=shape.attention_dropout)


def gin(shape: Shape) -> GINConv:
    """PyG's GIN layer over two linear layers."""
    width = shape.width
    mlp = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
    return GINConv(mlp, train_eps=True)


NODE: dict[str, Callable[[Shape], nn.Module]] = {
    "sage_sum": lambda shape: SAGEConv(shape.width, shape.width, aggr="sum"),
    "sage_mean": lambda shape: SAGEConv(shape.width, shape.width, aggr="mean"),
    "sage_max": lambda shape: SAGEConv(shape.width, shape.width, aggr="max"),
    "gcn": lambda shape: GCNConv(shape.width, shape.width),
    "gat": gat,
    "gat_sym": SymConv,
    "gat_cos": CosConv,
    "gat_linear": LinearConv,
    "gat_gen_linear": GenLinearConv,
    "gin": gin,
    "geniepath": GeniePath,
}
LAYER: dict[str, Callable[[Shape], nn.Module]] = {
    "concat": Cat,
    "max": lambda _: JumpingKnowledge("max"),
    "lstm": lambda shape: JumpingKnowledge("lstm", shape.width, shape.depth),
}
SKIP: dict[str, Callable[[Tensor], Tensor]] = {"skip": lambda x: x, "zero": torch.zeros_like}
