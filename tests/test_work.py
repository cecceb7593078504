"""Work handed out: the same bits in order and side by side, and nobody left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numba
import numpy as np
import psutil
import pytest
import torch

from sanegnn import work
from sanegnn.errors import SaneError, TrainingFailed, UnknownName
from sanegnn.work import InOrder, Processes, orphaned, workers

BOTH = pytest.mark.parametrize("hands", [InOrder(), Processes(2)], ids=["in order", "processes"])


def train(shared: torch.Tensor, seed: int) -> bytes:
    """Sums whose bits would show another number of threads."""
    noise = torch.randn(600, 300, generator=torch.Generator().manual_seed(seed))
    state = torch.tanh(noise @ shared).log_softmax(1)
    return state.numpy().tobytes() + np.float32(state.sum()).tobytes()


def threads(_: None, job: int) -> tuple[int, int, int]:
    from threadpoolctl import threadpool_info

    return (
        torch.get_num_threads(),
        numba.get_num_threads(),
        max(info["num_threads"] for info in threadpool_info()),
    )


def stumble(_: None, job: int) -> int:
    if job == 1:
        raise UnknownName.of("dataset", "cory", ["cora"])
    time.sleep(60 * (job > 1))
    return job


def where(shared: object, job: int) -> tuple[int, int]:
    return os.getpid(), id(shared)


def children() -> list[psutil.Process]:
    """Worker processes of this one; loky's resource tracker is none."""
    mine = psutil.Process().children(recursive=True)
    return [process for process in mine if "resource_tracker" not in " ".join(process.cmdline())]


def test_both_ways_give_the_same_bits_in_the_order_of_the_jobs():
    shared = torch.randn(300, 300, generator=torch.Generator().manual_seed(0))
    torch.set_num_threads(2)
    first, second = (list(hands.map(train, range(5), shared=shared)) for hands in (InOrder(), Processes(2)))
    assert first == second
    assert len(set(first)) == 5
    assert torch.get_num_threads() == 2


GAUGE = """
import sys
import numpy as np
from sanegnn.work import Gauged, InOrder, Processes

def hold(_, megabytes):
    return len(np.ones(megabytes << 17).tobytes()) >> 20

if __name__ == "__main__":
    gauge = Gauged({"InOrder": InOrder, "Processes": lambda: Processes(2)}[sys.argv[1]]())
    print(gauge.take(), list(gauge.map(hold, [8, 64, 16], None)), gauge.take(), gauge.take(), sep=";")
    print(list(gauge.map(hold, [4], None)), gauge.take(), sep=";")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="another kernel")
@pytest.mark.parametrize("hands", ["InOrder", "Processes"])
def test_a_gauge_tells_what_the_largest_job_took(hands):
    """In a fresh process: what a long one holds free already counts for nothing."""
    command = [sys.executable, "-c", GAUGE, hands]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    first, second = (line.split(";") for line in out.splitlines())
    assert [first[0], first[1], first[3]] == ["nan", "[8, 64, 16]", "nan"]
    assert 120 <= float(first[2]) / 2**20 < 160  # the array and its copy
    assert second[0] == "[4]"
    assert 6 <= float(second[1]) / 2**20 < 30


@BOTH
def test_every_job_has_one_thread(hands):
    assert set(hands.map(threads, range(3), shared=None)) == {(1, 1, 1)}


@BOTH
def test_an_error_comes_out_as_it_is_and_ends_the_rest(hands):
    results, begin = [], time.monotonic()
    with pytest.raises(UnknownName, match="no dataset named 'cory'; did you mean 'cora'"):
        results.extend(iter(hands.map(stumble, range(4), shared=None)))
    assert time.monotonic() - begin < 30
    assert list(hands.map(train, [1], shared=torch.eye(300)))  # and it can be used again


@BOTH
def test_closing_early_ends_the_rest(hands):
    results = hands.map(stumble, [0, 2, 3], shared=None)
    assert next(results) == 0
    results.close()
    assert list(results) == []


def test_a_job_that_ends_early_leaves_no_process():
    with pytest.raises(UnknownName):
        list(Processes(2).map(stumble, range(4), shared=None))
    assert children() == []
    results = Processes(2).map(stumble, [0, 2, 3], shared=None)
    next(results)
    assert len(children()) == 2
    results.close()
    assert children() == []


@pytest.mark.parametrize("taken", [1, 20])
def test_closing_with_a_long_line_of_jobs_is_quiet(taken):
    results = Processes(2).map(where, range(200), shared=None)
    for _ in range(taken):
        next(results)
    results.close()  # an error in loky's thread would fail this test
    assert children() == []


def test_results_come_as_they_are_ready():
    def nap(_: None, job: float) -> float:
        time.sleep(job)
        return time.monotonic()

    list(Processes(2).map(nap, [0.0, 0.0], shared=None))  # warm
    seen = [(ended, time.monotonic()) for ended in Processes(2).map(nap, [0.0, 0.6, 0.6], shared=None)]
    assert seen[0][1] < seen[1][0]  # the first was handed on before the second was ready


def test_a_pool_stays_warm_and_loads_what_is_shared_once():
    shared = [1] * 1000
    first = set(Processes(2).map(where, range(20), shared=shared))
    second = set(Processes(2).map(where, range(20), shared=shared))
    seen = first | second
    assert len({pid for pid, _ in seen}) <= 2
    assert len(seen) == len({pid for pid, _ in seen})
    held = work._parcel.path
    assert held.exists()
    list(Processes(2).map(where, range(2), shared=[2]))
    assert not held.exists()


def test_a_worker_that_is_killed_is_an_error_that_shows_the_way_out():
    def die(_: None, job: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(SaneError, match="fewer --workers"):
        list(Processes(2).map(die, [0, 1], shared=None))
    assert children() == []


def test_the_number_decides():
    assert isinstance(workers(1), InOrder)
    assert isinstance(workers(3), Processes)
    assert getattr(workers(0), "number", 1) == len(os.sched_getaffinity(0))
    assert not orphaned()


def test_what_cannot_be_shipped_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(work.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(TypeError):
        list(Processes(2).map(where, [0], shared=threading.Lock()))
    assert list(tmp_path.iterdir()) == []


SCRIPT = """
import os, time
from pathlib import Path
from sanegnn.work import Processes

