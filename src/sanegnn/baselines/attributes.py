"""Which entities are alike by their attributes: the attribute embedding of JAPE.

Attributes that entities have together are correlated; so are the attributes of the two ends of a training
link. A skip-gram with negative samples learns vectors of attributes from such pairs,

    loss = mean over pairs (a, b) of  -log σ(x_a · y_b + c_b) - Σ_(sampled a') log σ(-x_a · y_a' - c_a')

an entity is the mean of its attributes' vectors, and alike are those whose cosine passes a bound. (Sun, Hu,
Li: JAPE, ISWC 2017. There a pair counts twice where the values of both attributes are of one type; values
are not in the files.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import normalize, softplus

from sanegnn.data.base import Ids
from sanegnn.seeds import derive, generator

LINK_SHARE = 0.5
"""Of the pairs, those across a training link."""
BLOCK = 1024


@dataclass(frozen=True)
class SkipGram:
    """The training of the attributes' vectors: their width, and the steps of Adagrad.

    A step has `batch` pairs, and `negatives` attributes that are sampled against all of them.
    """

    width: int = 100
    steps: int = 2000
    batch: int = 1000
    negatives: int = 200
    lr: float = 0.1


class Pairs:
    """Draws pairs of correlated attributes."""

    def __init__(self, attributes: sp.csr_array, links: Ids) -> None:
        self.ptr, self.held = attributes.indptr.astype(np.int64), attributes.indices.astype(np.int64)
        sizes = np.diff(self.ptr)
        self.own = _odds(sizes * (sizes - 1))
        self.links, self.across = links, _odds(sizes[links[0]] * sizes[links[1]])
        self.linked = LINK_SHARE if links.size and sizes[links].all(0).any() else 0.0

    def draw(self, count: int, rng: np.random.Generator) -> Ids:
        """Pairs (2, at most count): those of an attribute with itself are left out."""
        across = int(rng.binomial(count, self.linked))
        entities = rng.choice(self.own.size, count - across, p=self.own)
        ends = np.stack([entities, entities])
        if across:
            ends = np.concatenate(
                [ends, self.links[:, rng.choice(self.across.size, across, p=self.across)]], 1
            )
        ends = np.where(rng.random(ends.shape[1]) < 0.5, ends, ends[::-1])
        begin, size = self.ptr[ends], self.ptr[ends + 1] - self.ptr[ends]
        pairs: Ids = self.held[begin + (rng.random(ends.shape) * size).astype(np.int64)]
        return pairs[:, pairs[0] != pairs[1]]


def _odds(load: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    shares: npt.NDArray[np.float64] = load / max(load.sum(), 1)
    return shares


def attribute_vectors(attributes: sp.csr_array, links: Ids, settings: SkipGram, seed: int) -> Tensor:
    """The vector of every attribute (A, width), each of length 1."""
    count = attributes.shape[1]
    stream = torch.Generator().manual_seed(derive(seed, "vectors"))
    tables = [torch.randn(count, settings.width, generator=stream) / settings.width**0.5 for _ in range(2)]
    inner, outer = (table.requires_grad_() for table in tables)
    shift = torch.zeros(count, requires_grad=True)
    pairs = Pairs(attributes, links)
    adagrad = torch.optim.Adagrad([inner, outer, shift], lr=settings.lr)
    for step in range(settings.steps if pairs.own.any() else 0):
        rng = generator(seed, "pairs", step)
        told, beside = torch.as_tensor(pairs.draw(settings.batch, rng))
        others = torch.as_tensor(rng.integers(0, count, settings.negatives))
        x = normalize(inner)[told]
        true = (x * outer[beside]).sum(1) + shift[beside]
        false = x @ outer[others].T + shift[others]
        adagrad.zero_grad()
        (softplus(-true) + softplus(false).sum(1)).mean().backward()  # type: ignore[no-untyped-call]
        adagrad.step()
    return normalize(inner.detach())


def entity_vectors(attributes: sp.csr_array, vectors: Tensor) -> npt.NDArray[np.float32]:
    """The mean of the vectors of an entity's attributes, of length 1; zeros for who has fewer than two."""
    enough = np.diff(attributes.indptr) >= 2
    told = torch.as_tensor(attributes @ vectors.numpy() * enough[:, None])
    means: npt.NDArray[np.float32] = normalize(told).numpy().astype(np.float32)
    return means


def alike(
    left: npt.NDArray[np.float32], right: npt.NDArray[np.float32], bound: float, most: int
) -> sp.csr_array:
    """The cosines that reach the bound, at most the `most` largest of each row, (A, B)."""
    rows, columns, values = [], [], []
    for begin in range(0, left.shape[0], BLOCK):
        cosines = torch.as_tensor(left[begin : begin + BLOCK] @ right.T)
        best = cosines.topk(min(most, right.shape[0]), dim=1)
        kept = best.values >= bound
        rows.append(begin + kept.nonzero()[:, 0].numpy())
        columns.append(best.indices[kept].numpy())
        values.append(best.values[kept].numpy())
    places = np.concatenate(rows), np.concatenate(columns)
    return sp.csr_array((np.concatenate(values), places), shape=(left.shape[0], right.shape[0]))
