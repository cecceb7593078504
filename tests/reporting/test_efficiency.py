"""The efficiency figure: what it shows, from lanes made by hand."""

import math

import pytest

from sanegnn.comparison import Told
from sanegnn.reporting.efficiency import COLOURS, MARKS, draw, figure, lines, looks
from tests.comparison.laps import lap


def lane(contender, split, steps, kind="human"):
    laps = tuple(lap("tune", score, clock, seed) for seed, (clock, score) in enumerate(steps))
    return Told(
        contender, kind, split, laps, {("gcn", one.seed): one.validation - 0.01 for one in laps}, True
    )


FIELD = [
    lane("gcn", "0", [(1.0, 0.5), (3.0, 0.7), (9.0, 0.6)]),
    lane("gcn", "1", [(2.0, 0.7)]),
    lane("paper", "0", [(10.0, 0.8)], "search"),
    lane("paper", "1", [(20.0, 0.9)], "search"),
    lane("gin", "0", [(1.0, 0.5)]),
    lane("gin", "1", [(1.0, math.nan)]),
]


def test_a_line_is_the_mean_over_splits_until_the_race_ends():
    paper, gcn = lines(FIELD)
    assert (paper.name, gcn.name) == ("paper", "gcn")  # the best in the end first; gin has no net on split 1
    assert gcn.validation == [(2.0, pytest.approx(0.6)), (3.0, pytest.approx(0.7))]
    assert gcn.test == [(2.0, pytest.approx(0.59)), (3.0, pytest.approx(0.69))]
    assert gcn.end == pytest.approx((9.0 + 2.0) / 2)
    assert paper.validation == [(20.0, pytest.approx(0.85))]


def test_a_net_that_has_no_test_score_is_not_on_the_test_line():
    (line,) = lines([lane("gcn", "0", [(1.0, 0.5), (2.0, 0.6)])])
    assert line.test == [(1.0, pytest.approx(0.49)), (2.0, pytest.approx(0.59))]
    half = lane("gcn", "0", [(1.0, 0.5), (2.0, 0.6)])
    half.scored.pop(("gcn", 0))
    (line,) = lines([half])
    assert line.test == [(2.0, pytest.approx(0.59))]


def test_no_two_lines_look_alike():
    assert len(set(looks(len(COLOURS) * len(MARKS)))) == len(COLOURS) * len(MARKS)


def test_both_pictures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    draw(FIELD, "cora, test accuracy", tmp_path)
    assert (tmp_path / "efficiency.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "efficiency.svg").read_text()
    once = (tmp_path / "efficiency.svg").read_bytes()
    draw(FIELD, "cora, test accuracy", tmp_path)
    assert (tmp_path / "efficiency.svg").read_bytes() == once


def test_the_axes_are_named_and_the_time_is_logarithmic():
    pytest.importorskip("matplotlib")
    picture = figure(lines(FIELD), "cora")
    left, right = picture.axes
    assert left.get_xscale() == right.get_xscale() == "log"
    assert all(axes.get_xlabel() and axes.get_ylabel() for axes in picture.axes)
    (legend,) = picture.legends
    assert [text.get_text() for text in legend.get_texts()] == ["paper", "gcn"]


def test_nothing_is_drawn_of_nothing(tmp_path):
    pytest.importorskip("matplotlib")
    draw([], "cora", tmp_path)
    assert list(tmp_path.iterdir()) == []
