"""Who is whose match: exact ranks by L1 distance against all candidates, block by block."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

BLOCK = 2**24
"""Distances held at a time: 64 MiB in float32."""


def _blocks(left: Tensor, right: Tensor) -> Iterator[tuple[int, Tensor]]:
    """The distances of some rows of `left` to all of `right`, (b, B), with the first row's number."""
    size = max(1, BLOCK // max(1, right.shape[0]))
    for begin in range(0, left.shape[0], size):
        yield begin, torch.cdist(left[begin : begin + size], right, p=1)


@torch.no_grad()
def ranks(left: Tensor, right: Tensor, queries: int) -> tuple[Tensor, Tensor]:
    """The ranks of the true matches among all candidates, from left to right and back, (Q,) each.

    Row i of `left` (A, D) and row i of `right` (B, D) are a match for every i below Q = `queries`; the rows
    behind them are candidates alone. A wrong candidate as near as the true one stands before it, so that
    embeddings that are all the same find nothing.
    """
    own = torch.cdist(left[:queries, None], right[:queries, None], p=1).flatten()
    forth, back = (torch.zeros(queries, dtype=torch.int64, device=left.device) for _ in range(2))
    for begin, block in _blocks(left, right):
        asked = max(0, min(queries - begin, block.shape[0]))
        here = own[begin : begin + asked]
        forth[begin : begin + asked] = (block[:asked] <= here[:, None]).sum(1)
        back += (block[:, :queries] <= own).sum(0)
    return forth, back


@torch.no_grad()
def nearest(left: Tensor, right: Tensor, top: int) -> tuple[Tensor, Tensor]:
    """The nearest rows of `right` for every row of `left`, nearest first, and their distances (A, top)."""
    most = min(top, right.shape[0])
    found = [block.topk(most, dim=1, largest=False) for _, block in _blocks(left, right)]
    empty = torch.zeros(0, most, dtype=torch.int64), torch.zeros(0, most)
    if not found:
        return empty
    return torch.cat([one.indices for one in found]), torch.cat([one.values for one in found])
