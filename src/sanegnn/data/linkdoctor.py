"""What a careful colleague would say about a graph before its links are predicted."""

from __future__ import annotations

import numpy as np

from sanegnn.data.base import GraphData
from sanegnn.data.checks import STAND_IN
from sanegnn.data.doctor import Finding, Level, examine
from sanegnn.data.pairs import keys_of, split_pairs


def examine_links(data: GraphData, split: str) -> tuple[Finding, ...]:
    """What is said of the graph itself, but for labels, and of its pairs, the gravest first."""
    about_labels = ("unlabelled", "one-class", "classes", "small-class", "imbalance", "homophily")
    found = [finding for finding in examine(data) if finding.code not in about_labels]
    found += _pairs(data, split)
    order = ("error", "warn", "info")
    return tuple(sorted(found, key=lambda finding: order.index(finding.level)))


def _pairs(data: GraphData, split: str) -> list[Finding]:
    parts = split_pairs(data, split)
    val, test = parts.val.joined.shape[1], parts.test.joined.shape[1]
    sentence = (
        f"{parts.train.shape[1]:,} joined pairs to train on, {val:,} for validation, {test:,} for test."
    )
    found = [Finding("info", "pairs", sentence)]
    reached = np.zeros(data.num_nodes, dtype=bool)
    reached[parts.edges.ravel()] = True
    alone = int((~reached).sum())
    if alone:
        level: Level = "warn" if alone > 0.1 * data.num_nodes else "info"
        sentence = f"{alone:,} nodes have no edge left in training: only their own features tell of them."
        found.append(Finding(level, "isolated-in-train", sentence))
    if data.directed:
        both = data.num_edges - len(np.unique(keys_of(data.edges, data.num_nodes)))
        sentence = (
            f"A link has no direction here; {both:,} pairs are joined in both directions and count once."
        )
        found.append(Finding("warn", "undirected-links", sentence))
    if STAND_IN in data.notes:
        sentence = "Degrees stand in for features; they are counted over the edges of training alone."
        found.append(Finding("info", "degrees-of-train", sentence))
    return found
