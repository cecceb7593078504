"""A tiny comparison, and a process of its own that does it: `python tests/compared.py FOLDER`."""

import sys
from pathlib import Path

from killed import started
from sanegnn import Field, Machine, Race, RunChoice, Training, api
from sanegnn.data.generate import planted_partition
from sanegnn.events import silent
from sanegnn.strategies import Algorithm1, TrialAndError

KNOBS = {
    "paper": Algorithm1(epochs=4, hidden=8),
    "random": TrialAndError(candidates=4, batch=3, hidden=8, heads=2, epochs=4),
}
CONTENDERS, SPLITS = ("gcn", "appnp", "random", "paper"), ("0", "1")


def planted():
    return planted_partition(0, nodes=120, classes=3, features=8, homophily=0.5, signal=0.5)


def compare(folder, contenders=CONTENDERS, splits=SPLITS, data=None, on_event=silent, **race):
    """Two designs and two searchers on two splits, in seconds."""
    return api.compare(
        data or planted(),
        field=Field(contenders, splits),
        race=Race(**{"trials": 5, "repeats": 2, "depth": 2, **race}),
        knobs=KNOBS,
        training=Training(epochs=5),
        machine=Machine(workers=1),
        run=RunChoice(folder=str(folder), name="it"),
        on_event=on_event,
    )


def attempt(folder):
    """A process that compares."""
    return started(__file__, str(folder))


if __name__ == "__main__":
    compare(Path(sys.argv[1]))
