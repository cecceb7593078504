"""The leaderboard and its sentences, from lanes made by hand."""

import csv
import json
import math

import pytest

from sanegnn.comparison import Leaderboard, Told, chosen
from sanegnn.comparison.tables import cells, markdown, write
from sanegnn.comparison.words import words
from sanegnn.records import Done, Failed, Lap, Scored
from sanegnn.runs import Run

from .laps import lanes, lap, told

SPLITS = ("0", "1", "2")
GOOD = lanes("gcn-jk", [[0.90, 0.92], [0.86, 0.86], [0.88, 0.90]])
CLOSE = lanes("gat", [[0.91], [0.85], [0.88]])
BAD = lanes("mlp", [[0.70], [0.66], [0.69]])
SEARCH = lanes("paper", [[0.71], [0.67], [0.70]], "search")
RANDOM = lanes("random", [[0.60], [0.56], [0.59]], "search")


def board(*fields, splits=SPLITS, notes=()):
    return Leaderboard.of(
        "one", "cora", "accuracy", splits, [lane for field in fields for lane in field], notes
    )


def test_means_and_deviations_by_hand():
    row = board(GOOD).row("gcn-jk")
    assert row.test == pytest.approx((0.91 + 0.86 + 0.89) / 3)
    assert row.validation == pytest.approx(row.test + 0.005)
    assert row.over_splits == pytest.approx(
        math.sqrt((0.0233333**2 + 0.0266667**2 + 0.0033333**2) / 2), rel=1e-4
    )
    assert row.over_seeds == pytest.approx(math.sqrt((0.0002 + 0 + 0.0002) / 3))


def test_rows_come_by_mean_test_score_and_are_laid_beside_the_first():
    found = board(BAD, CLOSE, GOOD)
    assert [row.contender for row in found.rows] == ["gcn-jk", "gat", "mlp"]
    assert found.rows[0].behind is None
    assert found.row("mlp").behind.difference == pytest.approx((0.70 + 0.66 + 0.69 - 0.91 - 0.86 - 0.89) / 3)
    assert [row.tied for row in found.rows] == [False, True, False]


def test_who_lacks_a_split_comes_last():
    found = board(lanes("gat", [[0.99], [0.99]]), GOOD)
    assert [row.contender for row in found.rows] == ["gcn-jk", "gat"]
    assert cells(found.rows[1], found)["verdict"] == "tie, 1 splits missing"


def test_costs_are_those_of_the_phases():
    laps = (
        lap("search", math.nan, 4.0, memory=8.0),
        lap("tune", 0.5, 5.0, memory=3.0),
        lap("tune", 0.4, 7.0),
        lap("retrain", 0.5, 7.5, 1, parameters=30),
    )
    lane = Told("paper", "search", "0", laps, {("gcn", 1): 0.5}, True)
    row = board([lane], splits=("0",)).rows[0]
    assert (row.search_seconds, row.tuning_seconds, row.retraining_seconds) == (4.0, 3.0, 0.5)
    assert (row.parameters, row.memory, row.trials) == (30, 8.0, 2)


def test_the_choice_is_by_validation_among_the_tuned():
    searched, first, second = lap("search", 0.9, 1.0), lap("tune", 0.6, 2.0, 1), lap("tune", 0.6, 3.0, 2)
    assert chosen([searched, lap("tune", math.nan, 1.5), first, second]) is first
    assert chosen([searched]) is searched
    assert chosen([lap("search", math.nan, 1.0)]) is None


# --- words ------------------------------------------------------------


def said(*fields, **more):
    return words(board(*fields, **more))


def test_ties_are_called_ties():
    (first, *_) = said(GOOD, CLOSE, BAD)
    assert first.startswith("gcn-jk has the highest mean test accuracy, 88.67; gat is a tie with it")
    (first, *_) = said(GOOD, CLOSE, lanes("gin", [[0.90], [0.87], [0.88]]))
    assert "gin and gat are ties with it" in first
    (first, *_) = said(GOOD, BAD)
    assert "leads everyone by more than the noise" in first


def test_a_mean_over_more_splits_is_not_called_the_highest_of_all():
    (first, *_) = said(BAD, lanes("lucky", [[0.99]]))
    assert first.startswith(
        "mlp has the highest mean test accuracy, 68.33, of those with a score on 3 splits"
    )
    assert "95%" not in first


def test_one_split_gives_no_interval():
    (first, *_) = said(GOOD[:1], CLOSE[:1], splits=("0",))
    assert "95%" not in first
    assert "on one split, nothing but the noise between seeds tells how much a difference means" in first


