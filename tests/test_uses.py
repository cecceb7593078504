"""Export and explain by the command line, from files to files."""

import json

import pytest

import citations as made
import sanegnn
from sanegnn.cli import app as cli
from sanegnn.settings import DataChoice, Machine, Repeats, RunChoice, Search, Seed, Tables, Training
from sanegnn.strategies.candidates import TrialAndError

MACHINE = Machine(device="cpu", workers=1)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Tables, a trained net and a search of three plain stacks."""
    folder = tmp_path_factory.mktemp("uses")
    made.write(made.papers(), folder / "nodes.csv")
    made.write(made.citations(), folder / "edges.csv")
    files = Tables(nodes=(str(folder / "nodes.csv"),), edges=(str(folder / "edges.csv"),), label="topic")
    shared = {"choice": DataChoice("part", undirected=True), "training": Training(6), "machine": MACHINE}
    run = RunChoice(folder=str(folder / "runs"), name="trained")
    sanegnn.train(files, "gcn,sage_mean", repeats=Repeats(2), run=run, **shared)
    run = RunChoice(folder=str(folder / "runs"), name="searched")
    asked, knobs = Search("random", "plain", 1, 1), {"random": TrialAndError(candidates=3, epochs=6)}
    sanegnn.search(files, search=asked, knobs=knobs, seed=Seed(1), run=run, **shared)
    return folder


def said(capsys, *arguments, code=0):
    assert cli.run([str(one) for one in arguments]) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


def files(place):
    return "--nodes", place / "nodes.csv", "--edges", place / "edges.csv"


def test_code_is_written_beside_the_model_and_checked(place, capsys):
    out = said(capsys, "export", place / "runs" / "trained" / "model", "--to", "code")
    folder = place / "runs" / "trained" / "export"
    assert {path.name for path in folder.iterdir()} == {"net.py", "weights.npz", "example.npz"}
    assert "in a process without sanegnn" in out
    text = (folder / "net.py").read_text(encoding="utf-8")
    assert "classes     biology, computing, physics" in text
    assert "epochs=6," in text
    assert "Every edge is there in both directions." in " ".join(text.split())


def test_the_help_names_every_format(capsys):
    from sanegnn.exporting import formats

    out = said(capsys, "export", "--help")
    assert all(name in out for name in formats)


def test_a_prediction_is_explained_as_a_table_and_as_json(place, capsys):
    asked = ("explain", place / "runs" / "trained", *files(place), "--node", "p7", "--top", "3")
    out = said(capsys, *asked)
    assert out.startswith("node              p7\npredicted         ")
    assert "source" in out
    assert "without" in out
    told = json.loads(said(capsys, *asked, "--json"))
    assert told["node"] == "p7"
    assert len(told["edges"]) == 3
    assert told["features"][0]["feature"].split(":")[0].split(" ")[0]


def test_a_design_is_explained_from_its_run(place, capsys):
    asked = ("explain", place / "runs" / "searched", "--repeats", "2", "--workers", "1", "--quiet")
    told = json.loads(said(capsys, *asked, "--json"))
    assert told["architecture"] in said(capsys, *asked)
    (row,) = told["rows"]
    assert row["slot"] == "node.0"
    assert row["op"] == told["architecture"] != row["runner_up"]
    assert row["words"] in ("no difference measured", "worse without", "better without")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("export", "runs/trained", "--to", "onxx"), "no export format named 'onxx'; did you mean 'onnx'?"),
        (("export", "runs/searched"), "is no model"),
        (("explain", "runs/trained"), "searched nothing"),
        (("explain", "runs/trained", "--node", "p7"), "nothing to explain in: give --nodes and --edges"),
        (("explain", "runs/trained", "--node", "x9", "FILES"), "has no node 'x9'; its ids are like 'p0'"),
    ],
)
def test_what_cannot_be_done_is_one_line(place, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(place)
    given = [one for part in arguments for one in (files(place) if part == "FILES" else (part,))]
    err = said(capsys, *given, code=2)
    assert words in err
    assert err.count("\n") == 1
