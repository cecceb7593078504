"""Auto-GNN: small steps from the best architecture so far, each in one class of components.

    best <- the best of a first batch, drawn at random
    repeat: for every class c (attention, width, … or node, skip, layer): its own controller reads `best`
                without the picks of c and emits new ones for all layers; E_c is the entropy of its decisions
            a class is drawn with probability E_c / Σ E: where one is unsure, there is to learn
            child <- `best` with that class changed, trained from the weights of `best`
            the controller of the class learns from the reward R(child) - R(best)
            best <- child if its score is better
    at the end, the `finals` best children are trained from scratch, and the best of them are proposed

Constrained parameter sharing: a layer takes over the weights of the same layer of `best` where input and
output widths, attention and activation agree, weight by weight where the shapes agree; norms are not handed
over. The children of one batch come from the best before the batch. A child that was tried already is drawn
again. Zhou et al. draw one class or more; here it is one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sanegnn.seeds import derive
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.base import strategies
from sanegnn.strategies.candidates import Past
from sanegnn.strategies.controlled import Mind, reward_of
from sanegnn.strategies.policy import Learner, Policy
from sanegnn.strategies.sharing import Shared, Sharing, Store

FREE = frozenset({"aggregator", "combine", "heads", "width"})
"""Components in which layers may differ and still hand over weights."""


class Best(NamedTuple):
    """A candidate, by its score."""

    score: float
    number: int
    architecture: Architecture


class Conservative(Mind):
    """The best so far, and a controller for each class of components."""

    def __init__(self, space: SearchSpace, knobs: Shared, seed: int) -> None:
        super().__init__(space)
        self.batch = knobs.batch
        self.store = Store(space, knobs.hidden, FREE)
        self.best: Best | None = None
        self.coming: Best | None = None
        classes = dict.fromkeys(slot.kind for slot in space.slots if len(slot.choices) > 1)
        self.learners = {kind: self._learner(kind, knobs, derive(seed, "class", kind)) for kind in classes}

    def _learner(self, kind: str, knobs: Shared, seed: int) -> Learner:
        reads = [slot for slot in self.space.slots if slot.kind != kind]
        emits = [slot for slot in self.space.slots if slot.kind == kind]
        policy = Policy(reads, emits, knobs.controller_width, seed)
        return Learner(policy, knobs.controller_lr, knobs.entropy, knobs.decay)

    def follow(self, past: Past) -> None:
        """At the end of a batch, its best may take over."""
        super().follow(past)
        self.best = self.coming

    def draw(self, rng: np.random.Generator) -> Architecture:
        """The best with one class changed, most likely one of which its controller is not sure."""
        assert self.best is not None
        standing = self.space.encode(self.best.architecture)
        drawn = [learner.draw(rng, standing) for learner in self.learners.values()]
        entropies = np.array([float(one.entropy) for one in drawn])
        change = drawn[int(rng.choice(len(drawn), p=entropies / entropies.sum()))]
        return self.space.decode({**standing, **change.picks})

    def learn(self, number: int, architecture: Architecture, score: float) -> None:
        """The controller of the class that was changed learns what that brought."""
        if number % self.batch == 0:
            self.best = self.coming
        if self.best is not None:
            self._learn_from(self.best, self.space.encode(architecture), reward_of(score))
        if math.isfinite(score) and (self.coming is None or score > self.coming.score):
            self.coming = Best(score, number, architecture)

    def _learn_from(self, best: Best, picks: dict[str, int], score: float) -> None:
        standing = self.space.encode(best.architecture)
        changed = {slot.kind for slot in self.space.slots if picks[slot.key] != standing[slot.key]}
        if len(changed) == 1:  # not where a child was drawn from the whole space, for want of new ones
            self.learners[changed.pop()].learn(picks, score - best.score, standing)


@strategies.add("autognn", source="Zhou, Song, Huang, Hu: Auto-GNN, arXiv 1909.03184")
class AutoGnn(Sharing[Shared]):
    """The best that small steps led to, on weights that are handed from the best to its children."""

    knobs = Shared

    def begin(self, space: SearchSpace, seed: int) -> Conservative:
        """Controllers that know nothing."""
        return Conservative(space, self.settings, seed)

    def lessons(self, space: SearchSpace) -> int:
        """No architecture is a child twice."""
        return min(super().lessons(space), space.size)

    def explore(self, mind: Conservative, past: Past, count: int) -> list[Architecture]:
        """Children of the best; architectures of the whole space until there is one."""
        return past.fresh(count, past.space.sample if mind.best is None else mind.draw)

    def finish(self, mind: Conservative, past: Past, count: int) -> list[Architecture]:
        """The best children that are not among the final candidates yet."""
        first = self.first_final(past)
        known = {architecture for architecture, _ in past.scored[first:]}
        children = Past(past.space, past.seed, past.candidates[:first]).ranked()
        return [architecture for architecture, _ in children if architecture not in known][:count]

    def heirlooms(self, past: Past, architecture: Architecture) -> dict[str, int]:
        """What is made as in the best so far."""
        mind = self.mind(past)
        assert isinstance(mind, Conservative)
        best = mind.best
        return mind.store.common(architecture, best.architecture, best.number) if best else {}
