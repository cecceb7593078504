"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("torch", "torch-geometric", "numba", "numpy")


def described() -> str:
    """Processor, cores, memory, versions and the day, in one line."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{processor()}, {os.cpu_count()} cores, {memory()}; {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {versions}; {datetime.now(UTC):%Y-%m-%d}"
    )


def processor() -> str:
    """The processor as the system names it, with family and model where the name says little."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    known = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    family = ", ".join(f"{key} {known[key]}" for key in ("cpu family", "model") if key in known)
    return f"{known.get('model name', platform.machine())} ({family})"


def memory() -> str:
    """The size of the memory."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{size / 2**30:.0f} GiB"
