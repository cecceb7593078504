"""Medians of interleaved repetitions, and guards for threads and memory."""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import torch

Action = Callable[[], object]
SAMPLE = 0.02
"""The least seconds of one timed sample; a shorter action is repeated inside it."""


@dataclass(frozen=True)
class Plan:
    """How long a comparison goes on: `budget` seconds, but between `least` and `most` pairs."""

    least: int = 3
    most: int = 31
    budget: float = 20.0


FULL, QUICK = Plan(), Plan(3, 9, 1.5)


def alternate(ours: Action, theirs: Action, plan: Plan) -> tuple[float, float]:
    """The median seconds of both, in samples taken in turn (ABAB) after a warm-up."""
    sides = [(action, _calls(action)) for action in (ours, theirs)]
    samples: list[tuple[float, ...]] = []
    began = time.perf_counter()
    while len(samples) < plan.least or (
        len(samples) < plan.most and time.perf_counter() - began < plan.budget
    ):
        samples.append(tuple(_sample(action, calls) for action, calls in sides))
    first, second = (median(times) for times in zip(*samples, strict=True))
    return first, second


def _calls(action: Action) -> int:
    """Warm up, then say how many calls make a sample."""
    action()
    return max(1, math.ceil(SAMPLE / _sample(action, 1)))


def _sample(action: Action, calls: int) -> float:
    began = time.perf_counter()
    for _ in range(calls):
        action()
    return (time.perf_counter() - began) / calls


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Inside, torch and the kernels use that many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def on(number: int, action: Action) -> Action:
    """The action on that many threads."""

    def run() -> None:
        with threads(number):
            action()

    return run


def free_memory() -> int | None:
    """The bytes that the machine can still give; None where /proc does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    return found[0] if found else None


@contextmanager
def fenced(share: float = 0.8) -> Iterator[None]:
    """Inside, allocations fail once the process takes more than a share of the free memory."""
    free = free_memory()
    if free is None:
        yield
        return
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    fence = pages * resource.getpagesize() + int(share * free)
    resource.setrlimit(
        resource.RLIMIT_AS, (fence if hard == resource.RLIM_INFINITY else min(fence, hard), hard)
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed."""
    return (
        isinstance(error, MemoryError) or "can't allocate memory" in str(error) or "bad_alloc" in str(error)
    )
