"""Bayesian optimisation by tree-structured Parzen estimators, through Optuna: the paper's `Bayesian`.

Every slot of the space is a category. The candidates so far are parted into the best few and the rest; of
each part TPE estimates how often every operation stands in a slot, l and g, draws operations from l and
takes those with the largest l / g. The first `startup` candidates are drawn at random. Those of a batch that
have no score yet count as bad ones, so that a batch is spread out; a training that went astray counts as
the worst. The published search used Hyperopt, whose number of random candidates is the default here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import FrozenTrial, create_trial

from sanegnn.seeds import derive
from sanegnn.settings import Within, knob
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.base import strategies
from sanegnn.strategies.candidates import Past, Searcher, TrialAndError
from sanegnn.training.tune import storage


@dataclass(frozen=True)
class Tpe(TrialAndError):
    """The knobs of TPE."""

    startup: Annotated[int, knob("random candidates before the first estimate"), Within(1)] = 20


@strategies.add("tpe", source="Bergstra, Bardenet, Bengio, Kégl: Hyper-Parameter Optimization, NeurIPS 2011")
class Bayesian(Searcher[Tpe]):
    """The best of architectures that tree-structured Parzen estimators ask for."""

    knobs = Tpe

    def ask(self, past: Past, count: int) -> list[Architecture]:
        """What the estimates of the scores so far promise most of."""
        slots = distributions(past.space)
        sampler = optuna.samplers.TPESampler(
            seed=derive(past.seed, "tpe", len(past.candidates)) % 2**32,
            n_startup_trials=self.settings.startup,
            constant_liar=True,
        )
        study = optuna.create_study(storage=storage(None), sampler=sampler, direction="maximize")
        study.add_trials([told(past.space, slots, *pair) for pair in past.scored])

        def draw(_: np.random.Generator) -> Architecture:
            return past.space.decode(study.ask(dict(slots)).params)

        return past.fresh(count, draw)


Slots = Mapping[str, BaseDistribution]


def distributions(space: SearchSpace) -> Slots:
    """A category for every slot, over the places of its operations."""
    return {slot.key: CategoricalDistribution(range(len(slot.choices))) for slot in space.slots}


def told(space: SearchSpace, slots: Slots, architecture: Architecture, score: float) -> FrozenTrial:
    """A candidate as Optuna knows it."""
    return create_trial(value=score, params=space.encode(architecture), distributions=dict(slots))
