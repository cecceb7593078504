"""Every task through the functions of the API: searched, tuned, judged, saved, read again, compared."""

import json

import numpy as np
import pytest

import sanegnn
import sanegnn.data
from sanegnn.aims import InductiveKnobs, LinkKnobs
from sanegnn.bundle import load
from sanegnn.bundle.predictions import predictions
from sanegnn.cli import app as cli
from sanegnn.data.ppilike import ppi_like, write_ppi
from sanegnn.runs import Run
from sanegnn.settings import (
    DataChoice,
    Field,
    Machine,
    Race,
    RunChoice,
    Search,
    Selection,
    Setting,
    Training,
)
from sanegnn.space import Architecture
from sanegnn.strategies.darts import Algorithm1
from sanegnn.tasks import InductiveTask
from sanegnn.testing.examples import example_set, example_task
from sanegnn.training import evaluate, train_net
from sanegnn.training.jobs import Job

WHAT = {
    "inductive": (example_set(), "accuracy", 3),
    "several": (example_set(several=True), "micro_f1", 3),
    "links": (example_task().data, "roc_auc", 2),
}
KNOBS = {"paper": Algorithm1(epochs=2, hidden=8), "inductive": InductiveKnobs(1), "links": LinkKnobs("mlp")}


@pytest.fixture(scope="module", params=WHAT)
def fitted(request, tmp_path_factory):
    data, _, _ = WHAT[request.param]
    folder = tmp_path_factory.mktemp("runs")
    result = sanegnn.fit(
        data,
        choice=DataChoice(task="links" if request.param == "links" else None),
        search=Search(restarts=1),
        knobs=KNOBS,
        selection=Selection(1, 1, 1, 2),
        training=Training(3, 3),
        run=RunChoice(str(folder)),
        machine=Machine(workers=1),
    )
    return request.param, result, folder / result.run


def test_fit_searches_the_task_s_own_space_and_judges_by_its_own_score(fitted):
    name, result, folder = fitted
    _, metric, depth = WHAT[name]
    assert result.metric == metric
    assert Architecture.parse(result.architecture).depth == depth
    assert len(result.tests) == 2
    assert all(0 <= score <= 1 for score in result.tests)
    kept = Run.reading(folder).settings
    assert (kept["search"]["space"], kept["search"]["depth"]) == ("paper", depth)
    table = "links" if name == "links" else "inductive"
    assert kept[table] == KNOBS[table].table()


def test_the_model_predicts_for_its_data(fitted):
    name, _, folder = fitted
    data, _, _ = WHAT[name]
    model = load(folder)
    table = predictions(model, model.graphs(data))
    if name == "links":
        assert table.column_names == ["source", "target", "p(link)"]
        return
    assert table.column_names[:3] == ["graph", "id", "predicted"]
    assert len(table) == sum(one.num_nodes for one in data.graphs)
    odds = model.predict_proba(data.graphs[4])
    assert odds.shape == (data.graphs[4].num_nodes, 3)
    assert np.allclose(odds.sum(1), 1, atol=1e-5) == (name == "inductive")
    said = table.column("predicted").to_pylist()[-len(odds) :]
    if name == "several":
        assert said == ["|".join(str(k) for k in np.flatnonzero(row > 0.5)) for row in odds]
    else:
        assert said == [data.classes[place] for place in odds.argmax(1)]


def test_human_designs_are_compared_on_unseen_graphs(tmp_path):
    board = sanegnn.compare(
        example_set(several=True),
        field=Field(("gcn", "sage"), ("0",)),
        race=Race(trials=1, repeats=1),
        knobs=KNOBS,
        training=Training(2, 2),
        run=RunChoice(str(tmp_path)),
        machine=Machine(workers=1),
    )
    assert board.metric == "micro_f1"
    assert {row.contender for row in board.rows} == {"gcn", "sage"}
    assert all(row.tests for row in board.rows)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_ppi(folder / "PPI" / "raw", ppi_like(0, 0.05))
    return folder


def test_who_reads_no_edge_misses_the_labels_of_the_stand_in(root):
    """A label that depends on two hops: a net over features alone stays behind."""
    task = InductiveTask.of(sanegnn.data.load("ppi", root), "public")
    setting = Setting(hidden=64, heads=1, scaling="standard", input_dropout=0.0, dropout=0.1, lr=0.01)
    ready, scores = task.ready("standard", "cpu"), {}
    for text in ("linear,linear", "sage_mean", "sage_mean,sage_mean"):
        job = Job(Architecture.parse(text), setting.but(weight_decay=0.0), Training(40, 40), 0)
        net = job.net(ready)
        train_net(net, ready, job.setting, job.training, 0)
        scores[text] = evaluate(net, ready, "test")[0]
    assert scores["sage_mean,sage_mean"] > 0.68
    assert scores["sage_mean,sage_mean"] > scores["linear,linear"] + 0.04
    assert scores["sage_mean,sage_mean"] > scores["sage_mean"]


def test_the_stand_in_is_written_and_trained_on_by_commands(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["generate", "ppi-like", "data/PPI/raw", "--scale", "0.012", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["graphs"], made["nodes"]) == (24, 683)
    quick = "--arch gcn --epochs 2 --repeats 1 --hidden 8 --workers 1 --inductive.batch 7 --json --quiet"
    assert cli.run(["train", "ppi", "--data-root", "data", *quick.split()]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["metric"], told["split"]) == ("micro_f1", "public")
    assert cli.run(["predict", f"runs/{told['run']}", "ppi", "--data-root", "data", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == 683
    assert cli.run(["doctor", "ppi", "--data-root", "data", "--json"]) == 0
    codes = {one["code"] for one in json.loads(capsys.readouterr().out)["findings"]}
    assert {"sizes", "labels"} <= codes
    assert cli.run(["doctor", "ppi", "--data-root", "data", "--task", "links"]) == 2
    assert "task 'links' needs a GraphData, but ppi is a GraphSet" in capsys.readouterr().err
    assert cli.run(["generate", "ppi", "x"]) == 2
    assert "did you mean 'ppi-like'" in capsys.readouterr().err
