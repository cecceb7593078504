"""Temperature scaling."""

import numpy as np
import pytest

from sanegnn.bundle.calibration import fit, temper


def drawn(temperature, nodes=4000):
    """Odds, and classes drawn from the odds tempered."""
    rng = np.random.default_rng(0)
    odds = rng.dirichlet([0.6] * 4, size=nodes)
    true = temper(odds, temperature)
    return odds, np.array([rng.choice(4, p=row) for row in true])


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_the_temperature_of_the_draw_is_found(temperature):
    assert fit(*drawn(temperature)) == pytest.approx(temperature, rel=0.1)


def test_tempering_keeps_the_order_and_the_sum():
    odds, _ = drawn(1.0, 50)
    assert (temper(odds, 3.0).argsort(1) == odds.argsort(1)).all()
    assert np.allclose(temper(odds, 3.0).sum(1), 1)
    assert np.allclose(temper(odds, 1.0), odds)


def test_a_few_nodes_that_are_all_right_make_no_certainty():
    odds, _ = drawn(1.0, 10)
    assert temper(odds, fit(odds, odds.argmax(1))).max(1).mean() < 0.97
