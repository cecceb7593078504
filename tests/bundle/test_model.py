"""A model: saved, loaded, and the same."""

import numpy as np
import pytest

import citations as made_papers
import sanegnn
from sanegnn.bundle import load
from sanegnn.data.generate import planted_partition
from sanegnn.errors import BadGraph, BadModel
from sanegnn.session import Session
from sanegnn.settings import DataChoice, Machine, Repeats, RunChoice, Setting, Training
from untrained import made

GRAPH = planted_partition(3, nodes=120)


def trained(folder, data, architecture="gcn,gat", **options):
    shared = {"repeats": Repeats(2), "training": Training(8), "machine": Machine(device="cpu", workers=1)}
    result = sanegnn.train(data, architecture, run=RunChoice(folder=str(folder)), **shared, **options)
    return load(folder / result.run)


@pytest.mark.parametrize("scaling", ["unit", "standard"])
@pytest.mark.parametrize("norm", ["none", "batch"])
def test_a_model_predicts_what_the_run_scored(tmp_path, monkeypatch, scaling, norm):
    kept = []
    save = Session.save
    monkeypatch.setattr(Session, "save", lambda self, *given: (kept.append(self), save(self, *given)))
    setting = Setting(hidden=16, heads=2, scaling=scaling, norm=norm)
    model = trained(tmp_path, GRAPH, setting=setting)
    test = kept[0].task.test
    shares = [
        float((net_predicts(model, net)[test.rows] == test.target).mean()) for net in range(len(model.nets))
    ]
    assert shares == pytest.approx(model.about["scores"]["test"])
    assert np.allclose(model.predict_proba(GRAPH).sum(1), 1)
    assert (model.predict(GRAPH) == np.array(GRAPH.classes)[model.predict_proba(GRAPH).argmax(1)]).all()


def net_predicts(model, place):
    from dataclasses import replace

    return replace(model, states=[model.states[place]]).predict_proba(GRAPH).argmax(1)


def test_saving_again_keeps_every_bit(tmp_path):
    model = trained(tmp_path / "runs", GRAPH)
    model.save(tmp_path / "again")
    again = load(tmp_path / "again")
    assert (again.predict_proba(GRAPH) == model.predict_proba(GRAPH)).all()
    assert (again.setting, again.scaling, again.classes, again.temperature, again.about) == (
        model.setting, model.scaling, model.classes, model.temperature, model.about
    )  # fmt: skip


def test_new_graphs_are_scaled_as_the_training_graph(tmp_path):
    """Two copies of a graph side by side: every node is predicted as in the one graph."""
    model = trained(tmp_path, GRAPH, setting=Setting(scaling="standard"))
    two = {
        "x": np.concatenate([GRAPH.x, 0 * GRAPH.x]),
        "edges": np.concatenate([GRAPH.edges, GRAPH.edges + GRAPH.num_nodes], axis=1),
    }
    assert np.allclose(model.predict_proba(two)[: GRAPH.num_nodes], model.predict_proba(GRAPH), atol=1e-6)


def test_calibration_changes_confidence_and_no_class(tmp_path):
    model = trained(tmp_path, GRAPH)
    plain, calibrated = model.predict_proba(GRAPH), model.predict_proba(GRAPH, calibrated=True)
    assert (plain.argmax(1) == calibrated.argmax(1)).all()
    assert model.temperature != 1.0
    assert not np.allclose(plain, calibrated)


def test_undirected_is_part_of_the_model(tmp_path):
    nodes, edges = made_papers.papers(), made_papers.citations()
    graph = sanegnn.read(nodes, edges, label="topic")
    model = trained(tmp_path, graph, choice=DataChoice("part", undirected=True))
    assert np.array_equal(model.predict_proba(graph), model.predict_proba(graph.undirected()))
    assert np.array_equal(model.predict_proba(model.read(nodes, edges)), model.predict_proba(graph))


def test_what_does_not_fit_is_refused(tmp_path):
    model = trained(tmp_path, GRAPH)
    with pytest.raises(BadGraph, match="fitted on 16 features, but planted-1 has 8"):
        model.predict(planted_partition(1, nodes=50, features=8))
    with pytest.raises(BadGraph, match="did not come from tables"):
        model.read(made_papers.papers(), made_papers.citations())
    tables = trained(tmp_path, sanegnn.read(made_papers.papers(), made_papers.citations(), label="topic"),
                     choice=DataChoice("part"))  # fmt: skip
    with pytest.raises(BadGraph, match="were fitted anew"):
        tables.predict(sanegnn.read(made_papers.papers(40, 9), made_papers.citations(40, 9), label="topic"))


def test_nodes_without_any_edge_are_predicted():
    """One by one as side by side."""
    model, x = made("gat,sage_mean,gcn"), GRAPH.x[:3, :6]
    together = model.predict_proba((x, np.zeros((2, 0), int)))
    alone = [model.predict_proba((x[node : node + 1], np.zeros((2, 0), int)))[0] for node in range(3)]
    assert np.allclose(together, alone, atol=1e-6)


def test_tables_without_any_edge_are_predicted(tmp_path):
    nodes, edges = made_papers.papers(), made_papers.citations()
    model = trained(tmp_path, sanegnn.read(nodes, edges, label="topic"), choice=DataChoice("part"))
    assert model.predict_proba(model.read(nodes, edges.slice(0, 0))).shape == (60, 3)


def test_content_that_is_not_understood_is_refused(tmp_path):
    from sanegnn.bundle import files

    files.write(tmp_path / "model", {"model.json": b"{}"}, "0.1")
    with pytest.raises(BadModel, match="does not understand"):
        load(tmp_path)
