"""The map of the embeddings: a dot for every node in the colour of its class; the wrong ones are ringed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sanegnn.reporting.axes import legend
from sanegnn.reporting.drawings import WIDTH
from sanegnn.reporting.evidence import PARTS, Evidence
from sanegnn.reporting.looks import series, shape
from sanegnn.reporting.scene import Mark, Picture, dot, shortened

TALL = 400.0
NAMED = 20
"""Classes that the legend has room for."""


def draw(evidence: Evidence) -> Picture:
    """The map with its legend."""
    names = evidence.classes[:NAMED]
    entries = [(shortened(name, 24), series(k), shape(k)) for k, name in enumerate(names)]
    marks, top = legend(entries, 12, 16, WIDTH - 20)
    marks += _dots(evidence, top)
    mapped = evidence.mapped
    wrong = int((~evidence.right[mapped]).sum())
    words = f"{len(mapped):,} nodes on a plane, {wrong} of them misclassified"
    return Picture("map", "Map of the embeddings", words, WIDTH, top + TALL, marks)


def _dots(evidence: Evidence, top: float) -> Iterator[Mark]:
    """The right ones first, so that the wrong ones lie above them."""
    position, wrong = evidence.position, ~evidence.right[evidence.mapped]
    size = np.ptp(position, axis=0)
    scale = min((WIDTH - 24) / (size[0] or 1), (TALL - 24) / (size[1] or 1))
    centre = (position.max(0) + position.min(0)) / 2
    placed = (position - centre) * scale + (WIDTH / 2, top + TALL / 2)
    for place in np.argsort(wrong, kind="stable").tolist():
        yield _dot(evidence, place, *placed[place].tolist(), wrong=bool(wrong[place]))


def _dot(evidence: Evidence, place: int, x: float, y: float, *, wrong: bool) -> Mark:
    target = int(evidence.target[evidence.mapped[place]])
    paint = {"colour": series(target)}
    if not wrong:
        return dot(x, y, 2.4, shape(target), look="speck", strength=0.6, **paint)
    return dot(x, y, 4.2, shape(target), look="wrong", tip=_tip(evidence, place), **paint)


def _tip(evidence: Evidence, place: int) -> str:
    entry, names = int(evidence.mapped[place]), evidence.classes
    said, true = names[evidence.predicted[entry]], names[evidence.target[entry]]
    alike = float(evidence.homophily[entry])
    around = "no labelled neighbour" if np.isnan(alike) else f"{alike:.0%} of its neighbours are of its class"
    return (
        f"node {evidence.about['ids'][place]} ({PARTS[evidence.part[entry]]}): {true}, taken for {said} "
        f"with confidence {evidence.confidence[entry]:.2f}; {evidence.degree[entry]} neighbours, {around}"
    )
