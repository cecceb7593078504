"""A strategy as a contender: it searches, then what it found is tuned like a human design.

The laps of a search are its candidates, where these were trained from scratch, and the architectures that
it proposes, which have no score yet. Candidates are trained with one setting for all; the choice is made
among the tuned, so that every contender chooses among equally many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from sanegnn import journal
from sanegnn.baselines.contender import Lane
from sanegnn.baselines.human import Design
from sanegnn.baselines.tuned import Tuned
from sanegnn.records import Candidate, Lap
from sanegnn.settings import Knobs, Search, Setting
from sanegnn.space import Architecture, space
from sanegnn.strategies import Proposal, Quest, strategies
from sanegnn.tasks import NodeTask
from sanegnn.work import Gauged

HOME, DEPTH = NodeTask.space, NodeTask.depth
"""What is searched where the settings name nothing."""

SHARE = 0.5
"""The part of a wall-clock budget that a search may take; the rest is for tuning."""


class Searching(Tuned[Search]):
    """A strategy over a space; its own knobs come beside."""

    knobs = Search
    kind = "search"

    def __init__(self, settings: Search, own: Knobs | None = None) -> None:
        super().__init__(settings)
        kind = strategies[settings.strategy]
        self.strategy = kind(own or kind.knobs())

    def search(self, lane: Lane, known: int) -> Iterator[Lap]:
        """Candidates and proposals, restart by restart."""
        return islice(self._laps(lane), known, None)

    def design(self, lane: Lane, laps: Sequence[Lap]) -> Design:
        """What was proposed; tuning begins with the default setting."""
        found = dict.fromkeys(lap.label for lap in laps if not lap.setting)
        return Design(tuple(Architecture.parse(label) for label in found), Setting())

    def _laps(self, lane: Lane) -> Iterator[Lap]:
        gauge = Gauged(lane.bench.workers)
        told, begin = set[int](), 0.0
        for one in self.strategy.search(self._quest(lane, gauge)):
            if one.restart not in told:
                told.add(one.restart)
                for lap in self._candidates(lane, one.restart, begin):
                    lane.clock.ahead(lap.clock)
                    yield lap
            lane.clock.ahead(one.seconds)
            begin = lane.clock.now()
            yield _proposed(one, begin, gauge.take())

    def _quest(self, lane: Lane, gauge: Gauged) -> Quest:
        settings, bench = self.settings, lane.bench
        searched = space(settings.space or HOME, settings.depth or DEPTH)
        seconds = SHARE * lane.seconds / settings.restarts
        common = (bench.task, searched, bench.seed, settings.restarts, gauge, bench.device)
        return Quest(*common, _folder(lane), seconds)

    def _candidates(self, lane: Lane, restart: int, begin: float) -> Iterator[Lap]:
        """Those of a restart that were trained from scratch; it began when the clock showed `begin`.

        Of an architecture that was promoted, its longest training.
        """
        read = journal.read(_folder(lane) / f"restart-{restart}.jsonl")
        candidates = [one for one in read if isinstance(one, Candidate)]
        longest = {(one.architecture, one.seed): one.limit for one in sorted(candidates, key=_limit)}
        for one in candidates:
            trained = self.strategy.trained_as(one)
            if trained is not None and one.limit == longest[one.architecture, one.seed]:
                setting, training = trained
                what = (one.architecture, setting.table(), training.table(), one.seed, one.validation)
                cost = (one.epochs, one.seconds, begin + one.clock, one.parameters, math.nan)
                yield Lap("search", *what, *cost)


def _limit(one: Candidate) -> int:
    return one.limit


def _proposed(one: Proposal, clock: float, memory: float) -> Lap:
    """A proposal has no net: no setting, no training, no score."""
    return Lap("search", str(one.architecture), {}, {}, one.seed, math.nan, 0, one.seconds, clock, 0, memory)


def _folder(lane: Lane) -> Path:
    return lane.folder / "search"
