"""Two knowledge graphs and the links between them, as one graph with two parts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sanegnn.data.base import Ids, Weights
from sanegnn.data.splits import PARTS, Split
from sanegnn.errors import BadSplit
from sanegnn.seeds import generator

SHARES = (0.3, 0.1)
"""Of the links, for training and for validation; the rest is for the test."""
FEWEST = 10
"""With fewer links some part would be empty."""


@dataclass(frozen=True, eq=False)
class KnowledgePair:
    """The entities of two knowledge graphs, what is said of them, and which of them are the same.

    Entities go by their place: 0 … N₁ - 1 in the first graph, N₁ … N - 1 in the second.

    Args:
        name: what scores and errors call it.
        entities: what they are called (N,).
        first: N₁, how many of them are in the first graph.
        triples: heads, relations and tails (3, T); none twice.
        relations: what the relations are called (R,).
        attributes: which entity has which attribute (N, A), CSR of ones.
        attribute_names: what the attributes are called, the most frequent first.
        links: entities of the first graph above their equals in the second (2, L); one to one.
        splits: splits of the links of its own, by name.
        metric: the name of the score by which it is judged.
        notes: what was found and cleaned on the way in.
    """

    task: ClassVar[str] = "alignment"
    usual_splits: ClassVar[tuple[str, ...]] = ("0",)

    name: str
    entities: npt.NDArray[Any]
    first: int
    triples: Ids
    relations: npt.NDArray[Any]
    attributes: sp.csr_array
    attribute_names: tuple[str, ...]
    links: Ids
    splits: Mapping[str, Split] = field(default_factory=dict)
    metric: str = "hits@1"
    notes: tuple[str, ...] = ()

    @property
    def num_entities(self) -> int:
        """N."""
        return len(self.entities)

    @property
    def num_links(self) -> int:
        """L."""
        return int(self.links.shape[1])

    def named(self, name: str, **details: Any) -> KnowledgePair:
        """The same under another name."""
        return replace(self, name=name, **details)

    def undirected(self) -> KnowledgePair:
        """The same: messages flow both ways along a triple."""
        return self

    def frequent(self, count: int) -> sp.csr_array:
        """The `count` most frequent attributes of every entity (N, count)."""
        return sp.csr_array(self.attributes[:, :count])

    @cached_property
    def checksum(self) -> str:
        """SHA-256 over entities, triples, attributes, links and splits."""
        digest = hashlib.sha256()
        numbers: list[Any] = [self.triples, self.links, self.attributes.indptr, self.attributes.indices]
        for key, split in sorted(self.splits.items()):
            digest.update(key.encode())
            numbers += [getattr(split, part) for part in PARTS]
        for array in numbers:
            digest.update(f"{array.shape};".encode())
            digest.update(np.ascontiguousarray(array, dtype="<i8").data)
        names = (self.first, self.entities.tolist(), self.relations.tolist(), self.attribute_names)
        digest.update(repr((*names, self.metric)).encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        sizes = f"{self.first:,} + {self.num_entities - self.first:,} entities"
        told = f"{self.triples.shape[1]:,} triples, {self.num_links:,} links"
        return f"KnowledgePair({self.name!r}, {sizes}, {told})"


def link_split(pair: KnowledgePair, text: str) -> Split:
    """The split of the links that a text names: one of the pair's own, or a seed for 30/10/60."""
    if text in pair.splits:
        return pair.splits[text]
    if not text.isdigit():
        known = f"its own are {', '.join(pair.splits)}" if pair.splits else "it has no split of its own"
        raise BadSplit(f"{pair.name} has no split {text!r}; {known}; a seed such as 0 makes a 30/10/60 split")
    if pair.num_links < FEWEST:
        raise BadSplit(
            f"{pair.name} has {pair.num_links} links; a 30/10/60 split needs {FEWEST}: link more entities"
        )
    order = generator(int(text), "links").permutation(pair.num_links)
    ends = np.rint(np.cumsum(SHARES) * pair.num_links).astype(np.int64)
    train, val, test = np.split(order, ends)
    return Split(f"30/10/60 seed {text}", np.sort(train), np.sort(val), np.sort(test))


def functionality(triples: Ids) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """How nearly every relation is a function of the head, and of the tail (R,) each.

        fun(r) = heads of r / triples of r        ifun(r) = tails of r / triples of r

    (Wang et al.: GCN-Align, EMNLP 2018.) 1 means that no head, or no tail, comes twice; a relation without
    triples has 0.
    """
    heads, relations, tails = triples
    count = int(relations.max(initial=-1)) + 1
    per_relation = np.maximum(np.bincount(relations, minlength=count), 1)

    def different(ends: Ids) -> npt.NDArray[np.float64]:
        pairs = np.unique(np.stack([relations, ends]), axis=1)
        shares: npt.NDArray[np.float64] = np.bincount(pairs[0], minlength=count) / per_relation
        return shares

    return different(heads), different(tails)


def weighted_edges(triples: Ids) -> tuple[Ids, Weights]:
    """Messages both ways along every triple, (2, E) source over target, and their weights (E,).

    For (h, r, t) the head hears of the tail with √ifun(r), for a tail that few heads share says much of its
    head, and the tail hears of the head with √fun(r). What several triples send along an edge adds up. The
    roots are those of the released code; the paper has none.
    """
    heads, relations, tails = triples
    fun, ifun = functionality(triples)
    edges = np.stack([np.concatenate([tails, heads]), np.concatenate([heads, tails])])
    weight = np.sqrt(np.concatenate([ifun[relations], fun[relations]]))
    proper = edges[0] != edges[1]
    nodes = int(edges.max(initial=-1)) + 1
    adjacency = sp.coo_array((weight[proper], (edges[0][proper], edges[1][proper])), shape=(nodes, nodes))
    summed = adjacency.tocsr().tocoo()
    return np.stack([summed.row, summed.col]).astype(np.int64), summed.data.astype(np.float32)
