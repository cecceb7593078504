"""LGCN: a convolution over a node and the largest values among its neighbours."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import MessagePassing


class Lgcn(MessagePassing):
    """Two convolutions, one after the other, along h_v, largest_1, …, largest_k.

    largest_j holds, channel by channel, the j-th largest value among the neighbours,
    and zero where there are fewer; edge weights are not read.
    """

    def __init__(self, width: int, largest: int) -> None:
        super().__init__(aggr=None)
        self.width, self.largest = width, largest
        self.sizes = ((largest + 1) // 2 + 1, largest // 2 + 1)
        self.wide = nn.Parameter(torch.zeros(width, self.sizes[0] * width))
        self.wide_bias = nn.Parameter(torch.zeros(width))
        self.rest = nn.Parameter(torch.zeros(width, self.sizes[1] * width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """(N, D) -> (N, D)."""
        found = self.propagate(edge_index, x=x)
        rows = torch.cat([x[:, None], found], dim=1).transpose(1, 2)
        wide = self.wide.view(self.width, self.width, self.sizes[0])
        rest = self.rest.view(self.width, self.width, self.sizes[1])
        narrowed = F.conv1d(rows, wide, self.wide_bias)
        return F.conv1d(narrowed, rest, self.bias)[:, :, 0]

    def message(self, x_j: Tensor) -> Tensor:
        """What goes along every edge (E, D)."""
        return x_j

    def aggregate(self, inputs: Tensor, index: Tensor, dim_size: int) -> Tensor:
        """The k largest of every channel: (E, D) -> (N, k, D).

        One after the other is found and struck out; of equal ones the first.
        """
        edges, shape = inputs.size(0), (dim_size, inputs.size(1))
        place = torch.arange(edges, device=index.device)[:, None]
        where = index[:, None].expand_as(inputs)
        struck = torch.zeros_like(inputs, dtype=torch.bool)
        behind = torch.cat([inputs, inputs.new_zeros(1, inputs.size(1))])
        found = []
        for _ in range(self.largest):
            left = inputs.detach().masked_fill(struck, -torch.inf)
            top = left.new_full(shape, -torch.inf).scatter_reduce(
                0, where, left, "amax"
            )
            winning = (left == top[index]) & ~struck
            winner = torch.where(winning, place, edges)
            first = winner.new_full(shape, edges).scatter_reduce(
                0, where, winner, "amin"
            )
            found.append(behind.gather(0, first))
            struck = struck | (place == first[index])
        return torch.stack(found, dim=1)
