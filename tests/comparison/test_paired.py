"""Two contenders on the same splits, by hand."""

import math

import pytest
from scipy.stats import wilcoxon

from sanegnn.comparison.paired import paired, signed_rank, smallest_p

OURS = {"0": [0.80, 0.82], "1": [0.85, 0.85], "2": [0.90, 0.88]}
THEIRS = {"0": [0.80], "1": [0.82, 0.84], "2": [0.86, 0.86]}


def test_the_difference_is_paired_by_split():
    found = paired(OURS, THEIRS)
    differences = (0.01, 0.02, 0.03)  # .81 - .80, .85 - .83, .89 - .86
    assert found.difference == pytest.approx(sum(differences) / 3)
    assert found.error == pytest.approx(0.01 / math.sqrt(3))  # their deviation is .01
    assert found.reach == pytest.approx(4.302652729911275 * 0.01 / math.sqrt(3))  # Student's t, two degrees
    assert found.splits == 3


def test_only_shared_splits_are_paired():
    found = paired({**OURS, "3": [0.1]}, {**THEIRS, "4": [0.9], "2": []})
    assert found.splits == 2
    assert found.difference == pytest.approx(0.015)
    assert paired({"0": [0.5]}, {"1": [0.5]}) is None


def test_it_turns_with_the_sides():
    one, other = paired(OURS, THEIRS), paired(THEIRS, OURS)
    assert one.difference == -other.difference
    assert (one.error, one.p) == (other.error, other.p)


def test_signed_ranks_by_hand():
    """Ranks 1 … 5, the smallest negative: W- = 1, and 2 of 32 signs give 0 or 1 on each side, so p = 4/32."""
    differences = [-0.01, 0.02, 0.03, 0.04, 0.05]
    assert signed_rank(differences) == pytest.approx(4 / 32)
    assert signed_rank(differences) == pytest.approx(wilcoxon(differences).pvalue)


@pytest.mark.parametrize("splits", [2, 3, 5, 6, 8])
def test_the_smallest_p_is_that_of_differences_with_one_sign(splits):
    assert signed_rank([0.01 * place for place in range(1, splits + 1)]) == pytest.approx(smallest_p(splits))


def test_five_splits_cannot_reach_five_percent_and_six_can():
    assert smallest_p(5) == 0.0625
    assert smallest_p(6) < 0.05


def test_no_difference_at_all():
    assert signed_rank([0.0, 0.0, 0.0]) == 1.0
    found = paired(OURS, OURS)
    assert (found.difference, found.reach) == (0, 0)
    assert found.tied


def test_a_tie_is_an_interval_that_holds_zero():
    assert not paired({"0": [0.61], "1": [0.62], "2": [0.63]}, {"0": [0.5], "1": [0.51], "2": [0.5]}).tied
    assert paired({"0": [0.51], "1": [0.50], "2": [0.53]}, {"0": [0.5], "1": [0.51], "2": [0.5]}).tied


def test_on_one_split_the_seeds_tell_the_noise():
    found = paired({"0": [0.80, 0.82]}, {"0": [0.70, 0.74]})
    assert found.difference == pytest.approx(0.09)
    assert found.error == pytest.approx(math.sqrt(0.0002 / 2 + 0.0008 / 2))
    assert found.reach == pytest.approx(4.302652729911275 * found.error)
    assert math.isnan(found.p)
    alone = paired({"0": [0.9]}, {"0": [0.1]})
    assert math.isnan(alone.reach)
    assert alone.tied  # nothing tells the noise
