"""GeniePath as its authors wrote it: the memory goes through depth.

`geniepath` of `ops/attention.py` is the restarted form, for spaces in which any operation may stand in
any layer: there the memory is zero at the start of every layer.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sanegnn.kernels import Graph, attend
from sanegnn.ops.base import Carrying, Shape, linear, node_ops, weight
from sanegnn.seeds import Noise


@node_ops.add("geniepath_deep", source="Liu et al.: GeniePath, AAAI 2019; memory through depth")
class GeniePathDeep(Carrying):
    """a = tanh(GAT(h)); C^l = σ(W_f a) ⊙ C^(l-1) + σ(W_i a) ⊙ tanh(W_c a); out = σ(W_o a) ⊙ tanh(C^l).

    C^0 is zero. The gates read the breadth a alone, which holds the node itself. The gates stand in the
    order i, f, c, o; breadth is GAT, as in the restarted form.
    """

    knobs = ("heads", "attention_dropout")

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.heads, self.channels = shape.heads, shape.width // shape.heads
        self.weight = weight(shape.width, shape.width)
        self.bias = weight(shape.width)
        self.att_source = weight(self.heads, self.channels)
        self.att_target = weight(self.heads, self.channels)
        self.gates = weight(4 * shape.width, shape.width)
        self.gates_bias = weight(4 * shape.width)

    def breadth(self, x: Tensor, graph: Graph, noise: Noise | None) -> Tensor:
        """tanh(GAT(h)), (N, D)."""
        values = linear(x, self.weight).view(-1, 1, self.heads, self.channels)
        vectors = self.att_source[None], self.att_target[None], torch.zeros_like(self.att_source)[None]
        mixed = attend(("gat",), values, *vectors, graph, self.shape.attention_dropout, noise)
        return torch.tanh(mixed.reshape(x.shape[0], -1) + self.bias)

    def step(
        self, x: Tensor, graph: Graph, memory: Tensor | None, noise: Noise | None = None
    ) -> tuple[Tensor, Tensor]:
        """(N, D) -> (N, D), and C^l (N, D)."""
        broad = self.breadth(x, graph, noise)
        take, keep, candidate, give = linear(broad, self.gates, self.gates_bias).chunk(4, dim=1)
        memory = torch.zeros_like(broad) if memory is None else memory
        memory = torch.sigmoid(keep) * memory + torch.sigmoid(take) * torch.tanh(candidate)
        return torch.sigmoid(give) * torch.tanh(memory), memory
