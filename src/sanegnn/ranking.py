"""Judging a ranking of architectures by how they did when they were trained.

    truth = GroundTruth.read(Path("runs/truth-cora-split0-1a2b3c4d/truth.jsonl"))
    truth.judge(lambda architecture: ...)      tau, regret, regret of the best of five

A file holds one line about the measurement and one for every architecture with its validation scores, one
for every seed. No torch: a ranking is judged in milliseconds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, Self

from scipy.stats import kendalltau

from sanegnn.errors import BadArchitecture, BadSetting
from sanegnn.journal import disk, write_atomic
from sanegnn.space import Architecture

FEW = 5
"""How many architectures the second regret may choose among."""

Score = Callable[[Architecture], float]


@dataclass(frozen=True)
class Judgement:
    """How a ranking did.

    Args:
        tau: Kendall's tau-b between the scores and the mean validation scores; 0 where all scores tie.
        regret: how far the mean score of the one that it puts first is behind the best one's.
        regret_of_five: the same for the best of the five that it puts first.
    """

    tau: float
    regret: float
    regret_of_five: float


@dataclass(frozen=True)
class GroundTruth:
    """Architectures with their validation scores under one setting, a score for every seed.

    A training that went astray scores 0. `about` says what was measured: dataset, split, metric, setting,
    training and versions.
    """

    about: Mapping[str, Any]
    scores: Mapping[Architecture, tuple[float, ...]]

    @property
    def means(self) -> dict[Architecture, float]:
        """The mean score of every architecture."""
        return {architecture: fmean(scores) for architecture, scores in self.scores.items()}

    @property
    def best(self) -> float:
        """The best mean."""
        return max(self.means.values())

    @property
    def ceiling(self) -> float:
        """Kendall's tau between seeds, the mean over their pairs: what one training says of another.

        NaN for a single seed.
        """
        seeds = list(zip(*self.scores.values(), strict=True))
        taus = [tau(one, other) for one, other in combinations(seeds, 2)]
        return fmean(taus) if taus else math.nan

    def judge(self, score: Score) -> Judgement:
        """How well `score` ranks; of equal scores the earlier architecture comes first."""
        means = self.means
        scored = {architecture: score(architecture) for architecture in means}
        ranked = sorted(means, key=lambda architecture: -scored[architecture])
        regrets = [self.best - means[architecture] for architecture in ranked]
        agreement = tau(list(scored.values()), list(means.values()))
        return Judgement(agreement, regrets[0], min(regrets[:FEW]))

    def by_chance(self) -> Judgement:
        """What a random ranking can expect."""
        regrets = sorted(self.best - mean for mean in self.means.values())
        few, many = min(FEW, len(regrets)), len(regrets)
        draws = math.comb(many, few)
        best_of_few = (
            regret * math.comb(many - place - 1, few - 1) / draws for place, regret in enumerate(regrets)
        )
        return Judgement(0.0, fmean(regrets), sum(best_of_few))

    def only(self, wanted: Callable[[Architecture], bool]) -> GroundTruth:
        """The same over some of the architectures."""
        return GroundTruth(self.about, {one: self.scores[one] for one in self.scores if wanted(one)})

    def write(self, path: Path) -> None:
        """Keep it as JSON lines."""
        rows = [{"architecture": str(one), "validation": scores} for one, scores in self.scores.items()]
        lines = [json.dumps(row, allow_nan=False) for row in [dict(self.about), *rows]]
        write_atomic(path, ("\n".join(lines) + "\n").encode())

    @classmethod
    def read(cls, path: Path) -> Self:
        """What `write` kept."""
        with disk(path, "read"):
            lines = path.read_text(encoding="utf-8").splitlines()
        try:
            about, *rows = map(json.loads, lines)
            scores = {Architecture.parse(row["architecture"]): tuple(row["validation"]) for row in rows}
        except (BadArchitecture, ValueError, KeyError, TypeError) as error:
            raise BadSetting(
                f"{path} holds no ground truth ({error!r}): take a file that `truth` wrote"
            ) from error
        return cls(about, scores)


def tau(one: Sequence[float], other: Sequence[float]) -> float:
    """Kendall's tau-b, 0 where one side is constant."""
    found = float(kendalltau(one, other).statistic)
    return 0.0 if math.isnan(found) else found
