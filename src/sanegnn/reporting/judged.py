"""What the evidence says: where the model is right, how sure it was, and on which nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sanegnn.reporting.evidence import Array, Evidence
from sanegnn.reporting.intervals import wilson

BINS, GROUPS = 10, 7
LEAST = 10
"""Nodes that a bin should have."""
NEAR = 0.015
"""Confidences that a figure can no longer tell apart."""


def confusion(evidence: Evidence, part: str = "test") -> Array:
    """How often class i (a row) was taken for class j (a column)."""
    here, classes = evidence.of(part), len(evidence.classes)
    places = evidence.target[here].astype(np.int64) * classes + evidence.predicted[here]
    return np.bincount(places, minlength=classes * classes).reshape(classes, classes)


@dataclass(frozen=True)
class OfClass:
    """The scores of one class."""

    name: str
    nodes: int
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def by_class(table: Array, names: Sequence[str]) -> list[OfClass]:
    """Precision and recall of every class; 0 where nothing was said or there is nothing."""
    right, said, there = table.diagonal(), table.sum(0), table.sum(1)
    return [
        OfClass(name, int(there[k]), float(right[k] / max(1, said[k])), float(right[k] / max(1, there[k])))
        for k, name in enumerate(names)
    ]


@dataclass(frozen=True)
class Share:
    """Of `count` nodes of a kind the share that is right, with its interval; `middle` is their mean value."""

    name: str
    middle: float
    count: int
    right: float
    low: float
    high: float


def share(name: str, middle: float, right: Array) -> Share:
    """The share of the right ones."""
    count, hits = len(right), int(right.sum())
    return Share(name, middle, count, hits / max(1, count), *wilson(hits, count))


def reliability(sure: Array, right: Array) -> list[Share]:
    """Bins of equally many nodes, from the least to the most sure; those that lie too near are one."""
    order = np.argsort(sure, kind="stable")
    bins: list[Array] = []
    for one in np.array_split(order, min(BINS, max(1, len(order) // LEAST))):
        if bins and sure[one].mean() - sure[bins[-1]].mean() < NEAR:
            bins[-1] = np.concatenate([bins[-1], one])
        else:
            bins.append(one)
    return [share("", float(sure[one].mean()), right[one]) for one in bins if len(one)]


def gap(bins: Sequence[Share]) -> float:
    """The expected calibration error: the mean distance of confidence and share that is right."""
    total = sum(one.count for one in bins)
    return sum(one.count * abs(one.middle - one.right) for one in bins) / max(1, total)


def by_degree(degree: Array, right: Array) -> list[Share]:
    """Neighbouring degrees in groups of about equally many nodes, the low ones apart where they can be."""
    return [
        share(_span(low, high), float(degree[here].mean()), right[here])
        for low, high in _groups(degree)
        if (here := (degree >= low) & (degree <= high)).any()
    ]


def _groups(degree: Array) -> Iterator[tuple[int, int]]:
    """First and last degree of each group."""
    known, counts = np.unique(degree, return_counts=True)
    enough = max(LEAST, len(degree) / GROUPS)
    after = len(degree) - np.cumsum(counts)
    low, held = int(known[0]), 0
    for place, value in enumerate(known.tolist()):
        held += int(counts[place])
        if after[place] == 0 or (held >= enough and after[place] >= enough / 2):
            yield low, value
            low, held = value + 1, 0


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"


def by_homophily(homophily: Array, right: Array) -> list[Share]:
    """Fifths of the share of neighbours of the own class; nodes without labelled neighbours are a group."""
    alone = np.isnan(homophily)
    groups = [("none", alone)] if alone.any() else []
    for place in range(5):
        low, high = place / 5, (place + 1) / 5
        inside = (homophily >= low) & ((homophily < high) | (place == 4))
        groups.append((f"{20 * place}–{20 * place + 20}%", inside))
    return [
        share(name, float(np.nanmean(homophily[here])) if name != "none" else float("nan"), right[here])
        for name, here in groups
        if here.any()
    ]
