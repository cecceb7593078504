"""The numbers behind the figures, by hand; and how tables, texts and scales are written."""

import math

import numpy as np
import pytest

from sanegnn.errors import RunFolder
from sanegnn.records import Trial
from sanegnn.reporting import evidence as files
from sanegnn.reporting import judged, tables
from sanegnn.reporting.drawings.alphas import Course, courses, softmax
from sanegnn.reporting.drawings.architecture import draw, layers
from sanegnn.reporting.importance import ARCHITECTURE, importances
from sanegnn.reporting.intervals import around_mean, reach, wilson
from sanegnn.reporting.markup import element, number, sentence
from sanegnn.reporting.scales import Linear, Log, round_step
from sanegnn.space import Architecture
from sanegnn.tracking.feed import entropy
from tests.reporting.told import LOST, WON, evidence, trials


def test_intervals_are_those_of_the_books():
    assert reach([1.0, 2.0, 3.0]) == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert math.isnan(reach([0.5]))
    assert around_mean([0.5]) == (0.5, 0.5, 0.5)
    assert wilson(8, 10) == pytest.approx((0.49016, 0.94332), abs=1e-5)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(10, 10)[1] == 1.0


def test_the_confusion_matrix_counts_the_test_nodes():
    told = evidence(("a", "b"), count=12, wrong=2)
    told.part[:] = [0] * 4 + [1] * 4 + [2] * 4
    assert judged.confusion(told).tolist() == [[1, 1], [1, 1]]
    one, other = judged.by_class(np.array([[3, 1], [0, 0]]), ("a", "b"))
    assert (one.nodes, one.precision, one.recall) == (4, 1.0, 0.75)
    assert one.f1 == pytest.approx(6 / 7)
    assert (other.nodes, other.precision, other.recall, other.f1) == (0, 0.0, 0.0, 0.0)


def test_reliability_bins_hold_all_nodes_from_unsure_to_sure():
    sure = np.repeat([0.5, 0.9], 50)
    right = np.r_[np.arange(50) % 2 == 0, np.ones(50, bool)]
    low, high = judged.reliability(sure, right)
    assert (low.middle, low.right, low.count) == (0.5, 0.5, 50)
    assert (high.middle, high.right) == (pytest.approx(0.9), 1.0)
    assert judged.gap([low, high]) == pytest.approx(0.05)


def test_degrees_are_grouped_without_losing_a_node():
    degree = np.r_[np.zeros(20), np.ones(20), np.arange(2, 42), [900]].astype(int)
    groups = judged.by_degree(degree, np.ones(len(degree), bool))
    assert [one.name for one in groups[:2]] == ["0", "1"]
    assert groups[-1].name.endswith("–900")
    assert sum(one.count for one in groups) == len(degree)


def test_homophily_has_fifths_and_those_without_neighbours():
    groups = judged.by_homophily(np.array([np.nan, 0.0, 0.2, 1.0, 0.99]), np.array([1, 0, 1, 1, 0], bool))
    assert [(one.name, one.count, one.right) for one in groups] == [
        ("none", 1, 1.0),
        ("0–20%", 1, 0.0),
        ("20–40%", 1, 1.0),
        ("80–100%", 2, 0.5),
    ]


def test_evidence_reads_back_as_it_was(tmp_path):
    told = evidence()
    told.save(tmp_path)
    again = files.load(tmp_path)
    assert again.classes == told.classes
    for name in ("node", "part", "raw", "homophily", "position"):
        assert np.array_equal(getattr(again, name), getattr(told, name), equal_nan=name == "homophily")
    assert files.load(tmp_path / "elsewhere") is None


def test_evidence_of_another_version_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "VERSION", 99)
    evidence().save(tmp_path)
    monkeypatch.undo()
    assert files.load(tmp_path) is None


def test_evidence_holds_no_python_objects(tmp_path):
    np.savez(tmp_path / files.FILE, about=np.array([{}], dtype=object))
    with pytest.raises(RunFolder, match="is damaged"):
        files.load(tmp_path)


