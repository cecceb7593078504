"""Which settings mattered: fANOVA (Hutter, Hoos, Leyton-Brown, ICML 2014) by Optuna over all trials."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from sanegnn.records import Trial
from sanegnn.seeds import derive

LEAST = 8
"""Trials below which nothing is said."""
ARCHITECTURE = "architecture"


def importances(trials: Sequence[Trial]) -> dict[str, float]:
    """The share of every knob, and of the architecture, in the differences between whole trials, in order.

    Empty where there are too few trials, or all have one score.
    """
    whole = [one for one in trials if not one.pruned and math.isfinite(one.validation)]
    table = [{ARCHITECTURE: one.architecture, **one.setting} for one in whole]
    moved = [name for name in table[0] if len({repr(row.get(name)) for row in table}) > 1] if table else []
    if len(whole) < LEAST or not moved or len({one.validation for one in whole}) < 2:
        return {}
    shares = _shares(
        [{name: row[name] for name in moved} for row in table], [one.validation for one in whole]
    )
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))


def _shares(table: Sequence[Mapping[str, Any]], scores: Sequence[float]) -> dict[str, float]:
    import optuna
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances
    from optuna.trial import create_trial

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    kinds = {name: _distribution([row[name] for row in table]) for name in table[0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(direction="maximize")
        for row, score in zip(table, scores, strict=True):
            study.add_trial(create_trial(params=dict(row), distributions=kinds, value=score))
        forest = FanovaImportanceEvaluator(seed=derive(0, "importance") % 2**32)
        return dict(get_param_importances(study, evaluator=forest))


def _distribution(values: Sequence[Any]) -> Any:
    """What the values were drawn from, as far as they tell: real numbers on a log scale, or a choice."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    real = all(isinstance(value, float) and value > 0 for value in values)
    if real and len(set(values)) > 6:
        return FloatDistribution(min(values), max(values), log=True)
    return CategoricalDistribution(sorted(set(values), key=repr))
