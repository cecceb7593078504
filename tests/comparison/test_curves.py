"""The best so far against time, by hand."""

import math

import pytest

from sanegnn.comparison import Told, best_so_far, mean_curve
from sanegnn.comparison.curves import points

from .laps import lap


def test_only_what_beats_everything_before_is_on_the_curve():
    laps = [
        lap("search", 0.5, 1.0, 1),
        lap("search", math.nan, 2.0, 2),
        lap("search", 0.5, 3.0, 3),
        lap("tune", 0.7, 4.0, 4),
        lap("tune", 0.6, 5.0, 5),
    ]
    assert [one.seed for one in best_so_far(laps)] == [1, 4]


def test_a_point_has_the_test_score_of_its_own_net():
    laps = (lap("tune", 0.5, 1.0, 1), lap("tune", 0.6, 2.0, 2), lap("retrain", 0.9, 3.0, 3))
    lane = Told("gcn", "human", "0", laps, {("gcn", 2): 0.55, ("gcn", 3): 0.8}, True)
    first, second = points([lane])
    assert math.isnan(first.test)
    assert (second.seconds, second.validation, second.test) == (2.0, 0.6, 0.55)


def test_the_mean_of_steps_begins_when_all_have_begun():
    curves = [[(1.0, 0.5), (4.0, 0.7)], [(2.0, 0.6), (3.0, 0.8)]]
    found = mean_curve(curves)
    assert [seconds for seconds, _ in found] == [2.0, 3.0, 4.0]
    assert [score for _, score in found] == pytest.approx([0.55, 0.65, 0.75])
    assert mean_curve([]) == mean_curve([[(1.0, 0.5)], []]) == []
