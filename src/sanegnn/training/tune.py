"""Tuning the setting of one architecture: TPE through Optuna over the ranges beside the knobs.

Settings are asked for in batches of fixed size, each from the trials of the batches before it and a seed
of its own, so that the course of a study does not depend on how many workers there are or on whether it
was interrupted. The storage holds finished trials alone; it is Optuna's journal, which other processes
and Optuna's own tools can read.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from pathlib import Path
from statistics import median
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState, create_trial

from sanegnn.ops import node_ops
from sanegnn.seeds import derive
from sanegnn.settings import OneOf, Setting, Span, ranges
from sanegnn.space import Architecture
from sanegnn.training.jobs import Outcome

STARTS: tuple[Mapping[str, Any], ...] = (
    {},
    {
        "hidden": 128,
        "norm": "batch",
        "residual": True,
        "activation": "relu",
        "lr": 0.002,
        "weight_decay": 5e-5,
    },
    {"hidden": 128, "dropout": 0.7, "lr": 0.01, "weight_decay": 1e-3, "attention_dropout": 0.3},
)
"""What every study tries first, as changes to the default setting."""

STARTUP = 8
"""Trials before TPE takes over from random settings."""

ENOUGH = 5
"""Finished trials that a median needs before others are stopped by it."""


def storage(path: Path | None) -> BaseStorage:
    """Optuna's journal in that file; memory without one."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return InMemoryStorage() if path is None else JournalStorage(JournalFileBackend(str(path)))


def distributions(architecture: Architecture, base: Setting = Setting()) -> dict[str, BaseDistribution]:
    """The knobs that matter to this architecture, as Optuna's distributions that hold the base's values."""
    ops = [node_ops[name] for name in architecture.nodes]
    special = {name for op in node_ops for name in node_ops[op].knobs}
    idle = special - {name for op in ops for name in op.knobs}
    if all(op.own_activation for op in ops):
        idle |= {"activation"}
    if not _keeps_a_width([op.own_width for op in ops]):
        idle |= {"residual"}
    marks = ((name, mark) for name, mark in ranges(Setting) if name not in idle)
    return {name: _distribution(mark, getattr(base, name)) for name, mark in marks}


def _keeps_a_width(own: Sequence[int | None]) -> bool:
    """Whether some layer can be as wide as its input, so that `residual` says something."""
    hidden = dict(ranges(Setting))["hidden"]
    before: Sequence[Any] = hidden.values if isinstance(hidden, OneOf) else ()
    for width in own:
        if width is None or width in before:
            return True
        before = [width]
    return False


def _distribution(mark: OneOf | Span, held: Any) -> BaseDistribution:
    if isinstance(mark, Span):
        return FloatDistribution(min(mark.low, held or mark.low), max(mark.high, held), log=True)
    return CategoricalDistribution(mark.values if held in mark.values else (*mark.values, held))


@dataclass(frozen=True)
class Tried:
    """A finished trial."""

    number: int
    setting: Setting
    validation: float | None
    epochs: int
    seconds: float
    pruned: bool
    rungs: dict[int, float]
    why: str = ""

    @property
    def worth(self) -> float:
        """The validation score; less than any where there is none."""
        return -math.inf if self.validation is None else self.validation


