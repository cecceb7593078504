"""The one seam through which work is handed out: in order, or to processes side by side.

    for result in workers(machine.workers).map(train, jobs, shared=task):
        ...

`train(task, job)` is called once for every job, with one thread, so that both ways give the same bits.
Something that stands behind a cluster has to offer `map` alone.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import queue
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Protocol, TypeVar

import cloudpickle  # type: ignore[import-untyped]
import joblib
from joblib.externals.loky import process_executor
from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from sanegnn.errors import SaneError
from sanegnn.journal import disk
from sanegnn.memory import gauged, keep_freed_memory

S = TypeVar("S")
J = TypeVar("J")
R = TypeVar("R")
Job = Callable[[S, J], R]

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
WATCH = 0.5  # seconds between two looks of a worker at its parent


class Workers(Protocol):
    """Whoever does the work."""

    def map(self, function: Job[S, J, R], jobs: Sequence[J], shared: S) -> Iterator[R]:
        """`function(shared, job)` for every job, in the order of the jobs, each as soon as it is there.

        `function` must not change `shared`. What a job raises is raised here, and ends the rest; so
        does closing the iterator.
        """


def workers(number: int = 0) -> Workers:
    """`number` workers; 0 for one on every core that this process may use."""
    number = number or joblib.cpu_count()
    return InOrder() if number == 1 else Processes(number)


class InOrder:
    """One job after the other, in this process."""

    def map(self, function: Job[S, J, R], jobs: Sequence[J], shared: S) -> Iterator[R]:
        """See `Workers.map`."""
        for job in jobs:
            with one_thread():
                result = function(shared, job)
            yield result


class Processes:
    """Jobs side by side in processes of their own, which stay warm for the next `map`."""

    def __init__(self, number: int) -> None:
        self.number = number

    def map(self, function: Job[S, J, R], jobs: Sequence[J], shared: S) -> Iterator[R]:
        """See `Workers.map`."""
        path = _parcel.hold(shared)
        pool = _pool(self.number)
        done = False
        try:
            with _no_interrupt():
                futures = [pool.submit(_call, function, path, job) for job in jobs]
            for future in futures:
                yield future.result()
            done = True
        except BrokenProcessPool as error:
            raise SaneError(
                "a worker process was killed, most likely for want of memory; give the same command"
                " again with fewer --workers, it goes on from what is there"
            ) from error
        finally:
            if not done:
                _stop_pools()


class Gauged:
    """Workers that note how much memory a job takes, in bytes, on top of what its process had."""

    def __init__(self, inner: Workers) -> None:
        self.inner, self.peak = inner, math.nan

    def map(self, function: Job[S, J, R], jobs: Sequence[J], shared: S) -> Iterator[R]:
        """See `Workers.map`."""
        for result, peak in self.inner.map(partial(_gauged, function), jobs, shared):
            self.peak = peak if math.isnan(self.peak) else max(self.peak, peak)
            yield result

    def take(self) -> float:
        """The peak since the last time that one asked; NaN if nothing was measured."""
        peak, self.peak = self.peak, math.nan
        return peak


def _gauged(function: Job[S, J, R], shared: S, job: J) -> tuple[R, float]:
    return gauged(partial(function, shared, job))


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Torch, numba and the linear algebra below NumPy with one thread each, as in a worker."""
    import numba
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    threads = torch.get_num_threads(), numba.get_num_threads()
    with threadpool_limits(limits=1):
        torch.set_num_threads(1)
        numba.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads[0])
            numba.set_num_threads(threads[1])


# --- in the parent --------------------------------------------------------------------------------

_pools: dict[int, ProcessPoolExecutor] = {}


def _pool(number: int) -> ProcessPoolExecutor:
    """The warm pool of that many processes, or a new one."""
    if number not in _pools:
        _stop_pools()
        resource_tracker.ensure_running()  # its own start would let Ctrl-C through again
        _pools[number] = ProcessPoolExecutor(
            number, initializer=_start, initargs=(os.getpid(),), env=ONE_THREAD
        )
    return _pools[number]


def _stop_pools() -> None:
    """Kill all workers, whatever they do."""
    while _pools:
        _, pool = _pools.popitem()
        with _no_interrupt():
            with contextlib.suppress(queue.Empty):
                while True:  # loky's thread trips over jobs that are still in line when it is told to kill
                    pool._work_ids.get_nowait()
            pool.shutdown(wait=True, kill_workers=True)


@contextlib.contextmanager
def _no_interrupt() -> Iterator[None]:
    """Hold Ctrl-C back. Processes that start meanwhile inherit that, so it reaches the parent alone."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Parcel:
    """The object that was shipped last, in a file that goes when another takes its place."""

    def __init__(self) -> None:
        self.held: Any = self
        self.path = Path()

    def hold(self, shared: Any) -> Path:
        """The file that has `shared` in it, written once for as long as it is the same object."""
        if shared is not self.held:
            self.drop()
            with disk(Path(tempfile.gettempdir())):
                handle, name = tempfile.mkstemp(".shared", f"sanegnn-{os.getpid()}-")
                self.held, self.path = shared, Path(name)
                try:
                    with os.fdopen(handle, "wb") as file:
                        cloudpickle.dump(shared, file, protocol=5)
                except BaseException:
                    self.drop()
                    raise
        return self.path

    def drop(self) -> None:
        """Remove the file."""
        if self.held is not self:
            self.path.unlink(missing_ok=True)
            self.held = self


_parcel = _Parcel()
atexit.register(_parcel.drop)


# --- in a worker ----------------------------------------------------------------------------------

_parent: int | None = None
_unpacked: dict[Path, Any] = {}


def orphaned() -> bool:
    """Whether this is a worker whose parent is gone; a long job may ask and stop."""
    return _parent is not None and os.getppid() != _parent


def _start(parent: int) -> None:
    global _parent
    _parent = parent
    keep_freed_memory()
    process_executor._USE_PSUTIL = False  # loky would restart a worker that keeps a large graph
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    """End this worker soon after its parent, even in the middle of a job."""
    while not orphaned():
        time.sleep(WATCH)
    for parcel in Path(tempfile.gettempdir()).glob(f"sanegnn-{_parent}-*.shared"):
        parcel.unlink(missing_ok=True)
    os._exit(1)


def _call(function: Job[S, J, R], path: Path, job: J) -> R:
    if path not in _unpacked:
        _unpacked.clear()
        with path.open("rb") as file:
            _unpacked[path] = cloudpickle.load(file)
    return function(_unpacked[path], job)
