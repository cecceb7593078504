"""What a careful colleague would say about many graphs before training on some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sanegnn.data import measures
from sanegnn.data.doctor import Finding, Level
from sanegnn.data.graphset import GraphSet, features_of
from sanegnn.data.splits import PARTS, Split


def examine_set(data: GraphSet, split: Split) -> tuple[Finding, ...]:
    """All findings on a set and a split of it, the gravest first."""
    found = [finding for check in CHECKS for finding in check(data, split)]
    order = ("error", "warn", "info")
    return tuple(sorted(found, key=lambda finding: order.index(finding.level)))


def _sizes(data: GraphSet, split: Split) -> Iterator[Finding]:
    nodes = [one.num_nodes for one in data.graphs]
    edges = sum(one.num_edges for one in data.graphs)
    parts = ", ".join(f"{len(getattr(split, part))} {part}" for part in PARTS)
    sentence = (
        f"{len(nodes)} graphs ({parts}) of {min(nodes):,} to {max(nodes):,} nodes, "
        f"{sum(nodes):,} nodes and {edges:,} edges in all."
    )
    yield Finding("info", "sizes", sentence)


def _direction(data: GraphSet, _split: Split) -> Iterator[Finding]:
    directed = sum(one.directed for one in data.graphs)
    if directed:
        sentence = f"{directed} graphs have edges without a reverse; messages flow along the edges only."
        yield Finding("warn", "directed", sentence)


def _features(data: GraphSet, split: Split) -> Iterator[Finding]:
    x = features_of([data.graphs[place] for place in split.train])
    constant = int(measures.constant_columns(x).sum())
    if constant:
        sentence = f"{constant} of {data.num_features:,} feature columns are constant in training."
        yield Finding("warn", "constant-columns", sentence)


def _labels(data: GraphSet, split: Split) -> Iterator[Finding]:
    """Labels or classes that a part lacks."""
    for part in PARTS:
        graphs = [data.graphs[place] for place in getattr(split, part)]
        y = np.concatenate([one.y for one in graphs])
        held = y.sum(0) if data.several else np.bincount(y[y >= 0], minlength=data.num_classes)
        missing = [name for name, count in zip(data.classes, held, strict=True) if not count]
        if missing:
            level: Level = "error" if part == "train" else "warn"
            what = "with label" if data.several else "of class"
            some = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
            yield Finding(
                level, f"missing-in-{part}", f"Split {split.name!r}: {part} has no node {what} {some}."
            )
    if data.several:
        share = np.concatenate([one.y for one in data.graphs]).mean()
        sentence = (
            f"{data.num_classes} labels, of which a node has {share * data.num_classes:.1f} on average."
        )
        yield Finding("info", "labels", sentence)


def _leakage(data: GraphSet, split: Split) -> Iterator[Finding]:
    """Graphs, or nodes with all their features, that training has seen."""
    known = {data.graphs[place].checksum: data.graphs[place].name for place in split.train}
    rows = measures.row_keys(features_of([data.graphs[place] for place in split.train]))
    for part in ("val", "test"):
        for place in getattr(split, part).tolist():
            one = data.graphs[place]
            if one.checksum in known:
                sentence = f"{one.name} in {part} is the same graph as {known[one.checksum]} in train."
                yield Finding("error", f"same-graph-in-{part}", sentence)
        keys = measures.row_keys(features_of([data.graphs[place] for place in getattr(split, part)]))
        seen = int(np.isin(keys, rows).sum())
        if seen > 0.01 * len(keys):
            sentence = f"{seen:,} of {len(keys):,} {part} nodes have the features of a training node."
            yield Finding("warn", f"same-features-in-{part}", sentence)


CHECKS: tuple[Callable[[GraphSet, Split], Iterator[Finding]], ...] = (
    _sizes,
    _direction,
    _features,
    _labels,
    _leakage,
)
