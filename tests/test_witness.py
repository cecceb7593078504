"""What the session writes down for the report once the test was opened."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from sanegnn import api, bundle, witness
from sanegnn.data import GraphData
from sanegnn.data.generate import planted_partition
from sanegnn.errors import SealedTest
from sanegnn.records import Record, Together
from sanegnn.reporting.evidence import load
from sanegnn.runs import Run
from sanegnn.settings import Machine, Repeats, RunChoice, Training

PLANTED = planted_partition(0, nodes=120, classes=3, features=8, homophily=0.5, signal=0.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("trained")
    run, machine = RunChoice(folder=str(place), name="it"), Machine(workers=1, device="cpu")
    api.train(PLANTED, "gcn,gat", repeats=Repeats(2), training=Training(epochs=5), run=run, machine=machine)
    return place / "it"


def test_the_evidence_is_what_the_saved_model_says(folder):
    told, model = load(folder), bundle.load(folder)
    odds = model.predict_proba(PLANTED)[told.node]
    assert np.array_equal(told.predicted, odds.argmax(1))
    assert told.raw == pytest.approx(odds.max(1))
    assert np.array_equal(told.target, PLANTED.y[told.node])
    test = told.of("test")
    (together,) = Run.reading(folder).records(Together)
    assert told.right[test].mean() == pytest.approx(together.test)
    assert sorted(told.node) == list(range(120))
    assert (told.position.shape, len(told.about["ids"])) == ((120, 2), 120)
    assert np.isfinite(told.position).all()
    assert any(code == "homophily" for _, code, _ in told.about["findings"])


def test_a_training_ends_with_its_report(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert 'id="figure-map"' in page
    assert 'id="figure-architecture"' in page


def test_a_search_leaves_the_test_alone_but_has_a_report(tmp_path):
    run, machine = RunChoice(folder=str(tmp_path), name="it"), Machine(workers=1, device="cpu")
    api.tune(PLANTED, "gcn", tuning=api.Tuning(2), training=Training(epochs=2), run=run, machine=machine)
    assert load(tmp_path / "it") is None
    assert "the test set is sealed" in (tmp_path / "it" / "report.html").read_text(encoding="utf-8")


def test_nothing_is_written_before_the_test_was_opened(tmp_path):
    run = SimpleNamespace(records=lambda kind: [] if kind is not Record else None, path=tmp_path)
    with pytest.raises(SealedTest, match="no evidence is written before"):
        witness.testify(SimpleNamespace(run=run))


def test_homophily_of_a_node_by_hand():
    edges = np.array([[1, 2, 3, 0, 0], [0, 0, 0, 1, 3]])
    graph = GraphData.of({"x": np.eye(5, 2), "edges": edges, "y": np.array([0, 0, 1, -1, 1])}, "g")
    first, second, *others = witness.alike(graph).tolist()
    assert (first, second) == (0.5, 1.0)  # of 1, 2 and the unlabelled 3, one is like node 0
    assert all(math.isnan(one) for one in others)


def test_the_map_takes_of_every_class_its_share():
    target = np.repeat([0, 1, 2], [900, 90, 3])
    drawn = witness.sample(target, 331, seed=0)
    assert np.bincount(target[drawn]).tolist() == [300, 30, 1]
    assert np.array_equal(drawn, witness.sample(target, 331, seed=0))
    assert not np.array_equal(drawn, witness.sample(target, 331, seed=1))
    assert np.array_equal(witness.sample(target, 5000, seed=0), np.arange(993))


def test_the_map_keeps_what_is_near_together_and_is_the_same_again():
    rng = np.random.default_rng(0)
    centre = np.repeat([[0.0] * 8, [20.0] * 8], 30, axis=0)
    placed = witness.flat(centre + rng.normal(size=(60, 8)), seed=0)
    apart = np.linalg.norm(placed[:30].mean(0) - placed[30:].mean(0))
    assert apart > 2 * placed[:30].std(0).max()
    assert np.array_equal(
        placed, witness.flat(centre + np.random.default_rng(0).normal(size=(60, 8)), seed=0)
    )


def test_a_map_of_nothing_is_flat():
    assert not witness.flat(np.ones((40, 4)), 0).any()
    assert witness.flat(np.eye(3), 0).shape == (3, 2)