def sleep(shared, job):
    Path(shared, f"{os.getpid()}.pid").touch()
    time.sleep(60)

for _ in Processes(2).map(sleep, range(4), shared=FOLDER):
    pass
"""


def sleeping(folder: Path) -> tuple[subprocess.Popen, list[int]]:
    """A user's script without a guard for its main part, two workers asleep in a job."""
    script = folder / "script.py"
    script.write_text(SCRIPT.replace("FOLDER", repr(str(folder))))
    parent = subprocess.Popen(
        [sys.executable, "-W", "error", script],
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    end = time.monotonic() + 60
    while len(list(folder.glob("*.pid"))) < 2:
        assert parent.poll() is None, parent.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.05)
    return parent, [int(path.stem) for path in folder.glob("*.pid")]


def gone(pids: list[int], within: float) -> bool:
    end = time.monotonic() + within
    while any(psutil.pid_exists(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_workers_of_a_killed_parent_end_by_themselves(tmp_path):
    parent, pids = sleeping(tmp_path)
    parent.kill()
    parent.wait()
    assert gone(pids, within=5)
    assert list(tmp_path.glob("sanegnn-*")) == []
    parent.stderr.close()


def test_ctrl_c_reaches_the_parent_alone_and_takes_the_workers_along(tmp_path):
    parent, pids = sleeping(tmp_path)
    begin = time.monotonic()
    os.killpg(parent.pid, signal.SIGINT)  # what a terminal does
    _, words = parent.communicate(timeout=30)
    assert time.monotonic() - begin < 10
    assert words.count("Traceback") == 1
    assert words.rstrip().endswith("KeyboardInterrupt")
    assert "Warning" not in words
    assert "leaked" not in words
    assert gone(pids, within=1)
    assert list(tmp_path.glob("sanegnn-*")) == []


def test_ctrl_c_is_held_back_from_workers_also_while_they_start():
    def held(_: None, job: int) -> bool:
        return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())

    assert all(Processes(2).map(held, range(4), shared=None))
    assert not held(None, 0)


def test_an_error_of_any_kind_survives_the_way_back():
    def fail(_: None, job: int) -> None:
        raise TrainingFailed("no finite score")

    with pytest.raises(TrainingFailed, match="no finite score"):
        list(Processes(2).map(fail, [0], shared=None))
