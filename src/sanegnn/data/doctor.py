"""What a careful colleague would say about a graph before training on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sanegnn.data import measures
from sanegnn.data.base import GraphData, Ids
from sanegnn.data.splits import PARTS, Split

Level = Literal["info", "warn", "error"]


@dataclass(frozen=True)
class Finding:
    """One observation: how grave it is, a code for machines, a sentence for people."""

    level: Level
    code: str
    sentence: str


def examine(data: GraphData, split: Split | None = None) -> tuple[Finding, ...]:
    """All findings on a graph and, when it is given, on a split of it, the gravest first."""
    found = [finding for check in GRAPH_CHECKS for finding in check(data)]
    if split is not None:
        found += [finding for check in SPLIT_CHECKS for finding in check(data, split)]
    order = ("error", "warn", "info")
    return tuple(sorted(found, key=lambda finding: order.index(finding.level)))


def share(part: int, whole: int) -> str:
    """Part and whole with their percentage, in words."""
    return f"{part:,} of {whole:,} ({part / max(1, whole):.1%})"


def _notes(data: GraphData) -> Iterator[Finding]:
    said = ("the graph is directed", "isolated node", "a label")
    for note in data.notes:
        if not any(words in note for words in said):
            yield Finding("info", "cleaned", f"{note}.")


def _direction(data: GraphData) -> Iterator[Finding]:
    if data.directed:
        yield Finding(
            "warn", "directed",
            "Some edges have no reverse; messages flow along the edges only. undirected() adds the reverses.",
        )  # fmt: skip
    else:
        yield Finding("info", "undirected", "Every edge is there in both directions.")


def _connection(data: GraphData) -> Iterator[Finding]:
    alone = len(measures.isolated(data))
    if alone:
        level: Level = "warn" if alone > 0.1 * data.num_nodes else "info"
        sentence = f"{share(alone, data.num_nodes)} nodes are isolated: only their own features tell of them."
        yield Finding(level, "isolated", sentence)
    sizes = measures.components(data)
    if len(sizes) > 1:
        largest = share(int(sizes[0]), data.num_nodes)
        sentence = f"The graph falls into {len(sizes):,} components; the largest has {largest} nodes."
        yield Finding("info", "components", sentence)


def _degrees(data: GraphData) -> Iterator[Finding]:
    degree = measures.degrees(data)
    mean, top = degree.mean(), int(degree.max())
    sentence = f"In-degree: mean {mean:.1f}, median {np.median(degree):.0f}, largest {top:,}."
    yield Finding("info", "degrees", sentence)
    if top > 500 and top > 20 * mean:
        sentence = (
            f"Node {degree.argmax()} collects {top:,} messages, {top / mean:.0f} times the mean; "
            "sums over such neighbourhoods may not train."
        )
        yield Finding("warn", "hubs", sentence)


def _features(data: GraphData) -> Iterator[Finding]:
    values = measures.stored(data.x)
    density = len(values) / (data.num_nodes * data.num_features)
    size = np.abs(values)
    scale = f"; their size is {size.mean():.3g} on average, at most {size.max():.3g}" if len(size) else ""
    yield Finding(
        "info", "features", f"{density:.1%} of the {data.num_features:,} features are not zero{scale}."
    )
    if len(size) and size.max() > 1e3:
        yield Finding("warn", "scale", f"Features reach {size.max():.3g}; standardise them.")
    empty = int(measures.zero_rows(data.x).sum())
    if empty:
        level: Level = "warn" if empty > 0.1 * data.num_nodes else "info"
        yield Finding(level, "zero-rows", f"{share(empty, data.num_nodes)} nodes have no feature but zeros.")


def _columns(data: GraphData) -> Iterator[Finding]:
    constant = measures.constant_columns(data.x)
    if constant.any():
        sentence = (
            f"{share(int(constant.sum()), data.num_features)} feature columns are constant and tell nothing."
        )
        yield Finding("warn", "constant-columns", sentence)
    keys = measures.row_keys(measures.columns(data.x))[~constant]
    again = len(keys) - len(np.unique(keys))
    if again:
        sentence = f"{share(again, data.num_features)} feature columns repeat another column."
        yield Finding("warn", "duplicate-columns", sentence)


def _rows(data: GraphData) -> Iterator[Finding]:
    keys = measures.row_keys(data.x)[~measures.zero_rows(data.x)]
    distinct = len(np.unique(keys))
    if distinct < len(keys):
        sentence = f"{len(keys):,} nodes with features share {distinct:,} distinct rows."
        yield Finding("info", "identical-rows", sentence)


def _labels(data: GraphData) -> Iterator[Finding]:
    known = data.y[data.y >= 0]
    if len(known) < data.num_nodes:
        sentence = f"{share(data.num_nodes - len(known), data.num_nodes)} nodes have no label."
        yield Finding("info" if len(known) else "error", "unlabelled", sentence)
    counts = np.bincount(known, minlength=data.num_classes)
    if len(known) and np.count_nonzero(counts) < 2:
        yield Finding("error", "one-class", "All labels are of one class, so there is nothing to tell apart.")
    if len(known):
        yield from _balance(data, counts)


def _balance(data: GraphData, counts: Ids) -> Iterator[Finding]:
    most, least = int(counts.argmax()), int(counts.argmin())
    top, low = int(counts[most]), int(counts[least])
    sentence = (
        f"{data.num_classes} classes, from {low:,} nodes ({data.classes[least]}) "
        f"to {top:,} ({data.classes[most]})."
    )
    yield Finding("info", "classes", sentence)
    if low < 5:
        sentence = f"Class {data.classes[least]!r} has {low} nodes; a stratified split needs 5."
        yield Finding("warn", "small-class", sentence)
    share = top / counts.sum()
    if share > 0.75 and data.metric == "accuracy":
        sentence = (
            f"{share:.0%} of the labels are {data.classes[most]!r}, so always saying that is right as often; "
            "judge by roc_auc, macro_f1 or balanced_accuracy."
        )
        yield Finding("warn", "imbalance", sentence)


def _homophily(data: GraphData) -> Iterator[Finding]:
    found = measures.homophily(data)
    if found is not None:
        sentence = (
            f"{found.edge:.1%} of the edges join nodes of one class; "
            f"adjusted for chance {found.adjusted:.2f} (0: edges ignore classes, 1: never leave one)."
        )
        yield Finding("info", "homophily", sentence)


def _coverage(data: GraphData, split: Split) -> Iterator[Finding]:
    for part in PARTS:
        held = np.bincount(data.y[getattr(split, part)], minlength=data.num_classes)
        missing = [name for name, count in zip(data.classes, held, strict=True) if not count]
        if missing:
            level: Level = "error" if part == "train" else "warn"
            sentence = f"Split {split.name!r}: {part} has no node of class {', '.join(missing)}."
            yield Finding(level, f"missing-in-{part}", sentence)


def _leakage(data: GraphData, split: Split) -> Iterator[Finding]:
    """Twins in training and test tell their label twice; without features, equal rows say nothing."""
    told = ~measures.zero_rows(data.x)
    features = measures.groups(measures.row_keys(data.x))
    kinds: tuple[tuple[str, Ids, str], ...] = (("twins", measures.twins(data), "features and neighbours"),)
    if len(np.unique(features)) > data.num_nodes / 2:
        kinds += (("same-features", features, "features"),)
    for code, group, words in kinds:
        for part in ("val", "test"):
            ids = getattr(split, part)
            seen = int((np.isin(group[ids], group[split.train]) & told[ids]).sum())
            if seen:
                level: Level = "warn" if seen > 0.01 * len(ids) else "info"
                sentence = f"{share(seen, len(ids))} {part} nodes have the {words} of a training node."
                yield Finding(level, f"{code}-in-{part}", sentence)


GRAPH_CHECKS: tuple[Callable[[GraphData], Iterator[Finding]], ...] = (
    _notes,
    _direction,
    _connection,
    _degrees,
    _features,
    _columns,
    _rows,
    _labels,
    _homophily,
)
SPLIT_CHECKS: tuple[Callable[[GraphData, Split], Iterator[Finding]], ...] = (_coverage, _leakage)
