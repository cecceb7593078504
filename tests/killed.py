"""A run that is killed, again and again, beside one that is not.

    python tests/killed.py FOLDER WORKERS KILLS

Every attempt is a fresh process, ended by SIGKILL once so many lines of journals are on the disk; the
last one may finish. What is printed is a JSON object. `python tests/killed.py FOLDER WORKERS` is one attempt.
"""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from sanegnn import Machine, RunChoice, Search, Selection, Training, api
from sanegnn.data.generate import planted_partition
from sanegnn.strategies.darts import Algorithm1


def fit(folder, workers=1):
    """A whole fit of a small graph in seconds."""
    data = planted_partition(0, nodes=120, classes=3, features=8, homophily=0.5, signal=0.5)
    return api.fit(
        data,
        search=Search(restarts=2, depth=2),
        knobs={"paper": Algorithm1(epochs=6, hidden=8)},
        selection=Selection(trials=1, rounds=2, finalists=2, repeats=2),
        training=Training(epochs=8),
        machine=Machine(workers=workers),
        run=RunChoice(folder=str(folder), name="it"),
    )


def attempt(folder, workers):
    """A process that fits."""
    return started(__file__, str(folder), str(workers))


def started(file, *arguments):
    """A process of its own that runs a file."""
    return subprocess.Popen([sys.executable, file, *arguments])


def lines(folder):
    """How many lines of journals are there."""
    files = [*folder.rglob("*.jsonl"), *folder.rglob("study.journal")]
    return sum(file.read_bytes().count(b"\n") for file in files if file.exists())


def kill_at(child, folder, target, rng):
    """How many lines there were when the process was killed; none if it was done before."""
    while lines(folder) < target:
        if child.poll() is not None:
            return 0
        time.sleep(0.001)
    time.sleep(rng.uniform(0, 0.02))
    child.kill()
    return lines(folder) if child.wait() == -signal.SIGKILL else 0


def main(root, workers, kills):
    """Fit undisturbed, then killed `kills` times; tell what happened."""
    rng, whole, cut = random.Random(0), root / "whole", root / "cut"
    fit(whole)
    places = sorted(rng.sample(range(1, lines(whole)), kills))
    killed = [kill_at(attempt(cut, workers), cut, max(place, lines(cut) + 1), rng) for place in places]
    ended = attempt(cut, workers).wait()
    told = {"whole": lines(whole), "killed": [place for place in killed if place], "ended": ended}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    else:
        fit(Path(sys.argv[1]), int(sys.argv[2]))
