"""What every search strategy promises."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

from sanegnn.settings import Knobs
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies import Proposal, Quest, strategies
from sanegnn.tasks import SearchTask
from sanegnn.testing.examples import example_task, require
from sanegnn.work import InOrder, Processes, Workers

RESTARTS = 2
SPACE = SearchSpace("contract", 2, ("gcn", "sage_mean", "gat"), ("skip", "zero"), ("concat", "max"))

Found = list[tuple[int, int, Architecture, float]]


def check_strategy(name: str, knobs: Knobs | None = None) -> None:
    """Every promise of a strategy; give `knobs` that make it quick."""
    quick = knobs or strategies[name].knobs()
    kind = strategies[name].knobs
    require(isinstance(quick, kind), f"{name} takes {kind.__name__}, not {type(quick).__name__}")
    alone = proposals(name, quick)
    proposes_members(alone)
    require(found(proposals(name, quick)) == found(alone), "the same seed gave other proposals")
    ignores_who_works(name, quick, alone)
    goes_on_from_its_folder(name, quick, alone)


def proposals(
    name: str, knobs: Knobs, workers: Workers | None = None, folder: Path | None = None
) -> list[Proposal]:
    """What the strategy ends with on a small graph; it is handed the sealed task alone."""
    task: SearchTask = example_task().without_test()
    quest = Quest(task, SPACE, 0, RESTARTS, workers or InOrder(), "cpu", folder)
    return list(strategies[name](knobs).search(quest))


def found(given: list[Proposal]) -> Found:
    """All of the proposals but the time they took."""
    return [(one.restart, one.seed, one.architecture, one.score) for one in given]


def proposes_members(given: list[Proposal]) -> None:
    """At least one architecture of the space for every restart, in order, with a finite score."""
    for one in given:
        require(one.architecture in SPACE, f"{one.architecture} is not in the space that was searched")
        require(math.isfinite(one.score), f"{one.architecture} has the score {one.score}")
    places = [one.restart for one in given]
    require(places == sorted(places), f"the proposals come in the order of restarts {places}")
    require(
        set(places) == set(range(RESTARTS)), f"{RESTARTS} restarts gave proposals of {sorted(set(places))}"
    )


def ignores_who_works(name: str, knobs: Knobs, alone: list[Proposal]) -> None:
    """Restarts side by side in processes end where they end one after the other."""
    beside = proposals(name, knobs, Processes(2))
    require(found(beside) == found(alone), "restarts in processes and in order gave other proposals")


def goes_on_from_its_folder(name: str, knobs: Knobs, alone: list[Proposal]) -> None:
    """With a folder it gives the same, also when it finds its own work there."""
    with tempfile.TemporaryDirectory() as folder:
        for time in ("first", "second"):
            kept = proposals(name, knobs, folder=Path(folder))
            require(found(kept) == found(alone), f"the {time} search with a folder gave other proposals")
