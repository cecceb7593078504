"""From files to a model to predictions, by the command line, in processes of their own."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import citations as made
import sanegnn
from sanegnn.bundle.predictions import predictions
from sanegnn.cli import app as cli
from sanegnn.settings import DataChoice, Machine, Repeats, RunChoice, Tables, Training


def shell(*arguments, cwd):
    command = [sys.executable, "-W", "error::UserWarning", "-m", "sanegnn", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=200, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with tables and a run that was trained on them in this process."""
    folder = tmp_path_factory.mktemp("own")
    for ending in ("csv", "parquet"):
        made.write(made.papers(), folder / f"nodes.{ending}")
        made.write(made.citations(), folder / f"edges.{ending}")
    made.write(made.papers(40, 5, 1000), folder / "new.csv")
    made.write(made.citations(40, 5, 1000), folder / "new-edges.csv")
    return folder


@pytest.fixture(scope="module")
def model(place):
    files = Tables(nodes=(str(place / "nodes.csv"),), edges=(str(place / "edges.csv"),), label="topic")
    result = sanegnn.train(
        files,
        "gcn,gat",
        choice=DataChoice("part", undirected=True),
        repeats=Repeats(2),
        training=Training(8),
        run=RunChoice(folder=str(place / "runs"), name="one"),
        machine=Machine(device="cpu", workers=1),
    )
    assert result.tests
    return sanegnn.load(place / "runs" / "one")


def probabilities(table):
    return np.stack([table[name].to_numpy() for name in table.column_names if name.startswith("p(")], axis=1)


@pytest.mark.parametrize(
    ("given", "to"), [("csv", "out.csv"), ("csv", "out.parquet"), ("parquet", "out.arrow")]
)
def test_a_fresh_process_predicts_the_same(place, model, given, to):
    options = ("--nodes", f"nodes.{given}", "--edges", f"edges.{given}")
    said = shell("predict", "runs/one/model", *options, "-o", to, "--json", cwd=place)
    here = predictions(model, model.read(made.papers(), made.citations()))
    readers = {"csv": pyarrow.csv.read_csv, "parquet": pyarrow.parquet.read_table,
               "arrow": pyarrow.feather.read_table}  # fmt: skip
    there = readers[to.split(".")[1]](place / to)
    assert there.column_names == here.column_names
    assert there["id"].to_pylist() == made.papers()["paper_id"].to_pylist()
    assert there["predicted"].to_pylist() == here["predicted"].to_pylist()
    assert np.abs(probabilities(there) - probabilities(here)).max() < 1e-6
    assert json.loads(said)["nodes"] == 60


def test_new_nodes_beside_the_old_and_whole_new_graphs(place, model):
    alone = predictions(model, model.read(place / "new.csv", place / "new-edges.csv"))
    both = predictions(
        model,
        model.read([place / "nodes.csv", place / "new.csv"], [place / "edges.csv", place / "new-edges.csv"]),
    )
    assert both["id"].to_pylist()[60:] == alone["id"].to_pylist()
    assert np.allclose(probabilities(both)[60:], probabilities(alone), atol=1e-6)
    old = predictions(model, model.read(made.papers(), made.citations()))
    assert np.allclose(probabilities(both)[:60], probabilities(old), atol=1e-6)


def test_a_node_without_a_label_is_predicted(model):
    table = predictions(model, model.read(made.papers(), made.citations()))
    unlabelled = [row for row, topic in enumerate(made.papers()["topic"].to_pylist()) if topic is None]
    assert len(unlabelled) == 6
    assert set(table.take(unlabelled)["predicted"].to_pylist()) <= set(made.TOPICS)
    assert pa.compute.max(table["confidence"]).as_py() <= 1


def test_tables_without_labels_are_predicted_alike(model):
    nodes = made.papers().drop_columns(["topic", "part"])
    assert np.array_equal(
        model.predict_proba(model.read(nodes, made.citations())),
        model.predict_proba(model.read(made.papers(), made.citations())),
    )


def test_what_cannot_be_done_is_one_line(place, model, capsys, monkeypatch):
    monkeypatch.chdir(place)
    cases = {
        ("predict", "runs/one"): "nothing to predict: give --nodes and --edges",
        ("predict", "runs/one", "digits"): "the model was fitted on",
        ("predict", "runs", "digits"): "runs is no model",
        (
            "predict",
            "runs/one",
            "--nodes",
            "new.csv",
            "--edges",
            "edges.csv",
        ): "edges.csv, line 2, column 'citing'",
        (
            "predict",
            "runs/one",
            "--nodes",
            "nodes.csv",
            "--edges",
            "edges.csv",
            "-o",
            "a.xls",
        ): "known endings",
        ("fit", "cora", "--nodes", "nodes.csv"): "give one of the two",
        ("doctor", "--nodes", "nodes.csv"): "no table of edges came",
    }
    for arguments, words in cases.items():
        assert cli.run(arguments) == 2
        out, err = capsys.readouterr()
        assert words in err
        assert err.count("\n") == 1
        assert not out


def test_the_doctor_shows_what_columns_are_taken_for(place, capsys):
    files = ["--nodes", str(place / "nodes.csv"), "--edges", str(place / "edges.csv"), "--label", "topic"]
    assert cli.run(["doctor", *files, "--kinds", "year=category", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    kinds = {row["column"]: row["taken for"] for row in told["columns"]}
    assert kinds["year"] == "category"
    assert kinds["title"] == "text"
    assert {row["column"]: row["missing"] for row in told["columns"]}["venue"] == 6


def test_cora_as_csv_is_cora(dataset, tmp_path):
    """Written out as two files, read, trained briefly and predicted again."""
    cora = dataset("cora")
    words = cora.x.toarray().astype(int)
    columns = {"paper_id": [f"paper {node}" for node in range(cora.num_nodes)]}
    columns |= {f"w{place}": words[:, place] for place in range(cora.num_features)}
    columns["topic"] = [f"topic {cora.classes[place]}" for place in cora.y]
    ends = [pa.array([f"paper {node}" for node in row]) for row in cora.edges]
    pyarrow.csv.write_csv(pa.table(columns), tmp_path / "nodes.csv")
    pyarrow.csv.write_csv(pa.table({"source": ends[0], "target": ends[1]}), tmp_path / "edges.csv")
    files = ("--nodes", "nodes.csv", "--edges", "edges.csv")
    said = shell(
        *("train", "--arch", "gcn,gcn", *files, "--label", "topic", "--epochs", "30", "--repeats", "1"),
        *("--workers", "1", "--json", "--quiet"),
        cwd=tmp_path,
    )
    result = json.loads(said)
    assert result["test"] > 0.8
    shell("predict", f"runs/{result['run']}", *files, "-o", "out.csv", cwd=tmp_path)
    found = pyarrow.csv.read_csv(tmp_path / "out.csv")["predicted"].to_pylist()
    assert np.mean([a == b for a, b in zip(found, columns["topic"], strict=True)]) > 0.85
    graph = sanegnn.read(tmp_path / "nodes.csv", tmp_path / "edges.csv", label="topic")
    assert np.array_equal(graph.edges, cora.edges)
    assert np.array_equal(graph.y, cora.y)
    constant = cora.x.toarray().std(0) == 0
    assert graph.num_features == int((~constant).sum())
