"""Cutting work into units for threads: by its size, never by their number, so that results stay the same."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    from torch import Tensor

UNITS = 64


def cut(offsets: Tensor) -> npt.NDArray[np.int64]:
    """The row bounds of at most 64 ranges of a CSR, each with about as many entries and rows."""
    rows = offsets.numel() - 1
    load = offsets.cpu().numpy().astype(np.int64) + np.arange(rows + 1)
    marks = np.linspace(0, load[-1], min(UNITS, rows) + 1)[1:-1] if rows else np.empty(0)
    return np.unique(np.concatenate([[0], np.searchsorted(load, marks), [rows]]).astype(np.int64))


@lru_cache(maxsize=1024)
def cut_evenly(count: int, grain: int = 1) -> npt.NDArray[np.int64]:
    """The bounds of at most 64 ranges of equal things, cut at multiples of the grain."""
    step = -(-max(count, 1) // (UNITS * grain)) * grain
    return np.append(np.arange(0, count, step), count).astype(np.int64)
