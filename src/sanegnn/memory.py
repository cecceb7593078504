"""What this process asks of the allocator of the C library and of OpenMP, and the memory that it takes."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

R = TypeVar("R")

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of <malloc.h>
_AT_MOST = 64 << 20
_WISHES = {"MALLOC_TRIM_THRESHOLD_": _TRIM_THRESHOLD, "MALLOC_MMAP_THRESHOLD_": _MMAP_THRESHOLD}


def keep_freed_memory() -> None:
    """Let glibc keep freed tensors of up to 64 MB for the next ones, where it is the C library.

    Otherwise it hands each back to the kernel, which has to clear the pages again for the next epoch. What
    the environment says about these thresholds stands.
    """
    if (
        platform.system() != "Linux"
        or platform.libc_ver()[0] != "glibc"
        or any(w in os.environ for w in _WISHES)
    ):
        return
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _AT_MOST)
        library.mallopt(_TRIM_THRESHOLD, 16 * _AT_MOST)


def gauged(call: Callable[[], R]) -> tuple[R, float]:
    """What `call` gives, and the bytes that this process had resident at the most, less those before it.

    Memory that is free by now goes back to the system first. NaN where the system is not Linux.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the kernel forgets the peak
        before = _status("VmRSS")
    except OSError:
        return call(), float("nan")
    return call(), _status("VmHWM") - before


def _status(field: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def let_threads_sleep() -> None:
    """Let OpenMP's threads sleep between two operations of torch, if torch is not loaded yet.

    Otherwise they wait for the next one in a busy loop, on the cores that the threads of the kernels want.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
