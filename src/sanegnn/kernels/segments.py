"""Which nodes of a disjoint union make up each of its graphs, and sums over them."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor


class Segments:
    """G graphs side by side: the nodes of graph g are `ptr[g]` … `ptr[g + 1] - 1`; a graph may have none."""

    def __init__(self, ptr: Tensor) -> None:
        self.ptr = ptr

    @classmethod
    def of(cls, sizes: Tensor) -> Segments:
        """Graphs of so many nodes each, (G,)."""
        return cls(torch.cat([sizes.new_zeros(1), sizes.cumsum(0)]))

    @property
    def count(self) -> int:
        """G."""
        return self.ptr.numel() - 1

    @cached_property
    def sizes(self) -> Tensor:
        """The number of nodes of each graph, (G,)."""
        return self.ptr.diff()

    @cached_property
    def graph(self) -> Tensor:
        """The graph of each node, (N,)."""
        return torch.repeat_interleave(torch.arange(self.count, device=self.ptr.device), self.sizes)

    @cached_property
    def place(self) -> Tensor:
        """The place of each node within its graph, (N,), from 0."""
        return torch.arange(self.graph.numel(), device=self.ptr.device) - self.ptr[self.graph]

    def sum(self, x: Tensor) -> Tensor:
        """Σ over the nodes of a graph: (N, …) -> (G, …); zero for a graph without nodes."""
        return x.new_zeros(self.count, *x.shape[1:]).index_add(0, self.graph, x)

    def mean(self, x: Tensor) -> Tensor:
        """The mean, (N, D) -> (G, D); zero for a graph without nodes."""
        return self.sum(x) / self.sizes.clamp(min=1).to(x.dtype)[:, None]

    def max(self, x: Tensor) -> Tensor:
        """The largest value of each channel, (N, D) -> (G, D); zero for a graph without nodes.

        Equal values share the gradient.
        """
        where = self.graph[:, None].expand_as(x)
        return x.new_zeros(self.count, x.shape[1]).scatter_reduce(0, where, x, "amax", include_self=False)

    def softmax(self, score: Tensor) -> Tensor:
        """exp(s_v) / Σ_u exp(s_u) over the nodes u of v's graph, (N, C) -> (N, C)."""
        raised = (score - self.max(score.detach())[self.graph]).exp()
        return raised / self.sum(raised)[self.graph]

    def ranked(self, *keys: Tensor) -> Tensor:
        """The nodes, graph by graph, by falling key; the next key, (N,) too, decides between equals."""
        order = torch.arange(self.graph.numel(), device=self.ptr.device)
        for key in (*reversed(keys), -self.graph):
            order = order[key[order].argsort(descending=True, stable=True)]
        return order

    def __repr__(self) -> str:
        return f"Segments(graphs={self.count}, nodes={self.graph.numel()})"
