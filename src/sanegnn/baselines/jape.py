"""JAPE: translations over the overlaid graph, drawn together where attributes are alike.

    structure     Σ_triples |h + r - t|²  -  α Σ_false triples |h' + r - t'|²
    similarity    δ ( Σ |e - norm(S₁₂ e)|²  +  ε Σ |e - norm(S₁ e)|²  +  ε Σ |e - norm(S₂ e)|² )

All vectors have length 1, and the two ends of a training link are one entity. A false triple has another head
or tail from the same graph. The rows of S are the similarities of entities by attributes, and sum to one;
in S₁₂ the pairs that training links point to by the same number of steps weigh more. Epochs of structure and
of similarity take turns. (Sun, Hu, Li: JAPE, ISWC 2017, in the variant without what was translated or aligned
beforehand.)
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from sanegnn.baselines.aligner import Aligner
from sanegnn.baselines.attributes import SkipGram, alike, attribute_vectors, entity_vectors
from sanegnn.baselines.contender import contenders
from sanegnn.data.base import Ids
from sanegnn.nets import Inputs
from sanegnn.seeds import Noise, derive, generator
from sanegnn.settings import Knobs, Training, Within, knob
from sanegnn.tasks.alignment import AlignmentSearch, ReadyAlignment
from sanegnn.training import Trained, evaluate
from sanegnn.training.loop import Best


@dataclass(frozen=True)
class JapeKnobs(Knobs):
    """The constants of the released code."""

    width: Annotated[int, knob("width of the vectors"), Within(1, 4096)] = 75
    lr: Annotated[float, knob("Adagrad's learning rate"), Within(1e-7, 1)] = 0.01
    batch: Annotated[int, knob("triples of a step"), Within(1)] = 10_000
    epochs: Annotated[int, knob("epochs of structure; as many of similarity between them"), Within(1)] = 250
    look: Annotated[int, knob("epochs between two looks at the validation links"), Within(1)] = 10
    alpha: Annotated[float, knob("α, the weight of false triples"), Within(0)] = 0.1
    delta: Annotated[float, knob("δ, the weight of the similarities; 0: structure alone"), Within(0)] = 0.05
    epsilon: Annotated[float, knob("ε, the weight of those inside a graph"), Within(0)] = 0.05
    inside: Annotated[float, knob("least cosine inside a graph"), Within(-1, 1)] = 0.95
    between: Annotated[float, knob("least cosine between the graphs"), Within(-1, 1)] = 0.9
    most: Annotated[int, knob("similar entities of an entity at most"), Within(1)] = 50
    steps: Annotated[int, knob("steps of the skip-gram over attributes"), Within(1)] = 2000
    pairs: Annotated[int, knob("pairs of attributes of a step"), Within(1)] = 1000


class JapeNet(nn.Module):
    """Vectors of entities and relations; linked entities share one."""

    def __init__(self, task: AlignmentSearch, width: int, seed: int) -> None:
        super().__init__()
        stream = torch.Generator().manual_seed(seed)
        sizes = task.entities, int(task.triples[1].max()) + 1
        self.entities, self.relations = (
            nn.Parameter(torch.randn(size, width, generator=stream) / width**0.5) for size in sizes
        )
        shared = np.arange(task.entities)
        shared[task.train.links[1]] = task.train.links[0]
        self.shared = torch.as_tensor(shared)
        self.views = task.views

    def vectors(self) -> Tensor:
        """Of all entities (N, D)."""
        return normalize(self.entities)[self.shared.to(self.entities.device)]

    def forward(self, inputs: Inputs, noise: Noise | None = None) -> Tensor:
        """The vectors of the asked entities, and zeros in the view of the attributes (R, D)."""
        told = self.vectors()
        return inputs.asked(torch.cat([told, *[torch.zeros_like(told)] * (self.views - 1)]))

    def translated(self, triples: Tensor) -> Tensor:
        """|h + r - t|² of triples (3, B), (B,)."""
        entities, relations = normalize(self.entities), normalize(self.relations)
        ends, kinds = self.shared[triples[[0, 2]]], triples[1]
        head, tail = (entities.index_select(0, end.to(entities.device)) for end in ends)
        apart = head + relations.index_select(0, kinds.to(relations.device)) - tail
        return apart.square().sum(1)


def corrupted(triples: Ids, first: int, entities: int, rng: np.random.Generator) -> Ids:
    """The triples with another head or tail of the same graph (3, B)."""
    low = np.where(triples[0] < first, 0, first)
    high = np.where(triples[0] < first, first, entities)
    other = rng.integers(low, high)
    heads = rng.random(triples.shape[1]) < 0.5
    return np.stack([np.where(heads, other, triples[0]), triples[1], np.where(heads, triples[2], other)])


def similarities(task: AlignmentSearch, settings: JapeKnobs, seed: int) -> tuple[sp.csr_array, ...]:
    """S₁₂, S₁ and S₂, each row of sum one or empty."""
    vectors = attribute_vectors(
        task.attributes, task.train.links, SkipGram(steps=settings.steps, batch=settings.pairs), seed
    )
    told = entity_vectors(task.attributes, vectors)
    left, right = told[: task.first], told[task.first :]
    near = pointed_to(task)
    cosines = sp.coo_array(near)
    likeness = np.einsum("ij,ij->i", left[cosines.row], right[cosines.col])
    weights = np.maximum(1.0, likeness * (cosines.data + 1) * 100)  # the factor of the released code
    raised = sp.csr_array((weights, (cosines.row, cosines.col)), shape=near.shape)
    between = alike(left, right, settings.between, settings.most)
    inside = [alike(side, side, settings.inside, settings.most) for side in (left, right)]
    return tuple(rows_to_one(matrix) for matrix in (between.maximum(raised), *inside))


def pointed_to(task: AlignmentSearch) -> sp.csr_array:
    """How many training links point to a pair of entities, each end by a triple of its own (N₁, N₂)."""
    heads, _, tails = task.triples
    ones, shape = np.ones(heads.size), (task.entities, task.entities)
    points = sp.csr_array((ones, (heads, tails)), shape=shape)
    points.data[:] = 1.0
    left, right = task.train.links
    return sp.csr_array(points[left][:, : task.first].T @ points[right][:, task.first :])


def rows_to_one(matrix: sp.csr_array) -> sp.csr_array:
    """The matrix with rows that sum to one, but for those that are empty."""
    sums = np.asarray(matrix.sum(1)).ravel()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums, dtype=np.float64), where=sums > 0)
    return sp.csr_array(sp.diags_array(scale) @ matrix, dtype=np.float32)


class Likeness:
    """Draws entities towards those that are alike."""

    def __init__(self, matrices: tuple[sp.csr_array, ...], first: int, settings: JapeKnobs) -> None:
        self.shares = (settings.delta, *[settings.delta * settings.epsilon] * 2)
        self.told = [torch.as_tensor(np.diff(matrix.indptr) > 0) for matrix in matrices]
        self.matrices = [_tensor(matrix) for matrix in matrices]
        self.first = first

    def loss(self, vectors: Tensor) -> Tensor:
        """The similarity objective of all vectors (N, D)."""
        left, right = vectors[: self.first], vectors[self.first :]
        sides = ((left, right), (left, left), (right, right))
        terms = [
            share * (own - normalize(matrix @ other))[told].square().sum()
            for share, told, matrix, (own, other) in zip(
                self.shares, self.told, self.matrices, sides, strict=True
            )
        ]
        return torch.stack(terms).sum()


def _tensor(matrix: sp.csr_array) -> Tensor:
    coo = matrix.tocoo()
    places = torch.as_tensor(np.stack([coo.row, coo.col]).astype(np.int64))
    return torch.sparse_coo_tensor(places, torch.as_tensor(coo.data), matrix.shape, check_invariants=False)


@contenders.add("jape", source="Sun, Hu, Li: JAPE, ISWC 2017")
class Jape(Aligner[JapeKnobs]):
    """Translation-based structure, refined by the likeness of attributes."""

    knobs = JapeKnobs
    label = "jape"

    def net(self, task: AlignmentSearch, ready: ReadyAlignment, seed: int) -> JapeNet:
        """The vectors before their training."""
        return JapeNet(task, self.settings.width, seed)

    def learn(
        self, net: nn.Module, task: AlignmentSearch, ready: ReadyAlignment, training: Training, seed: int
    ) -> Trained:
        """Structure and similarity in turns; the best look at the validation links counts."""
        assert isinstance(net, JapeNet)
        began, best, settings = time.perf_counter(), Best(), self.settings
        structure = torch.optim.Adagrad([net.entities, net.relations], lr=settings.lr)
        refining = torch.optim.Adagrad([net.entities], lr=settings.lr)
        likeness = self._likeness(task, derive(seed, "attributes"))
        epoch = 0
        for epoch in range(1, settings.epochs + 1):
            self._structure(net, task, structure, derive(seed, "epoch", epoch))
            if likeness is not None:
                _descend(refining, likeness.loss(net.vectors()))
            if epoch % settings.look == 0 or epoch == settings.epochs:
                best.see(*evaluate(net, ready, "val"), epoch, net)
                if epoch - best.epoch >= max(training.patience, settings.look):
                    break
        net.load_state_dict(best.state)
        return Trained(best.score, epoch, time.perf_counter() - began, best.state)

    def _likeness(self, task: AlignmentSearch, seed: int) -> Likeness | None:
        if not self.settings.delta or not task.attributes.shape[1]:
            return None
        return Likeness(similarities(task, self.settings, seed), task.first, self.settings)

    def _structure(
        self, net: JapeNet, task: AlignmentSearch, adagrad: torch.optim.Optimizer, seed: int
    ) -> None:
        rng = generator(seed, "triples")
        order = rng.permutation(task.triples.shape[1])
        for begin in range(0, order.size, self.settings.batch):
            true = task.triples[:, order[begin : begin + self.settings.batch]]
            false = corrupted(true, task.first, task.entities, rng)
            apart = net.translated(torch.as_tensor(np.concatenate([true, false], axis=1)))
            told, other = apart.view(2, -1).sum(1)
            _descend(adagrad, told - self.settings.alpha * other)


def _descend(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
