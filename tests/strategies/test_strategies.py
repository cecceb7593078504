"""The strategy contract over everything that is registered."""

import pytest

from sanegnn.strategies import (
    Aging,
    Algorithm1,
    Brackets,
    Cooling,
    Guided,
    Gumbel,
    Patience,
    Perturbation,
    Reinforced,
    Shared,
    Shrinkage,
    SinglePath,
    Tpe,
    TrialAndError,
    strategies,
)
from sanegnn.testing import check_strategy

BRIEF = {"hidden": 8, "heads": 2, "epochs": 4, "batch": 3}

QUICK = {
    "paper": Algorithm1(epochs=6, hidden=8),
    "annealed": Cooling(epochs=6, hidden=8),
    "shrinking": Shrinkage(epochs=6, hidden=8),
    "stable": Patience(epochs=9, hidden=8, calm=3),
    "perturbed": Perturbation(epochs=3, hidden=8, settle=1),
    "gdas": Gumbel(epochs=9, hidden=8, top=2),
    "sane": Guided(**BRIEF, candidates=9, keep=3, grow=2, top=2),
    "spos": SinglePath(epochs=9, hidden=8, evaluations=12, alive=3, top=2),
    "random": TrialAndError(**BRIEF, candidates=7, top=2),
    "tpe": Tpe(**BRIEF, candidates=8, startup=3),
    "evolution": Aging(**BRIEF, candidates=9, population=4, sample=2),
    "hyperband": Brackets(**BRIEF, candidates=8, least=1, eta=2),
    "graphnas": Reinforced(**BRIEF, candidates=8, finals=2, top=2),
    "graphnas-ws": Shared(**BRIEF, candidates=8, finals=2, top=2, share_epochs=2),
    "autognn": Shared(**BRIEF, candidates=8, finals=2, top=2, share_epochs=2),
}
"""For every strategy the knobs that make its contract quick."""


def test_every_strategy_has_a_contract_case():
    assert set(QUICK) == set(strategies)


@pytest.mark.parametrize("name", QUICK)
def test_strategy(name):
    check_strategy(name, QUICK[name])
