"""What the records of one run tell, in the words that the report needs; no torch, no data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from sanegnn import journal
from sanegnn.errors import SaneError
from sanegnn.listing import known
from sanegnn.records import (
    Candidate,
    Derived,
    Done,
    Epoch,
    Retrain,
    Scored,
    TestOpened,
    Together,
    Trial,
    Verdict,
)
from sanegnn.reporting import evidence
from sanegnn.reporting.drawings.efficiency import Effort
from sanegnn.reporting.evidence import Evidence
from sanegnn.runs import Run
from sanegnn.space import Architecture, SearchSpace, space


@dataclass(frozen=True)
class Story:
    """One run, finished or not."""

    run: Run

    @cached_property
    def result(self) -> Mapping[str, Any]:
        """What was handed back; empty while the run goes on."""
        done = self.run.records(Done)
        return done[-1].result if done else {}

    @cached_property
    def evidence(self) -> Evidence | None:
        """What the model says of every node."""
        return evidence.load(self.run.path)

    @property
    def command(self) -> str:
        """`fit`, `search` …, without the architecture that may follow."""
        return str(self.run.about["command"]).partition(" ")[0]

    @property
    def dataset(self) -> str:
        """The name of the data."""
        return str(self.run.about["dataset"])

    @property
    def split(self) -> str:
        """The name of the split, as far as it is known."""
        return str(self.result.get("split") or self.run.settings.get("data", {}).get("split", ""))

    @property
    def metric(self) -> str:
        """The name of the score."""
        return str(self.result.get("metric") or "score").replace("_", " ")

    @cached_property
    def architecture(self) -> Architecture | None:
        """The one that was chosen, or the best so far."""
        text = self.result.get("architecture") or known(self.run).architecture
        return Architecture.parse(text) if text else None

    @property
    def tests(self) -> list[float]:
        """The test score of every training of the winner; none while the test is sealed."""
        return list(self.result.get("tests", ())) or [one.test for one in self.run.records(Scored)]

    @property
    def together(self) -> float | None:
        """The test score of the saved model."""
        return next((one.test for one in self.run.records(Together)), None)

    @property
    def opened(self) -> TestOpened | None:
        """When the test was opened."""
        return next(iter(self.run.records(TestOpened)), None)

    @property
    def verdict(self) -> Verdict | None:
        """What won over what."""
        return next(iter(self.run.records(Verdict)[-1:]), None)

    @cached_property
    def trials(self) -> list[Trial]:
        """The trials of tuning that have a score."""
        return [one for one in self.run.records(Trial) if math.isfinite(one.validation)]

    @cached_property
    def retrained(self) -> dict[str, list[float]]:
        """The validation scores of the fresh trainings, by architecture, the best first."""
        found: dict[str, list[float]] = {}
        for one in self.run.records(Retrain):
            found.setdefault(one.architecture, []).append(one.validation)
        return dict(sorted(found.items(), key=lambda item: -sum(item[1]) / len(item[1])))

    @cached_property
    def journals(self) -> list[Epoch | Candidate]:
        """What the restarts of the search wrote, one restart after the other."""
        files = sorted((self.run.path / "search").glob("*.jsonl"))
        records = [record for file in files for record in journal.read(file)]
        found = [record for record in records if isinstance(record, Epoch | Candidate)]
        return sorted(found, key=lambda record: record.restart)

    @cached_property
    def epochs(self) -> dict[int, list[Epoch]]:
        """The epochs with alphas, by restart."""
        told = [one for one in self.journals if isinstance(one, Epoch) and one.alphas]
        return {restart: list(own) for restart, own in groupby(told, key=lambda one: one.restart)}

    @cached_property
    def derived(self) -> dict[int, Derived]:
        """What each restart ended with; the first of several."""
        found = self.run.records(Derived)
        return {one.restart: one for one in reversed(found)}

    @cached_property
    def space(self) -> SearchSpace | None:
        """The space that was searched."""
        asked = self.run.settings.get("search", {})
        try:
            return space(asked["space"], asked["depth"])
        except (KeyError, SaneError):
            return None

    @cached_property
    def efforts(self) -> list[Effort]:
        """Every training with the seconds of work that were spent when it was done."""
        candidates = [one for one in self.journals if isinstance(one, Candidate)]
        searching = 0.0 if candidates else sum(one.seconds for one in self.derived.values())
        rows = [("search", one.architecture, one.seconds, one.validation) for one in candidates]
        rows += [
            ("tune", one.architecture, one.seconds, math.nan if one.pruned else one.validation)
            for one in self.run.records(Trial)
        ]
        rows += [
            ("retrain", one.architecture, one.seconds, one.validation) for one in self.run.records(Retrain)
        ]
        spent, found = searching, []
        for phase, label, seconds, validation in rows:
            spent += seconds
            if math.isfinite(validation):
                found.append(Effort(phase, spent, validation, label))
        return found
