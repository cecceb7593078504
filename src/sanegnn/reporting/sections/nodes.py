"""What the model does on single nodes: from the evidence, which is there once the test was opened."""

from __future__ import annotations

import numpy as np

from sanegnn.reporting import judged
from sanegnn.reporting.drawings import confusion
from sanegnn.reporting.drawings import landscape as plane
from sanegnn.reporting.drawings import trust as trusting
from sanegnn.reporting.evidence import Array
from sanegnn.reporting.judged import Share
from sanegnn.reporting.page import Cell, Exhibit, Section
from sanegnn.reporting.story import Story
from sanegnn.reporting.tables import Table

DRAWN = 60
"""Classes that a confusion matrix can show."""


def mistakes(story: Story) -> Section | None:
    """The confusion matrix and the scores of every class."""
    evidence = story.evidence
    if evidence is None or not evidence.of("test").any():
        return None
    table, names = judged.confusion(evidence), evidence.classes
    cells: list[Cell] = []
    if len(names) <= DRAWN:
        caption = "Rows are the true classes, columns the predictions. Blue is right, orange is wrong."
        numbers = Table(
            "confusion",
            "Confusion matrix",
            ("", *names),
            [(name, *map(int, row)) for name, row in zip(names, table, strict=True)],
        )
        cells.append(Exhibit(confusion.draw(table, names), caption, numbers))
    cells.append(_classes(judged.by_class(table, names)))
    right, total = int(table.diagonal().sum()), int(table.sum())
    words = [f"The saved model is right on {right:,} of {total:,} test nodes.", *_worst(table, names)]
    return Section("mistakes", "Where it is right and wrong", [" ".join(words)], cells)


def _worst(table: Array, names: list[str]) -> list[str]:
    """The commonest mistake, in words."""
    wrong = table - np.diag(table.diagonal())
    if wrong.max() < 2:
        return []
    row, column = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return [
        f"Most often, {wrong[row, column]:,} times, class {names[row]} is taken for class {names[column]}."
    ]


def _classes(classes: list[judged.OfClass]) -> Table:
    rows = [(one.name, one.nodes, one.precision, one.recall, one.f1) for one in classes]
    heads = ("class", "test nodes", "precision", "recall", "F1")
    return Table("classes", "Scores of every class", heads, rows, ("", ",", ".3f", ".3f", ".3f"))


def trust(story: Story) -> Section | None:
    """Calibration, and the share that is right by degree and by homophily."""
    evidence = story.evidence
    if evidence is None or evidence.of("test").sum() < judged.LEAST:
        return None
    test = evidence.of("test")
    right = evidence.right[test]
    calm, raw = (judged.reliability(sure[test], right) for sure in (evidence.confidence, evidence.raw))
    cells: list[Cell] = [
        _calibration(calm, raw),
        _slices(
            judged.by_degree(evidence.degree[test], right),
            "degree",
            "By degree",
            "edges that end in the node",
        ),
        _slices(
            judged.by_homophily(evidence.homophily[test], right),
            "homophily",
            "By homophily",
            "labelled neighbours of the node's own class",
        ),
    ]
    return Section("trust", "When to trust it", [], cells)


def _calibration(calm: list[Share], raw: list[Share]) -> Exhibit:
    gap, before = judged.gap(calm), judged.gap(raw)
    caption = (
        "Test nodes in groups of equal size by the confidence of their prediction. On the dotted line a"
        f" model means what it says. The mean distance is {100 * gap:.1f} points, {100 * before:.1f} before"
        " temperature scaling on the validation nodes."
    )
    rows = [
        (name, one.middle, one.right, one.low, one.high, one.count)
        for name, bins in (("calibrated", calm), ("as trained", raw))
        for one in bins
    ]
    heads = ("", "confidence", "right", "from", "to", "nodes")
    table = Table("calibration", "Calibration", heads, rows, ("", ".4f", ".4f", ".4f", ".4f"))
    return Exhibit(trusting.calibration(calm, raw, gap), caption, table)


def _slices(shares: list[Share], name: str, title: str, across: str) -> Exhibit:
    rows = [(one.name, one.count, one.right, one.low, one.high) for one in shares]
    table = Table(name, title, (across, "nodes", "right", "from", "to"), rows, ("", ",", ".4f", ".4f", ".4f"))
    caption = "The share of test nodes that is right, with its 95% interval (Wilson)."
    return Exhibit(trusting.slices(shares, name, title, across), caption, table)


def landscape(story: Story) -> Section | None:
    """The map."""
    evidence = story.evidence
    if evidence is None or not np.ptp(evidence.position):
        return None
    mapped, total = len(evidence.mapped), len(evidence.node)
    lot = f"{mapped:,} of {total:,} judged nodes, drawn by lot from every class"
    caption = (
        f"{'All judged nodes' if mapped == total else lot}, by what the network knows of them before its last"
        " layer (t-SNE: near is alike, far says little). Ringed nodes are misclassified; point at them, or"
        " walk through them with the arrow keys."
    )
    wrong = evidence.mapped[~evidence.right[evidence.mapped]]
    cells: list[Cell] = [Exhibit(plane.draw(evidence), caption)]
    if len(wrong):
        cells.append(_wrong(story, wrong))
    return Section("map", "The nodes as the network sees them", [], cells)


LISTED = 15
"""Misclassified nodes in the table."""


def _wrong(story: Story, wrong: Array) -> Table:
    evidence = story.evidence
    assert evidence is not None
    ids = dict(zip(evidence.mapped.tolist(), evidence.about["ids"], strict=True))
    surest = sorted(wrong.tolist(), key=lambda entry: -float(evidence.confidence[entry]))[:LISTED]
    names = evidence.classes
    rows = [
        (
            ids[entry],
            names[evidence.target[entry]],
            names[evidence.predicted[entry]],
            float(evidence.confidence[entry]),
            int(evidence.degree[entry]),
        )
        for entry in surest
    ]
    heads = ("node", "class", "taken for", "confidence", "degree")
    return Table("wrong", "The surest mistakes on the map", heads, rows, ("", "", "", ".3f"))
