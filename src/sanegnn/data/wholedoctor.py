"""What a careful colleague would say about graphs with a label each before training on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from sanegnn.data import measures
from sanegnn.data.doctor import Finding, Level
from sanegnn.data.splits import PARTS, Split
from sanegnn.data.wholegraphs import WholeGraphs

Words = npt.NDArray[np.uint64]


def examine_wholes(data: WholeGraphs, split: Split | None) -> tuple[Finding, ...]:
    """All findings on the graphs and, where they have labels, on a split of them, the gravest first."""
    found = [finding for check in CHECKS for finding in check(data)]
    if split is not None:
        found += [finding for check in SPLIT_CHECKS for finding in check(data, split)]
    order = ("error", "warn", "info")
    return tuple(sorted(found, key=lambda finding: order.index(finding.level)))


def _sizes(data: WholeGraphs) -> Iterator[Finding]:
    sentence = (
        f"{len(data):,} graphs of {data.sizes.min():,} to {data.sizes.max():,} nodes, "
        f"{data.sizes.mean():.1f} on average; {data.num_edges:,} edges in all."
    )
    yield Finding("info", "sizes", sentence)
    joined = np.unique(data.graph[data.edges[0]])
    if len(joined) < len(data):
        yield Finding("warn", "edgeless", f"{len(data) - len(joined):,} graphs have no edge.")
    if data.directed:
        yield Finding(
            "warn", "directed",
            "Some edges have no reverse; messages flow along the edges only. undirected() adds the reverses.",
        )  # fmt: skip


def _features(data: WholeGraphs) -> Iterator[Finding]:
    for note in data.notes:
        if "directed" not in note:
            yield Finding("info", "cleaned", f"{note}.")
    constant = int(measures.constant_columns(data.x).sum())
    if constant:
        sentence = f"{constant} of {data.num_features:,} feature columns are constant and tell nothing."
        yield Finding("warn", "constant-columns", sentence)
    values = measures.stored(data.x)
    if len(values) and np.abs(values).max() > 1e3:
        yield Finding("warn", "scale", f"Features reach {np.abs(values).max():.3g}; standardise them.")


def _labels(data: WholeGraphs) -> Iterator[Finding]:
    bare = len(data) - len(data.known)
    if bare:
        level: Level = "info" if len(data.known) else "error"
        yield Finding(level, "unlabelled", f"{bare:,} of {len(data):,} graphs have no label.")
    known = data.y[data.known]
    if not data.classes:
        if len(known):
            told = f"from {known.min():.4g} to {known.max():.4g}, deviation {known.std():.4g}"
            yield Finding("info", "numbers", f"The label is a number, {told}.")
            if not known.std():
                yield Finding("error", "one-number", "All labels are the same number: nothing is to be told.")
        return
    counts = np.bincount(known, minlength=len(data.classes))
    told = ", ".join(f"{count:,} {name}" for name, count in zip(data.classes, counts, strict=True))
    yield Finding("info", "classes", f"{len(data.classes)} classes: {told}.")
    if len(known) and np.count_nonzero(counts) < 2:
        yield Finding("error", "one-class", "All labels are of one class, so there is nothing to tell apart.")
    share = counts.max() / max(1, counts.sum())
    if share > 0.75 and data.metric == "accuracy":
        sentence = (
            f"{share:.0%} of the labels are alike, so always saying that is right as often: judge by roc_auc."
        )
        yield Finding("warn", "imbalance", sentence)


def _sizes_tell(data: WholeGraphs) -> Iterator[Finding]:
    """A label that goes with the number of nodes needs no graph."""
    known, sizes = data.known, np.log(data.sizes[data.known])
    y = data.y[known].astype(np.float64)
    if len(data.classes) in (0, 2) and len(known) > 2 and y.std() and sizes.std():
        found = abs(float(np.corrcoef(sizes, y)[0, 1]))
        if found > 0.5:
            sentence = (
                f"The label goes with the number of nodes (correlation {found:.2f} with its logarithm)."
            )
            yield Finding("warn", "size-tells", sentence)


def _coverage(data: WholeGraphs, split: Split) -> Iterator[Finding]:
    for part in PARTS:
        chosen = getattr(split, part)
        absent = set(range(len(data.classes))) - set(data.y[chosen].tolist())
        if absent:
            level: Level = "error" if part == "train" else "warn"
            names = ", ".join(data.classes[place] for place in sorted(absent))
            sentence = f"Split {split.name!r}: {part} has no graph of class {names}."
            yield Finding(level, f"missing-in-{part}", sentence)


def _leakage(data: WholeGraphs, split: Split) -> Iterator[Finding]:
    """Graphs that training has seen, whatever the order of their nodes."""
    keys = alike(data)
    for part in ("val", "test"):
        ids = getattr(split, part)
        seen = int(np.isin(keys[ids], keys[split.train]).sum())
        if seen:
            level: Level = "warn" if seen > 0.1 * len(ids) else "info"
            sentence = f"{seen:,} of {len(ids):,} {part} graphs look the same as one of training."
            yield Finding(level, f"same-graph-in-{part}", sentence)


def alike(data: WholeGraphs, rounds: int = 3) -> Words:
    """A number for each graph (G,), equal where so many rounds of Weisfeiler and Leman tell none apart."""
    colour = np.unique(measures.row_keys(data.x), return_inverse=True)[1].reshape(-1).astype(np.uint64)
    source, target = data.edges
    for _ in range(rounds):
        heard = np.zeros_like(colour)
        np.add.at(heard, target, _mixed(colour)[source])
        colour = _mixed(colour * np.uint64(3) + heard)
    total = np.zeros(len(data), dtype=np.uint64)
    np.add.at(total, data.graph, _mixed(colour))
    return total


def _mixed(word: Words) -> Words:
    """The words (n,) with their bits mixed: the finaliser of SplitMix64."""
    word = word + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Words = word ^ (word >> np.uint64(31))
    return mixed


CHECKS: tuple[Callable[[WholeGraphs], Iterator[Finding]], ...] = (_sizes, _features, _labels, _sizes_tell)
SPLIT_CHECKS: tuple[Callable[[WholeGraphs, Split], Iterator[Finding]], ...] = (_coverage, _leakage)
