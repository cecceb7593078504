"""What aggregators need of a graph besides its edges."""

from __future__ import annotations

import torch
from torch import Tensor


def with_loops(
    edge_index: Tensor, edge_weight: Tensor, nodes: int
) -> tuple[Tensor, Tensor]:
    """The edges, and behind them a loop of weight one at every node."""
    loops = torch.arange(nodes, device=edge_index.device).expand(2, -1)
    ones = edge_weight.new_ones(nodes)
    return torch.cat([edge_index, loops], dim=1), torch.cat([edge_weight, ones])


def degree(edge_index: Tensor, edge_weight: Tensor, nodes: int) -> Tensor:
    """The sum of the weights of the edges that arrive at each node (N,)."""
    return edge_weight.new_zeros(nodes).index_add(0, edge_index[1], edge_weight)


def gcn_norm(edge_index: Tensor, edge_weight: Tensor, nodes: int) -> Tensor:
    """w_uv / sqrt(d_u d_v) of every edge, for edges with loops (E,)."""
    scale = degree(edge_index, edge_weight, nodes).rsqrt()
    source, target = edge_index
    return scale[source] * scale[target] * edge_weight