def test_what_the_scores_depend_on_matters_most():
    found = importances(list(trials(24)))
    assert next(iter(found)) == ARCHITECTURE
    assert found[ARCHITECTURE] > 0.8
    assert sum(found.values()) == pytest.approx(1)
    assert found == importances(list(trials(24)))


def test_few_or_equal_trials_say_nothing():
    assert importances([]) == {}
    assert importances(list(trials(5))) == {}
    same = [Trial("gcn", place, {"lr": place / 9}, 0.5, 1, 1.0, False) for place in range(20)]
    assert importances(same) == {}


def test_alphas_become_shares_and_closed_operations_have_none():
    assert softmax([0.0, math.log(3), None]) == pytest.approx([0.25, 0.75, 0])
    assert entropy([0.0, 0.0]) == pytest.approx(1)
    assert entropy([50.0, 0.0]) == pytest.approx(0, abs=1e-9)
    (course,) = courses(
        [(place, {"node.0": [0.0, 0.1 * place]}) for place in range(500)],
        [("node.0", ("gcn", "gin"))],
        {"node.0": 1},
    )
    assert len(course.epochs) <= 62
    assert (course.epochs[0], course.epochs[-1]) == (0, 499)
    assert course.second == 0
    assert Course("layer.0", ("max",), (1,), ((1.0,),), 0).second is None


def test_a_drawing_says_which_skips_are_kept():
    kept = {mark.tip for mark in draw(Architecture.parse(WON)).marks if mark.tip.startswith("layer")}
    assert "layer 1: its output goes to the layer aggregator" in kept
    assert "layer 2: its output is left out (zero)" in kept
    assert all("layer aggregator" not in mark.tip for mark in draw(Architecture.parse(LOST)).marks)


def test_alike_layers_of_a_deep_net_are_drawn_once():
    deep = Architecture(("gcn",) + ("gat",) * 30 + ("gcn",))
    assert [layer.place for layer in layers(deep)] == ["layer 1", "layers 2 to 31", "layer 32"]
    assert len(layers(Architecture(("gcn",) * 8))) == 8


def test_scales_have_round_ticks():
    assert Linear(0.81, 0.9, 0, 100).ticks() == [
        *((pytest.approx(0.82), "0.82"), (pytest.approx(0.84), "0.84"), (pytest.approx(0.86), "0.86")),
        *((pytest.approx(0.88), "0.88"), (pytest.approx(0.9), "0.90")),
    ]
    assert Linear(0, 10, 0, 100).at(25) == 100
    assert Log(1, 100, 0, 100).at(10) == pytest.approx(50)
    assert [text for _, text in Log(1, 1000, 0, 1).ticks()] == ["1", "3", "10", "30", "100", "300", "1,000"]
    assert round_step(0.3) == 0.5


TABLE = tables.Table(
    "t", "Of | all & 100%", ("name", "score"), [("a|b_c", 0.12345), ("<d>", float("nan"))], ("", ".2f")
)


def test_a_table_is_written_four_ways():
    assert tables.csv(TABLE) == "name,score\na|b_c,0.12345\n<d>,\n"
    assert "| a\\|b_c | 0.12 |" in tables.markdown(TABLE)
    assert "| --- | ---: |" in tables.markdown(TABLE)
    tex = tables.latex(TABLE)
    assert r"a\textbar{}b\_c & 0.12 \\" in tex
    assert r"\caption{Of \textbar{} all \& 100\%}" in tex
    assert "&lt;d&gt;" in str(tables.html(TABLE))


def test_markup_escapes_and_drops_what_is_none():
    found = element("p", "<&\x00", None, class_="a", hidden=True, title='"', tabindex=None)
    assert str(found) == '<p class="a" hidden title="&quot;">&lt;&amp;\ufffd</p>'
    assert [number(value) for value in (1.0, 0.123, -0.001, -1.5, 100.0)] == ["1", "0.12", "0", "-1.5", "100"]
    assert sentence("the first", ["gcn"]) == "The first."
    assert sentence("gcn wins.", ["gcn"]) == "gcn wins."
