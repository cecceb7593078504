"""What has to be measured in a process of its own: memory at its peak, and the first compilation.

python -m bench.child memory ours 400000     -> {"bytes": …} or {"lacks": bytes that were free}
python -m bench.child first                  -> {"seconds": …}
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import torch

from bench import pairs
from bench.timing import fenced, free_memory, out_of_memory
from sanegnn.kernels import compile_all
from sanegnn.settings import Setting
from sanegnn.strategies.darts import Algorithm1

ROOT = Path(__file__).parents[1]
COURSES = {"ours": pairs.course, "theirs": pairs.stock_course}
DERIVED = {
    "gcn": "gcn,gcn,gcn",
    "gat": "gat,gat,gat",
    "gin": "gin,gin,gin",
    "gcn-jk-lstm": "gcn,gcn,gcn | skip,skip,skip | lstm",
}


def ask(*arguments: str, **environment: str) -> dict[str, float]:
    """Run this module in a fresh process, and read what it prints."""
    command = [sys.executable, "-m", "bench.child", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with {done.returncode}:\n{done.stderr[-2000:]}")
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def memory(side: str, edges: str) -> dict[str, float]:
    """The peak of the resident memory during one search epoch, less what was resident before it."""
    free, settings = free_memory() or 0, Algorithm1()
    COURSES[side](pairs.dataset("planted"), settings).step()
    course = COURSES[side](pairs.generated(int(edges)), settings)
    gc.collect()
    _trim()
    before = _forget_peak()
    try:
        with fenced():
            course.step()
    except (MemoryError, RuntimeError) as error:
        if out_of_memory(error):
            return {"lacks": free}
        raise
    return {"bytes": _status("VmHWM") - before}


def first() -> dict[str, float]:
    """Everything that a first run compiles: a search epoch and a training epoch of every derived net."""
    from sanegnn.space import Architecture

    task, setting = pairs.dataset("planted"), Setting()
    course = pairs.course(task, Algorithm1())
    ready = task.ready(setting.scaling, "cpu")
    nets = [
        pairs.Net(Architecture.parse(text), setting, ready.num_features, ready.num_outputs)
        for text in DERIVED.values()
    ]
    began = time.perf_counter()
    compile_all()
    course.step()
    for net in nets:
        pairs.training(net, task, setting)()
    return {"seconds": time.perf_counter() - began}


def _trim() -> None:
    """Give freed memory back to the system, so that it does not hide what the epoch takes."""
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError):
        return


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def _forget_peak() -> int:
    """Set the peak to what is resident now, and give that."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS")


if __name__ == "__main__":
    torch.set_num_threads(1)
    task, *arguments = sys.argv[1:]
    print(json.dumps({"memory": memory, "first": first}[task](*arguments)))
