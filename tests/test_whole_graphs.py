"""Whole graphs through the commands, from files in the layout of the TU datasets."""

import csv
import json

import numpy as np
import pytest

import sanegnn
from sanegnn.cli import app as cli
from sanegnn.data.motifs import motifs
from sanegnn.settings import Field, Machine, Race, RunChoice, Search, Selection, Training
from sanegnn.space import Architecture
from sanegnn.strategies.random import Random

QUICK = ["--epochs", "3", "--repeats", "1", "--hidden", "8", "--workers", "1", "--json", "--quiet"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Forty motifs as TU files, in the current folder."""
    monkeypatch.chdir(tmp_path)
    data = motifs(0, graphs=40)
    made = tmp_path / "chains"
    made.mkdir()
    tables = {
        "A": data.edges.T + 1,
        "graph_indicator": data.graph + 1,
        "graph_labels": data.y,
        "node_labels": data.x.argmax(1),
    }
    for name, table in tables.items():
        np.savetxt(made / f"CHAINS_{name}.txt", table, fmt="%d", delimiter=", ")
    return made


def told(capsys, *words):
    assert cli.run([*words]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_folder_of_tu_files_is_looked_at_trained_on_and_predicted(folder, capsys):
    codes = {one["code"] for one in told(capsys, "doctor", "chains", "--json")["findings"]}
    assert {"sizes", "classes"} <= codes
    made = told(capsys, "train", "chains", "--arch", "gin,gin | sum", "--graphs.batch", "16", *QUICK)
    assert (made["metric"], made["split"]) == ("accuracy", "fold 0 of 10, seed 0")
    assert cli.run(["predict", f"runs/{made['run']}", "chains", "-o", "said.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("40 graphs in said.csv: ")
    with (folder.parent / "said.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [str(number) for number in range(40)]
    assert {row["predicted"] for row in rows} <= {"0", "1"}
    assert not (folder / "processed").exists()


def test_fit_and_compare_take_the_task_s_space_and_its_rivals(tmp_path):
    data, knobs = motifs(0, graphs=40), {"random": Random.knobs(candidates=1, epochs=2, patience=2)}
    shared = {
        "knobs": knobs,
        "training": Training(2, 2),
        "run": RunChoice(str(tmp_path)),
        "machine": Machine(workers=1),
    }
    result = sanegnn.fit(data, search=Search("random", restarts=1), selection=Selection(1, 1, 1, 1), **shared)
    assert Architecture.parse(result.architecture).pool is not None
    terms = {"field": Field(("human,random",), ("0",)), "race": Race(trials=1, repeats=1, restarts=1)}
    board = sanegnn.compare(data, **terms, **shared)
    assert {row.contender for row in board.rows} == {
        *("graph-gin", "graph-gcn", "graph-gat", "graph-sage", "graph-dgcnn", "graph-topk", "random"),
    }
    assert all(row.tests for row in board.rows)


def test_numbers_are_compared_too(tmp_path):
    board = sanegnn.compare(
        motifs(0, graphs=40, numbers=True),
        field=Field(("graph-gin",), ("0", "1")),
        race=Race(trials=2, repeats=1),
        training=Training(2, 2),
        run=RunChoice(str(tmp_path)),
        machine=Machine(workers=1),
    )
    assert board.metric == "neg_mae"
    assert all(score < 0 for row in board.rows for scores in row.tests.values() for score in scores)
