import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanegnn.errors import BadSetting, SaneError
from sanegnn.ranking import GroundTruth, Judgement, tau
from sanegnn.space import Architecture

NAMES = ("gcn", "gat", "gin", "sage_max", "sage_sum", "sage_mean", "geniepath")
STACKS = tuple(Architecture((name,)) for name in NAMES)


def truth(*scores):
    return GroundTruth({"dataset": "mine"}, dict(zip(STACKS, scores, strict=False)))


def by(*scores):
    return dict(zip(STACKS, scores, strict=False)).__getitem__


def test_tau_counts_the_pairs():
    assert tau([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6)  # five pairs agree, one does not
    assert tau([1, 2, 3], [3, 2, 1]) == -1
    assert tau([5, 5, 5], [1, 2, 3]) == 0
    assert tau([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / (2 * 3) ** 0.5)  # tau-b: a tie is no agreement


def test_a_ranking_is_judged_by_the_means():
    known = truth((0.7, 0.9), (0.5, 0.7), (0.9, 0.9))  # means .8, .6, .9
    assert known.judge(by(2, 1, 3)) == Judgement(1, 0, 0)
    judged = known.judge(by(1, 3, 2))
    assert judged.tau == pytest.approx(-1 / 3)
    assert judged.regret == pytest.approx(0.3)
    assert judged.regret_of_five == 0


def test_the_best_of_five_is_among_the_first_five():
    known = truth(*((score / 10,) for score in (9, 8, 7, 6, 5, 4, 3)))
    judged = known.judge(by(*range(7)))  # puts the worst first; the first five are places 2 to 6
    assert judged.regret == pytest.approx(0.6)
    assert judged.regret_of_five == pytest.approx(0.2)
    assert judged.tau == -1


def test_of_equal_scores_the_earlier_comes_first():
    judged = truth((0.5,), (0.9,)).judge(lambda architecture: 1.0)
    assert judged.tau == 0
    assert judged.regret == pytest.approx(0.4)


def test_the_ceiling_is_the_agreement_of_seeds():
    assert truth((1, 1), (2, 2), (3, 3)).ceiling == 1
    assert truth((1, 1), (2, 3), (3, 2)).ceiling == pytest.approx(1 / 3)
    three = truth((1, 1, 3), (2, 2, 2), (3, 3, 1))
    assert three.ceiling == pytest.approx((1 - 1 - 1) / 3)
    assert math.isnan(truth((1,), (2,)).ceiling)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=7))
def test_chance_is_the_mean_over_all_draws(scores):
    known, rng = truth(*((score,) for score in scores)), np.random.default_rng(0)
    regrets = max(scores) - np.array(scores)
    expected = known.by_chance()
    assert expected.regret == pytest.approx(regrets.mean())
    size = min(5, len(scores))
    draws = [regrets[rng.permutation(len(scores))[:size]].min() for _ in range(400)]
    assert expected.regret_of_five == pytest.approx(np.mean(draws), abs=0.1)


def test_chance_by_hand():
    known = truth(*((score / 10,) for score in (9, 8, 7, 6, 5, 4)))
    # Five of six: the best is missing in one draw of six, and then the next is there.
    assert known.by_chance().regret_of_five == pytest.approx(0.1 / 6)


def test_a_part_of_it_is_a_truth_too():
    known = truth((0.7,), (0.5,), (0.9,)).only(lambda one: one.nodes != ("gin",))
    assert list(known.scores) == list(STACKS[:2])
    assert known.best == 0.7


def test_what_is_kept_is_read_again(tmp_path):
    known = truth((0.7, 0.9), (0.5, 0.123456789))
    known.write(tmp_path / "mine.jsonl")
    assert GroundTruth.read(tmp_path / "mine.jsonl") == known
    first, *rows = (tmp_path / "mine.jsonl").read_text().splitlines()
    assert json.loads(first) == {"dataset": "mine"}
    assert len(rows) == 2


@pytest.mark.parametrize("text", ["", "{}\n{}\n", "{\n", '{}\n{"architecture": "?", "validation": []}\n'])
def test_another_file_is_refused(tmp_path, text):
    (tmp_path / "other.jsonl").write_text(text)
    with pytest.raises(BadSetting, match=r"other\.jsonl holds no ground truth"):
        GroundTruth.read(tmp_path / "other.jsonl")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SaneError, match=r"none\.jsonl"):
        GroundTruth.read(tmp_path / "none.jsonl")