def test_a_human_design_that_beats_the_search_is_said_plainly():
    assert (
        "a human design beats the search: gcn-jk leads the best searcher, paper, by 19.33 ± 0.33 points"
        " of test accuracy, paired over 3 splits, p 0.2500"
    ) in said(GOOD, SEARCH, RANDOM)


def test_a_search_that_beats_the_human_designs_and_a_tie():
    assert any(
        one.startswith("the search beats the human designs: paper leads") for one in said(SEARCH, BAD, RANDOM)
    )
    close = lanes("paper", [[0.91], [0.85], [0.89]], "search")
    assert any(
        one.startswith("a tie between the human design gcn-jk and the best searcher, paper: 0.33 ±")
        for one in said(GOOD, close)
    )
    assert not any("search" in one for one in said(GOOD, BAD))


def test_every_searcher_is_laid_beside_random_search_over_its_own_space():
    mlp = lanes("tpe@mlp", [[0.50], [0.47], [0.49]], "search")
    random_mlp = lanes("random@mlp", [[0.51], [0.46], [0.50]], "search")
    found = said(SEARCH, RANDOM, mlp, random_mlp)
    assert any(
        one.startswith("paper beats random search by 11.00 points")
        or one.startswith("paper beats random search by 11.00 ± 0.00 points")
        for one in found
    )
    assert any(one.startswith("tpe@mlp and random@mlp search are a tie") for one in found)
    worse = lanes("evolution", [[0.50], [0.46], [0.49]], "search")
    assert any(one.startswith("evolution loses to random search by 10.00") for one in said(worse, RANDOM))


def test_too_few_splits_are_told():
    assert any(
        "3 splits: the smallest p that the signed-rank test can give is 0.25" in one
        for one in said(GOOD, BAD)
    )
    many = [
        lanes(name, [[score + place / 100] for place in range(6)]) for name, score in (("a", 0.8), ("b", 0.7))
    ]
    assert not any("smallest p" in one for one in said(*many, splits=tuple("012345")))
    assert any(one.startswith("one split") for one in said(GOOD[:1], BAD[:1], splits=("0",)))


def test_failures_and_notes_are_told():
    failed = told("gin", "0", [], why="gin: no training gave a finite score")
    found = said(GOOD, [failed], notes=("a word",))
    assert "gin on split 0: gin: no training gave a finite score" in found
    assert found[-1] == "a word"
    assert said([failed])[0] == "no contender ended with a score"


# --- files ------------------------------------------------------------


def test_the_files_say_the_same(tmp_path):
    found, lanes_ = board(GOOD, CLOSE, SEARCH, RANDOM), [*GOOD, *CLOSE, *SEARCH, *RANDOM]
    write(tmp_path, found, lanes_)
    with (tmp_path / "leaderboard.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = json.loads((tmp_path / "leaderboard.json").read_text(), parse_constant=pytest.fail)
    text = (tmp_path / "leaderboard.md").read_text()
    assert text == markdown(found)
    assert [row["contender"] for row in rows] == [row["contender"] for row in table["rows"]]
    assert (
        float(rows[0]["test"])
        == pytest.approx(100 * table["rows"][0]["test"])
        == pytest.approx(88.6667, rel=1e-4)
    )
    assert rows[0]["difference"] == ""
    assert rows[1]["verdict"] == "tie"
    assert table["rows"][0]["tests"]["0"] == [0.90, 0.92]  # all seeds are reported
    assert table["words"] == words(found)
    assert "| gcn-jk | human | 88.67 |" in text
    with (tmp_path / "curve.csv").open() as file:
        points = list(csv.DictReader(file))
    assert {point["contender"] for point in points} == {"gcn-jk", "gat", "paper", "random"}
    assert all(
        len(line.split("|")) == len(text.splitlines()[2].split("|")) for line in text.splitlines()[3:7]
    )


def test_a_lane_is_read_from_its_records(tmp_path):
    about = {
        "command": "lane gcn",
        "dataset": "cora",
        "data": "c0",
        "contender": "gcn",
        "kind": "human",
        "split": "4",
    }
    with Run.open(tmp_path, "gcn-split4", {}, about) as run:
        for one in (lap("tune", 0.5, 1.0), lap("retrain", 0.5, 2.0, 9), Scored("gcn", 9, 0.75), Done({})):
            run.append(one)
        run.append(Failed("that", "it broke"))
    lane = Told.of(Run.reading(tmp_path / "gcn-split4"))
    assert (lane.contender, lane.kind, lane.split, lane.done) == ("gcn", "human", "4", True)
    assert (lane.tests, lane.validations, lane.why) == ([0.75], [0.5], "that: it broke")
    assert all(isinstance(one, Lap) for one in lane.laps)
