"""Layer aggregators: the states of all layers become one."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Concat(nn.Module):
    """W [h_1 || … || h_K] + b."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width, depth * width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, states: Tensor) -> Tensor:
        """(K, N, D) -> (N, D)."""
        return F.linear(torch.cat(states.unbind(), dim=1), self.weight, self.bias)


class Max(nn.Module):
    """The largest value of every channel."""

    def forward(self, states: Tensor) -> Tensor:
        """(K, N, D) -> (N, D)."""
        return states.amax(dim=0)


class LstmAttention(nn.Module):
    """The mean of the states by weights that a bi-directional LSTM over them gives."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.weight_ih = nn.Parameter(torch.zeros(2, width, 4 * inner))
        self.weight_hh = nn.Parameter(torch.zeros(2, inner, 4 * inner))
        self.bias = nn.Parameter(torch.zeros(8 * inner))
        self.score = nn.Parameter(torch.zeros(1, 2 * inner))
        self.score_bias = nn.Parameter(torch.zeros(1))

    def forward(self, states: Tensor) -> Tensor:
        """(K, N, D) -> (N, D)."""
        forth = self.direction(states, 0)
        back = self.direction(states.flip(0), 1).flip(0)
        score = F.linear(torch.cat([forth, back], dim=2), self.score, self.score_bias)
        return (torch.softmax(score, dim=0) * states).sum(dim=0)

    def direction(self, states: Tensor, place: int) -> Tensor:
        """The hidden states of one direction: (K, N, D) -> (K, N, inner)."""
        inputs = states @ self.weight_ih[place] + self.bias.chunk(2)[place]
        hidden: list[Tensor] = []
        cell: Tensor | None = None
        for gates in inputs.unbind():
            if cell is not None:
                gates = gates + hidden[-1] @ self.weight_hh[place]
            take, keep, candidate, give = gates.chunk(4, dim=1)
            new = torch.sigmoid(take) * torch.tanh(candidate)
            cell = new if cell is None else torch.sigmoid(keep) * cell + new
            hidden.append(torch.sigmoid(give) * torch.tanh(cell))
        return torch.stack(hidden)
