"""What a careful colleague would say about two knowledge graphs before aligning them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sanegnn.data.base import Ids
from sanegnn.data.doctor import Finding, Level, share
from sanegnn.data.knowledge import KnowledgePair
from sanegnn.data.splits import PARTS, Split


def examine_pair(pair: KnowledgePair, split: Split) -> tuple[Finding, ...]:
    """All findings on a pair and a split of its links, the gravest first."""
    found = [finding for check in PAIR_CHECKS for finding in check(pair)]
    found += [finding for check in SPLIT_CHECKS for finding in check(pair, split)]
    order = ("error", "warn", "info")
    return tuple(sorted(found, key=lambda finding: order.index(finding.level)))


def _notes(pair: KnowledgePair) -> Iterator[Finding]:
    for note in pair.notes:
        yield Finding("info", "cleaned", f"{note}.")


def _sides(pair: KnowledgePair) -> tuple[Ids, Ids]:
    """The entities of the first graph, and of the second."""
    everybody = np.arange(pair.num_entities)
    return everybody[: pair.first], everybody[pair.first :]


def _sizes(pair: KnowledgePair) -> Iterator[Finding]:
    for graph, side in enumerate(_sides(pair), start=1):
        held = np.isin(pair.triples[0], side)
        told = f"Graph {graph}: {len(side):,} entities, {held.sum():,} triples of "
        yield Finding("info", "sizes", f"{told}{len(np.unique(pair.triples[1, held])):,} relations.")


def _silent(pair: KnowledgePair) -> Iterator[Finding]:
    """Entities of which no triple tells; a linked one can only be guessed."""
    told = np.zeros(pair.num_entities, dtype=bool)
    told[pair.triples[[0, 2]].ravel()] = True
    silent = np.flatnonzero(~told)
    if not len(silent):
        return
    linked = np.isin(silent, pair.links).sum()
    example = pair.entities[silent[0]]
    sentence = (
        f"{share(len(silent), pair.num_entities)} entities have no triple, {str(example)!r} for one; "
        f"{linked:,} of them are linked, and nothing but attributes tells of these."
    )
    level: Level = "warn" if linked or len(silent) > 0.1 * pair.num_entities else "info"
    yield Finding(level, "no-triples", sentence)


def _relations(pair: KnowledgePair) -> Iterator[Finding]:
    first = np.isin(pair.triples[0], _sides(pair)[0])
    shared = np.intersect1d(pair.triples[1, first], pair.triples[1, ~first])
    sentence = f"{len(shared):,} of {len(pair.relations):,} relations are in both graphs."
    yield Finding("info", "shared-relations", sentence)


def _attributes(pair: KnowledgePair) -> Iterator[Finding]:
    if not pair.attributes.nnz:
        yield Finding("info", "no-attributes", "No attributes came: entities are aligned by structure alone.")
        return
    counts = np.diff(pair.attributes.indptr)
    for graph, side in enumerate(_sides(pair), start=1):
        kinds = len(np.unique(pair.attributes[side].indices))
        sentence = (
            f"Graph {graph}: {share(int((counts[side] > 0).sum()), len(side))} entities have attributes, "
        )
        yield Finding("info", "attributes", f"{sentence}of {kinds:,} kinds.")
    first, second = (set(pair.attributes[side].indices.tolist()) for side in _sides(pair))
    if not first & second:
        sentence = "No attribute is in both graphs by its name, so that attributes say little of links."
        yield Finding("warn", "unshared-attributes", sentence)


def _links(pair: KnowledgePair, split: Split) -> Iterator[Finding]:
    sizes = ", ".join(f"{len(getattr(split, part)):,} {part}" for part in PARTS)
    yield Finding("info", "links", f"{pair.num_links:,} links, one to one: {sizes} by split {split.name!r}.")
    if len(split.train) < 100:
        sentence = f"{len(split.train)} links to learn from are few; alignment spreads from them."
        yield Finding("warn", "few-links", sentence)


def _reached(pair: KnowledgePair, split: Split) -> Iterator[Finding]:
    """Test entities none of whose neighbours within two steps is linked in training get no anchor."""
    near = np.zeros(pair.num_entities, dtype=bool)
    near[pair.links[:, split.train].ravel()] = True
    heads, _, tails = pair.triples
    for _ in range(2):
        wider = near.copy()
        wider[tails[near[heads]]] = True
        wider[heads[near[tails]]] = True
        near = wider
    far = int((~near[pair.links[:, split.test]]).any(0).sum())
    if far:
        level: Level = "warn" if far > 0.1 * len(split.test) else "info"
        sentence = (
            f"{share(far, len(split.test))} test links have an end with no training link within two steps."
        )
        yield Finding(level, "out-of-reach", sentence)


PAIR_CHECKS: tuple[Callable[[KnowledgePair], Iterator[Finding]], ...] = (
    _notes,
    _sizes,
    _silent,
    _relations,
    _attributes,
)
SPLIT_CHECKS: tuple[Callable[[KnowledgePair, Split], Iterator[Finding]], ...] = (_links, _reached)
