"""LGCN: a learnable 1-D convolution over each node and the k largest neighbour values of every channel."""

from __future__ import annotations

import torch
from torch import Tensor

from sanegnn.kernels import Graph, largest
from sanegnn.ops.base import NodeAggregator, Shape, linear, node_ops, weight
from sanegnn.seeds import Noise

K = 8
WIDE, REST = (K + 1) // 2 + 1, K // 2 + 1


@node_ops.add("lgcn", source="Gao, Wang, Ji: LGCN, KDD 2018")
class Lgcn(NodeAggregator):
    """conv_5(conv_5([h_v; largest_1 … largest_8]) + b) along the nine rows, as many channels in as out.

    `largest_j` holds, channel by channel, the j-th largest value over N(v). As in the authors' code there
    is no activation between the two convolutions, so that it is a weighted sum of the sorted neighbours,
    and is computed as one.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.wide = weight(shape.width, WIDE * shape.width)
        self.wide_bias = weight(shape.width)
        self.rest = weight(shape.width, REST * shape.width)
        self.bias = weight(shape.width)

    def forward(self, x: Tensor, graph: Graph, noise: Noise | None = None) -> Tensor:
        """(N, D) -> (N, D)."""
        rows = torch.cat([x, largest(x, graph, K).flatten(1)], dim=1)
        joined, bias = self.joined()
        return linear(rows, joined, bias)

    def joined(self) -> tuple[Tensor, Tensor]:
        """Both convolutions as one product over the nine rows: weight (D, 9 D) and bias (D,)."""
        width = self.shape.width
        wide = self.wide.view(width, width, WIDE).permute(2, 0, 1)
        rest = self.rest.view(width, width, REST).permute(2, 0, 1)
        steps = rest[:, None] @ wide[None]
        taps = steps.new_zeros(K + 1, width, width)
        places = torch.arange(REST)[:, None] + torch.arange(WIDE)
        taps = taps.index_add(0, places.flatten().to(taps.device), steps.flatten(0, 1))
        return taps.permute(1, 0, 2).flatten(1), rest.sum(0) @ self.wide_bias + self.bias
