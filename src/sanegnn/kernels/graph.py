"""A directed multigraph laid out for message passing: CSR by target, and its transpose by source."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sanegnn.errors import BadGraph
from sanegnn.kernels.noise import keep_mask
from sanegnn.kernels.units import cut

if TYPE_CHECKING:
    import numpy.typing as npt

    from sanegnn.seeds import Noise

_FIELDS = ("ptr", "src", "out_ptr", "out_dst", "out_edge", "weight", "known_degree")


class Graph:
    """An immutable directed multigraph; a message flows from the source to the target of an edge.

    N(v) are the in-neighbours of v (a duplicate edge counts again), Ñ(v) is N(v) and v itself once. One CSR
    over Ñ by target: row v, `src[ptr[v]:ptr[v + 1]]`, lists v first and then its in-neighbours by their
    number. The transpose lists per source u the targets `out_dst[out_ptr[u]:out_ptr[u + 1]]`, and in
    `out_edge` the position in `src` of each of these edges.

    Where only the first R nodes are targets, as in what `towards` gives, there are R rows by target and the
    degrees of all nodes are given, those in the graph that it was taken from.

    Shapes: ptr (R+1,), out_ptr (N+1,), src, out_dst, out_edge and weight (M,), where M = E + R counts the
    added self-loops. Numbers are int32 where M allows. The weight of an added self-loop is 1.
    """

    def __init__(
        self,
        ptr: Tensor,
        src: Tensor,
        out_ptr: Tensor,
        out_dst: Tensor,
        out_edge: Tensor,
        weight: Tensor | None,
        known_degree: Tensor | None = None,
    ) -> None:
        self.ptr, self.src = ptr, src
        self.out_ptr, self.out_dst, self.out_edge = out_ptr, out_dst, out_edge
        self.weight, self.known_degree = weight, known_degree

    @classmethod
    def from_edges(cls, edge_index: Tensor, num_nodes: int, weight: Tensor | None = None) -> Graph:
        """The graph of these edges, (2, E) source over target; self-loops are dropped, duplicates stay."""
        edges = _checked_edges(edge_index, num_nodes)
        values = None if weight is None else _checked_weight(weight, edges.shape[1])
        proper = edges[0] != edges[1]
        if not proper.all():
            edges = edges[:, proper]
            values = None if values is None else values[proper]
        src, dst, values = _sorted_by_target(edges, num_nodes, values)
        return _from_sorted(src, dst, num_nodes, values).to(edge_index.device)

    @property
    def num_nodes(self) -> int:
        """N."""
        return self.out_ptr.numel() - 1

    @property
    def num_targets(self) -> int:
        """R, the nodes that messages reach: all N, unless the graph came from `towards`."""
        return self.ptr.numel() - 1

    @property
    def num_edges(self) -> int:
        """The number of edges without the added self-loops."""
        return self.src.numel() - self.num_targets

    @property
    def device(self) -> torch.device:
        """Where the arrays are."""
        return self.src.device

    @cached_property
    def edge_index(self) -> Tensor:
        """The edges of Ñ in the order of `src`, (2, M) int64, source over target."""
        nodes = torch.arange(self.num_targets, device=self.device)
        target = torch.repeat_interleave(nodes, self.ptr.diff().long(), output_size=self.src.numel())
        return torch.stack([self.src.long(), target])

    @cached_property
    def proper(self) -> Tensor:
        """Which entries of `src` are edges rather than added self-loops, (M,) bool."""
        mask = torch.ones(self.src.numel(), dtype=torch.bool, device=self.device)
        mask[self.ptr[:-1].long()] = False
        return mask

    @cached_property
    def degree(self) -> Tensor:
        """The weighted |N(v)|, (N,) float32."""
        if self.known_degree is not None:
            return self.known_degree
        if self.weight is None:
            return (self.ptr.diff() - 1).float()
        degree = torch.zeros(self.num_nodes, dtype=self.weight.dtype, device=self.device)
        return degree.index_add_(0, self.edge_index[1], self.weight).sub_(1.0).clamp_(min=0.0)

    def gcn_scale(self, dtype: torch.dtype) -> Tensor:
        """1 / sqrt(d̃_v) with d̃_v = 1 + degree, (N,)."""
        return (self.degree.to(dtype) + 1.0).rsqrt()

    def gcn_norm(self, dtype: torch.dtype) -> Tensor:
        """w_uv / sqrt(d̃_u d̃_v) for every edge of Ñ, (M,), as in Kipf and Welling, 2017."""
        source, target = self.edge_index
        scale = self.gcn_scale(dtype)
        norm = scale[source] * scale[target]
        return norm if self.weight is None else norm * self.weight.to(dtype)

    @cached_property
    def gcn_weight(self) -> Tensor:
        """`gcn_norm` in the type of the weights, or float32."""
        return self.gcn_norm(torch.float32 if self.weight is None else self.weight.dtype)

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """What kernels derive from the graph and want to keep with it; neither pickled nor moved."""
        return {}

    @cached_property
    def units(self) -> npt.NDArray[np.int64]:
        """The node ranges that the compiled kernels share out between threads, by target."""
        return cut(self.ptr)

    @cached_property
    def out_units(self) -> npt.NDArray[np.int64]:
        """The same by source."""
        return cut(self.out_ptr)

    def rows(self, dtype: torch.dtype) -> tuple[Any, Any, Any]:
        """`ptr`, `src` and the weights of that type (empty if there are none) as arrays, without a copy."""
        weight = torch.empty(0, dtype=dtype) if self.weight is None else self.weight.to(dtype)
        return self.ptr.numpy(), self.src.numpy(), weight.numpy()

    def columns(self) -> tuple[Any, Any, Any]:
        """`out_ptr`, `out_dst` and `out_edge` as arrays, without a copy."""
        return self.out_ptr.numpy(), self.out_dst.numpy(), self.out_edge.numpy()

    def to(self, device: torch.device | str) -> Graph:
        """The same graph on that device."""
        if torch.device(device) == self.device:
            return self
        graph = Graph.__new__(Graph)
        graph.__setstate__({name: None if part is None else part.to(device) for name, part in self._items()})
        return graph

    def towards(self, rows: Tensor) -> tuple[Tensor, Graph]:
        """The nodes that reach `rows` within an edge, these first, and the graph of the edges that end there.

        What a layer computes for `rows` (R,), it computes from x[nodes] on this graph. A node that is named
        twice is there twice.
        """
        begin, number = self.ptr.long(), self.src.dtype
        lengths = begin.diff()[rows]
        ptr = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
        targets = torch.repeat_interleave(torch.arange(rows.numel(), device=self.device), lengths)
        kept = (begin[rows] - ptr[:-1])[targets] + torch.arange(targets.numel(), device=self.device)
        sources = self.src[kept].long()
        more = torch.zeros(self.num_nodes, dtype=torch.bool, device=self.device)
        more[sources], more[rows] = True, False
        order = torch.cat([rows, more.nonzero()[:, 0]])
        place = torch.empty(self.num_nodes, dtype=order.dtype, device=self.device)
        place[order] = torch.arange(order.numel(), device=self.device)
        src = place[sources]
        out_edge = src.argsort(stable=True)
        out_ptr = torch.cat([ptr.new_zeros(1), torch.bincount(src, minlength=order.numel()).cumsum(0)])
        parts = [part.to(number) for part in (ptr, src, out_ptr, targets[out_edge], out_edge)]
        weight = None if self.weight is None else self.weight[kept]
        return order, Graph(parts[0], parts[1], parts[2], parts[3], parts[4], weight, self.degree[order])

    def drop_edges(self, rate: float, noise: Noise) -> Graph:
        """DropEdge (Rong et al., 2020): an edge goes with probability `rate`; the added self-loops stay."""
        keep = keep_mask(noise, self.src.numel(), rate, self.device) | ~self.proper
        kept_before = torch.zeros(keep.numel() + 1, dtype=torch.int64, device=self.device)
        torch.cumsum(keep, 0, out=kept_before[1:])
        out_keep = keep[self.out_edge.long()]
        out_kept_before = torch.zeros_like(kept_before)
        torch.cumsum(out_keep, 0, out=out_kept_before[1:])
        number = self.src.dtype
        return Graph(
            kept_before[self.ptr.long()].to(number),
            self.src[keep],
            out_kept_before[self.out_ptr.long()].to(number),
            self.out_dst[out_keep],
            kept_before[self.out_edge[out_keep].long()].to(number),
            None if self.weight is None else self.weight[keep],
        )

    def _items(self) -> list[tuple[str, Tensor | None]]:
        return [(name, getattr(self, name)) for name in _FIELDS]

    def __getstate__(self) -> dict[str, Any]:
        return dict(self._items())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        weighted = "" if self.weight is None else ", weighted"
        return f"Graph(nodes={self.num_nodes}, edges={self.num_edges}{weighted})"


def _checked_edges(edge_index: Tensor, num_nodes: int) -> npt.NDArray[np.int64]:
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise BadGraph(f"edges must be of shape (2, E), source over target; got {tuple(edge_index.shape)}")
    if edge_index.is_floating_point() or edge_index.is_complex():
        raise BadGraph(f"edges must be whole numbers; got {edge_index.dtype}: convert them with .long()")
    edges: npt.NDArray[np.int64] = edge_index.detach().cpu().numpy().astype(np.int64, copy=False)
    if edges.size and (edges.min() < 0 or edges.max() >= num_nodes):
        raise BadGraph(
            f"edges name nodes from {edges.min()} to {edges.max()}, "
            f"but the graph has the nodes 0 to {num_nodes - 1}"
        )
    return edges


def _checked_weight(weight: Tensor, num_edges: int) -> npt.NDArray[Any]:
    if weight.shape != (num_edges,):
        raise BadGraph(
            f"edge weights must be of shape ({num_edges},), one per edge; got {tuple(weight.shape)}"
        )
    values = weight.detach().cpu()
    if values.dtype != torch.float64:
        values = values.float()
    if not bool(torch.isfinite(values).all()) or bool((values < 0).any()):
        raise BadGraph("edge weights must be finite and not negative; replace or drop the other edges first")
    array: npt.NDArray[Any] = values.numpy()
    return array


def _sorted_by_target(
    edges: npt.NDArray[np.int64], num_nodes: int, values: npt.NDArray[Any] | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any] | None]:
    """Source, target and weight of the edges in the order of (target, source)."""
    key = edges[1] * num_nodes + edges[0]
    if values is None:
        key.sort()
    else:
        order = np.argsort(key, kind="stable")
        key, values = key[order], values[order]
    dst, src = np.divmod(key, max(num_nodes, 1))
    return src, dst, values


def _from_sorted(
    src: npt.NDArray[np.int64], dst: npt.NDArray[np.int64], num_nodes: int, values: npt.NDArray[Any] | None
) -> Graph:
    """Both CSR layouts over Ñ from edges that are sorted by (target, source)."""
    total = src.size + num_nodes
    number = np.int32 if total < 2**31 - 1 else np.int64
    nodes = np.arange(num_nodes, dtype=np.int64)
    ptr = _offsets(dst, num_nodes)
    place = np.arange(src.size) + dst + 1  # row v starts after v earlier self-loops, and its own comes first
    sources = np.empty(total, dtype=np.int64)
    sources[place], sources[ptr[:-1]] = src, nodes
    targets = np.repeat(nodes, np.diff(ptr))
    weight = None
    if values is not None:
        filled = np.ones(total, dtype=values.dtype)
        filled[place] = values
        weight = torch.from_numpy(filled)
    order = sources * max(total, 1) + np.arange(total)
    order.sort()  # by source, then by position
    out_edge = order % max(total, 1)
    ids = [
        torch.from_numpy(array.astype(number))
        for array in (ptr, sources, _offsets(src, num_nodes), targets[out_edge], out_edge)
    ]
    return Graph(ids[0], ids[1], ids[2], ids[3], ids[4], weight)


def _offsets(ends: npt.NDArray[np.int64], num_nodes: int) -> npt.NDArray[np.int64]:
    """The row starts of a CSR whose row of a node holds its self-loop and the edges that end there."""
    counts = np.bincount(ends, minlength=num_nodes) + 1
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