class Study:
    """The trials of one architecture, kept in `storage` under its text; the knobs `still` are not tuned."""

    def __init__(
        self,
        kept: BaseStorage,
        architecture: Architecture,
        seed: int,
        base: Setting | None = None,
        still: Collection[str] = (),
    ) -> None:
        self.architecture, self.seed = architecture, seed
        self.base = base or Setting()
        able = distributions(architecture, self.base)
        self.distributions = {name: kind for name, kind in able.items() if name not in still}
        self._study = optuna.create_study(
            storage=kept, study_name=str(architecture), direction="maximize", load_if_exists=True
        )
        self._frozen: list[FrozenTrial] = self._study.get_trials(deepcopy=False)

    @property
    def trials(self) -> list[Tried]:
        """All finished trials, in the order of their numbers."""
        return [self._tried(number, frozen) for number, frozen in enumerate(self._frozen)]

    @property
    def best(self) -> Tried:
        """The trial with the best validation score; the first of equals."""
        return self.best_of(len(self._frozen))

    def best_of(self, count: int) -> Tried:
        """The best of the first `count` trials: what was known before the later ones."""
        trials = self.trials[:count]
        scored = [trial for trial in trials if trial.validation is not None]
        return max(scored or trials, key=lambda trial: trial.worth)

    def ask(self, begin: int, count: int, hints: Sequence[Setting] = ()) -> dict[int, Setting]:
        """The settings of the batch begin … begin + count that are not tried yet, by number.

        The batch follows from the first `begin` trials alone; hints come first in it.
        """
        past = [self._values(self._setting(frozen.params)) for frozen in self._frozen[:begin]]
        known = [self._values(hint) for hint in hints] if begin else self._starts()
        fresh = [one for place, one in enumerate(known) if one not in (*past, *known[:place])]
        fixed = fresh[:count]
        asked = fixed + self._suggest(begin, count - len(fixed))
        settings = {begin + place: self._setting(values) for place, values in enumerate(asked)}
        return {number: setting for number, setting in settings.items() if number >= len(self._frozen)}

    def _starts(self) -> list[dict[str, Any]]:
        return [self._values(self.base.but(**start)) for start in STARTS]

    def _values(self, setting: Setting) -> dict[str, Any]:
        """The tuned knobs of a setting, moved into their ranges where it lies outside."""
        return {name: _nearest(getattr(setting, name), kind) for name, kind in self.distributions.items()}

    def _setting(self, values: Mapping[str, Any]) -> Setting:
        """The base with these values; heads that cannot share the hidden width give way."""
        table = {**self.base.table(), **values}
        return Setting.of({**table, "heads": gcd(table["heads"], table["hidden"])})

    def _suggest(self, begin: int, count: int) -> list[dict[str, Any]]:
        if count <= 0:
            return []
        sampler = optuna.samplers.TPESampler(
            seed=derive(self.seed, "tpe", str(self.architecture), begin) % 2**32,
            n_startup_trials=STARTUP,
            constant_liar=True,
        )
        past = optuna.create_study(sampler=sampler, direction="maximize")
        past.add_trials(self._frozen[:begin])
        return [past.ask(self.distributions).params for _ in range(count)]

    def tell(self, setting: Setting, outcome: Outcome) -> Tried:
        """Keep a finished trial."""
        state = TrialState.COMPLETE if outcome.validation is not None else TrialState.FAIL
        frozen = create_trial(
            state=TrialState.PRUNED if outcome.pruned else state,
            value=outcome.validation,
            params=self._values(setting),
            distributions=self.distributions,
            intermediate_values=outcome.rungs,
            user_attrs={"epochs": outcome.epochs, "seconds": outcome.seconds, "why": outcome.why},
        )
        self._study.add_trial(frozen)
        self._frozen.append(frozen)
        return self._tried(len(self._frozen) - 1, frozen)

    def _tried(self, number: int, frozen: FrozenTrial) -> Tried:
        told = frozen.user_attrs
        pruned, rungs = frozen.state is TrialState.PRUNED, frozen.intermediate_values
        setting = self._setting(frozen.params)
        cost = (told["epochs"], told["seconds"])
        return Tried(number, setting, frozen.value, *cost, pruned, rungs, told["why"])


def _nearest(value: Any, kind: BaseDistribution) -> Any:
    if isinstance(kind, FloatDistribution):
        return min(max(value, kind.low), kind.high)
    if not isinstance(kind, CategoricalDistribution) or value in kind.choices:
        return value
    numbers = [choice for choice in kind.choices if isinstance(choice, int | float)]
    return min(numbers, key=lambda choice: abs(choice - value)) if numbers else kind.choices[0]


def floors(trials: Iterable[Tried]) -> dict[int, float]:
    """What a trial must have reached by every rung: the median of the trials that ran to their end."""
    whole = [trial.rungs for trial in trials if not trial.pruned]
    heights = {rung: [rungs[rung] for rungs in whole if rung in rungs] for rungs in whole for rung in rungs}
    return {rung: median(seen) for rung, seen in heights.items() if len(seen) >= ENOUGH}
