"""How the compiled kernels cut a graph: units for the threads, tiles for the caches.

Units are the ranges of nodes of `units.cut`. A tile is a run of at most 64 edges of a unit: as many whole
nodes as fit, or a piece of a node that does not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numba import njit
from numba.extending import register_jitable
from torch import Tensor

TILE = 64
AHEAD = 16  # so many edges before its use, a row is asked for: those of a large graph lie in no cache
SMALL = 20_000  # below that many numbers to touch, a second thread costs more than it brings

_pool: dict[int, ThreadPoolExecutor] = {}


def flat(x: Tensor) -> Any:
    """The numbers of the tensor in one row, without a copy where it is contiguous."""
    return x.detach().contiguous().view(-1).numpy()


def index_file(compiled: Any) -> Path:
    """Where numba lists what it keeps of a kernel."""
    code, module = compiled.py_func.__code__, compiled.py_func.__module__.rpartition(".")[2]
    version = f"py{sys.version_info.major}{sys.version_info.minor}{sys.abiflags if os.name != 'nt' else ''}"
    name = f"{module}.{compiled.py_func.__qualname__}-{code.co_firstlineno}.{version}.nbi"
    return Path(compiled.stats.cache_path) / name


# numba notices a change of the file that holds a kernel, but not of the helpers that it calls elsewhere
_SOURCES_CHANGED = max(file.stat().st_mtime for file in Path(__file__).parent.glob("*.py"))


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first use, keep the result on disk, and release the lock of the interpreter."""
    compiled = njit(cache=True, nogil=True, error_model="numpy")(function)
    index = index_file(compiled)
    with suppress(OSError):
        if index.stat().st_mtime < _SOURCES_CHANGED:
            index.unlink()
    return compiled


def run(function: Any, bounds: npt.NDArray[np.int64], work: int, *args: Any) -> None:
    """Call function(bounds, first, last, *args) over all units, on torch's number of threads."""
    units = bounds.size - 1
    threads = min(torch.get_num_threads(), units) if work >= SMALL else 1
    if threads <= 1:
        function(bounds, 0, units, *args)
        return
    if threads not in _pool:
        _pool[threads] = ThreadPoolExecutor(threads - 1, thread_name_prefix="kernels")
    marks = [units * k // threads for k in range(threads + 1)]
    jobs = [_pool[threads].submit(function, bounds, marks[k], marks[k + 1], *args) for k in range(1, threads)]
    function(bounds, 0, marks[1], *args)
    for job in jobs:
        job.result()


@register_jitable  # type: ignore[untyped-decorator]
def tile_end(ptr: Any, node: int, edge: int, stop: int) -> tuple[int, int]:
    """Where the tile that starts at this edge of this node ends: the next tile's node and edge."""
    if ptr[node + 1] - edge > TILE:
        return node, edge + TILE
    node += 1
    while node < stop and ptr[node + 1] - edge <= TILE:
        node += 1
    return node, int(ptr[node])
