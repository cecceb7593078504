"""The command line: what it takes, says, leaves and returns."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from io import StringIO
from pathlib import Path
from typing import get_type_hints

import pytest
from rich.console import Console

from sanegnn import api
from sanegnn.aims import KNOBS
from sanegnn.cli import app as cli
from sanegnn.cli.config import by_name
from sanegnn.cli.progress import Bars, Board, clock, watching
from sanegnn.cli.show import KEYS
from sanegnn.comparison import Leaderboard, Row
from sanegnn.errors import TrainingFailed
from sanegnn.events import Began, Note, Stage, Step
from sanegnn.journal import Journal
from sanegnn.records import Epoch, Retrain
from sanegnn.results import Result
from sanegnn.runs import Run
from sanegnn.settings import (
    DataChoice,
    Field,
    Knobs,
    Race,
    Repeats,
    Search,
    Seed,
    Selection,
    Setting,
    Training,
    Tuning,
)
from sanegnn.strategies import strategies

RESULT = Result(
    "one",
    "digits",
    "60/20/20 seed 0",
    "accuracy",
    "gcn,gcn",
    {"hidden": 64},
    [0.9, 0.8],
    [0.7, 0.8],
    0.85,
    61.0,
    "so",
)
ROW = Row(
    "gcn", "human", {"0": [0.7, 0.8]}, {"0": [0.8, 0.8]}, {"0": "gcn,gcn"}, 3, 0.0, 1.5, 0.5, 9, math.nan
)
BOARD = Leaderboard("one", "cora", "accuracy", ("0",), (ROW,))
JOBS = {"fit": [], "search": [], "tune": ["--arch", "gcn,gcn"], "train": ["--arch", "gcn,gcn"]}


@pytest.fixture
def asked(monkeypatch):
    """What the API is asked for, instead of doing it."""
    calls: list[dict] = []
    for name in JOBS:

        def job(*data, name=name, **options):
            calls.append({"command": name, "given": data, **options})
            return RESULT

        monkeypatch.setattr(api, name, job)

    def compare(*data, **options):
        calls.append({"command": "compare", "given": data, **options})
        return BOARD

    monkeypatch.setattr(api, "compare", compare)
    return calls


def said(capsys) -> tuple[str, str]:
    out, err = capsys.readouterr()
    return out, err


def shell(*arguments: str, cwd: Path, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-W", "error", "-m", "sanegnn", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, **options)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_helps(name, capsys):
    assert cli.run([name, "--help"]) == 0
    out, err = said(capsys)
    assert cli.COMMANDS[name][1] in out
    assert "--json" in out
    assert not err


@pytest.mark.parametrize("name", JOBS)
def test_without_options_the_api_gets_its_own_defaults(name, asked):
    assert cli.run([name, *JOBS[name]]) == 0
    (call,) = asked
    assert call["command"] == name
    assert call["given"][0] == "digits"
    knobs = {key: value for key, value in call.items() if isinstance(value, Knobs)}
    assert all(value == type(value)() for value in knobs.values())
    searched = {known: strategies[known].knobs() for known in strategies} if "search" in call else {}
    assert call["knobs"] == {**searched, **{known: knobs() for known, knobs in KNOBS.items()}}


def test_every_knob_of_the_settings_is_an_option(asked):
    given = {
        "fit": (
            "cora --split 3 --metric macro_f1 --undirected --restarts 5 --depth 2 --space plain"
            " --trials 7 --rounds 2 --finalists 4 --repeats 6 --epochs 9 --patience 8 --seed 11"
            " --paper.epochs 12 --paper.alpha-lr 0.1",
            {
                "choice": DataChoice("3", "macro_f1", undirected=True),
                "search": Search(space="plain", depth=2, restarts=5),
                "selection": Selection(7, 2, 4, 6),
                "training": Training(9, 8),
                "seed": Seed(11),
            },
        ),
        "tune": (
            "--arch gin --trials 3 --batch 2 --hidden 32 --no-residual --lr 1e-2",
            {"tuning": Tuning(3, 2), "setting": Setting(hidden=32, lr=0.01)},
        ),
        "train": ("--arch gin --repeats 2 --norm batch --residual", {"repeats": Repeats(2)}),
    }
    for name, (line, wanted) in given.items():
        assert cli.run([name, *line.split()]) == 0
        call = asked[-1]
        assert {key: call[key] for key in wanted} == wanted
    assert asked[0]["given"] == ("cora",)
    assert asked[0]["knobs"]["paper"] == strategies["paper"].knobs(epochs=12, alpha_lr=0.1)
    assert asked[2]["setting"] == Setting(norm="batch", residual=True)


WRONG = {
    "fit corra": "did you mean 'cora'",
    "fit --restart 3": "Did you mean --restarts?",
    "fit --paper.epoch 3": "Did you mean --paper.epochs?",
    "fit --strategy papr": "did you mean 'paper'",
    "fit cora citeseer": "citeseer",
    "compare --contenders gcm": "did you mean 'gcn'",
    "compare --contenders gcn --splits 1x": "no split '1x'",
    "compare --contenders gcn --trials 0": "trials = 0 is not possible",
    "fitt": 'Did you mean "fit"?',
    "train": "--arch",
    "train --arch gcn,sage-max": "no node aggregator named 'sage-max'; did you mean 'sage_max'?",
    "train --arch GCN,gcn": "no node aggregator named 'GCN'; did you mean 'gcn'?",
    "train --arch gcn,sage_maxx": "did you mean 'sage_max'",
    "train --arch gcn,gcn|skip,skip": "cannot read architecture",
    "train --arch gcn --heads 0": "heads = 0 is not possible: it must lie between 1 and 64",
    "train --arch gcn --heads many": "many",
    "train --arch gcn --norm bach": "norm = 'bach' is not possible: known: none, batch, layer",
    "train --arch gcn --split 1x": "no split '1x'",
    "train --arch gcn --name a/b": "cannot name a run",
    "space papper": "did you mean 'paper'",
    "space paper --depth 9": "depth 9 is out of range",
    "doctor diggits": "did you mean 'digits'",
    "train --arch gcn --config no.toml": "no.toml",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_users_error_is_one_line_and_code_2(line, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.run([*line.split(" "), "--json"] if line != "fitt" else [line]) == 2
    out, err = said(capsys)
    assert not out
    assert err.startswith("sanegnn: ")
    assert err.count("\n") == 1
    assert WRONG[line] in err
    assert list(tmp_path.iterdir()) == []  # and nothing half-written


def test_an_error_of_many_lines_is_still_one(monkeypatch, capsys):
    def fail(*_, **__):
        raise TrainingFailed("no finite score\n  at all")

    monkeypatch.setattr(api, "train", fail)
    assert cli.run(["train", "--arch", "gcn"]) == 2
    assert said(capsys)[1] == "sanegnn: no finite score at all\n"


def test_a_fault_of_ours_is_not_hidden(monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(api, "train", fail)
    with pytest.raises(ZeroDivisionError):
        cli.run(["train", "--arch", "gcn"])


CONFIG = """
[data]
split = "4"

[setting]
hidden = 32
input_dropout = 0.25

[training]
epochs = 12

[tuning]
trials = 99

[selection]
trials = 5

[paper]
epochs = 30
"""


def config(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return ["--config", str(path)]


@pytest.mark.parametrize("name", ["fit", "search", "compare"])
def test_knobs_that_a_strategy_inherits_are_options_too(asked, name):
    assert (
        cli.run([name, "--random.candidates", "3", "--random.hidden", "16", "--hyperband.patience", "7"]) == 0
    )
    assert asked[-1]["knobs"]["random"] == strategies["random"].knobs(candidates=3, hidden=16)
    assert asked[-1]["knobs"]["hyperband"] == strategies["hyperband"].knobs(patience=7)


def test_a_comparison_is_asked_for_by_names_splits_and_budget(asked, capsys):
    line = (
        "compare cora --contenders gcn,gat paper --splits 0 1 --trials 3 --repeats 2 --seconds 60 --depth 2"
    )
    assert cli.run([*line.split(), "--metric", "macro_f1"]) == 0
    call = asked[-1]
    assert call["given"] == ("cora",)
    assert call["field"] == Field(("gcn,gat", "paper"), ("0", "1"))
    assert call["race"] == Race(metric="macro_f1", trials=3, repeats=2, seconds=60, depth=2)
    out = said(capsys)[0]
    assert re.search(r"gcn +human +75\.00", out)
    assert "gcn has the highest mean test accuracy, 75.00; nobody else has a score" in out


def test_a_comparison_as_json(asked, capsys):
    assert cli.run(["compare", "--json"]) == 0
    table = json.loads(said(capsys)[0].splitlines()[-1])
    assert set(KEYS) <= set(table)
    assert table["rows"][0]["tests"] == {"0": [0.7, 0.8]}


def test_options_win_over_the_file_and_the_file_over_defaults(asked, tmp_path):
    options = config(tmp_path, CONFIG)
    assert cli.run(["train", "--arch", "gcn", "--hidden", "16", *options]) == 0
    assert asked[-1]["setting"] == Setting(hidden=16, input_dropout=0.25)
    assert asked[-1]["training"] == Training(epochs=12)
    assert asked[-1]["choice"] == DataChoice(split="4")
    assert cli.run(["fit", *options, "--paper.lr", "0.1"]) == 0
    assert asked[-1]["selection"] == Selection(trials=5)  # not the 99 of [tuning], which `fit` does not take
    assert asked[-1]["knobs"]["paper"] == strategies["paper"].knobs(epochs=30, lr=0.1)
    assert cli.run(["tune", "--arch", "gcn", *options]) == 0
    assert asked[-1]["tuning"] == Tuning(trials=99)


def test_the_settings_of_a_run_are_such_a_file(asked, tmp_path):
    kept = {"setting": Setting(hidden=16), "training": Training(epochs=7), "seed": Seed(5)}
    Run.open(tmp_path, "old", kept, {"command": "train gcn", "dataset": "digits", "data": "c0ffee"}).close()
    assert cli.run(["train", "--arch", "gcn", "--config", str(tmp_path / "old" / "run.toml")]) == 0
    assert {key: asked[0][key] for key in kept} == kept


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[sett]\nhidden = 3", "did you mean 'setting'"),
        ("[setting]\nhiden = 3", "did you mean 'hidden'"),
        ("[papper]\nepochs = 3", "did you mean 'paper'"),
        ('[setting]\nhidden = "x"', "hidden = 'x' has the wrong type"),
        ("[setting]\nhidden = [1, 2]", "wrong type"),
        ("[setting", "mine.toml"),
        ("hidden = 3", "hidden"),
    ],
)
def test_a_wrong_file_is_a_users_error(asked, tmp_path, capsys, text, why):
    assert cli.run(["train", "--arch", "gcn", *config(tmp_path, text)]) == 2
    assert why in said(capsys)[1]
    assert not asked


def test_json_is_the_last_line_and_has_every_key(asked, capsys):
    assert cli.run(["train", "--arch", "gcn", "--json"]) == 0
    table = json.loads(said(capsys)[0].splitlines()[-1])
    assert set(KEYS) <= set(table)
    assert (table["run"], table["architecture"], table["setting"]) == ("one", "gcn,gcn", {"hidden": 64})
    assert (table["validation"], table["test"]) == (pytest.approx(0.85), pytest.approx(0.75))


def test_json_knows_no_nan(monkeypatch, capsys):
    monkeypatch.setattr(api, "tune", lambda *_, **__: replace(RESULT, validations=[float("nan")], tests=[]))
    assert cli.run(["tune", "--arch", "gcn", "--json"]) == 0
    table = json.loads(said(capsys)[0], parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert table["validation"] is table["test"] is None


def test_people_read_a_summary(asked, capsys):
    assert cli.run(["train", "--arch", "gcn"]) == 0
    out, _ = said(capsys)
    for words in ("gcn,gcn", "hidden 64", "0.7500 ± 0.0707 over 2 trainings, accuracy", "1:01", "\nso\n"):
        assert words in out


def test_the_paper_space_has_31944_architectures(capsys):
    assert cli.run(["space", "paper", "--depth", "3", "--json"]) == 0
    assert json.loads(said(capsys)[0])["size"] == 31944
    assert cli.run(["space"]) == 0
    assert "31,944 architectures" in said(capsys)[0]


def test_every_knob_of_every_strategy_can_be_read():
    from sanegnn.cli import design

    for one in fields(design.Strategies):
        assert get_type_hints(type(getattr(design.STRATEGIES, one.name)).__init__)
    assert set(by_name(design.STRATEGIES)) == set(strategies)


def test_lists_name_everything(capsys):
    assert cli.run(["datasets", "--json"]) == 0
    assert {"digits", "cora"} <= {row["name"] for row in json.loads(said(capsys)[0])["datasets"]}
    assert cli.run(["ops"]) == 0
    out = said(capsys)[0]
    assert all(name in out for name in ("geniepath", "zero", "lstm"))
    assert cli.run(["ops", "--json"]) == 0
    assert "graphnas:<attention>:<aggregator>:<activation>:<heads>:<width>" in said(capsys)[0]
    assert cli.run(["space", "graphnas", "--depth", "2"]) == 0
    assert "88,510,464 architectures" in said(capsys)[0]
    assert cli.run(["baselines", "pubmed"]) == 0
    listed = said(capsys)[0]
    assert all(words in listed for words in ("64 × gcnii", "gcn,gcn,gcn | skip,skip,skip | concat"))
    assert cli.run(["doctor", "digits"]) == 0
    assert "warn" in said(capsys)[0]


def test_runs_are_listed_also_broken_ones(capsys, tmp_path):
    assert cli.run(["runs", "--folder", str(tmp_path / "none")]) == 0
    assert said(capsys)[0] == "no runs\n"
    about = {"command": "train gcn", "dataset": "digits", "data": "c0ffee"}
    with Run.open(tmp_path, "good", {"data": DataChoice("3")}, about) as run:
        run.append(Retrain("gcn", {}, 0, 0.8125, 3, 0.5, 10))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.toml").write_text("]")
    assert cli.run(["runs", "--folder", str(tmp_path)]) == 0
    lines = said(capsys)[0].splitlines()
    assert len(lines) == 3
    assert all(word in lines[2] for word in ("good", "unfinished", "digits", "0.8125"))
    assert "unreadable" in lines[1]
    assert "run.toml" in lines[1]


def test_help_is_quick_since_torch_stays_out(tmp_path):
    code = """
import sys
from sanegnn.cli.app import run
for line in (["--help"], ["train", "--help"], ["space", "plain"], ["runs"], ["--version"]):
    run(line)
sys.exit("torch" in sys.modules or "optuna" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Bring a graph" in done.stdout


QUICK = ("--arch", "gcn", "--epochs", "2", "--hidden", "8", "--workers", "1")


def test_a_real_command_from_end_to_end(tmp_path):
    command = ("train", "digits", *QUICK, "--repeats", "2", "--json")
    first = shell(*command, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    table = json.loads(first.stdout.splitlines()[-1])
    assert (tmp_path / "runs" / table["run"] / "records.jsonl").exists()
    assert "retrain 2/2" in first.stderr
    assert "\x1b" not in first.stderr
    again = shell(*command, "--quiet", cwd=tmp_path)
    assert again.stderr == ""
    assert json.loads(again.stdout) == table


def test_ctrl_c_says_what_is_known_and_the_same_command_goes_on(tmp_path):
    command = ["train", "digits", *QUICK, "--repeats", "40", "--name", "one"]
    job = subprocess.Popen(
        [sys.executable, "-m", "sanegnn", *command],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    records = tmp_path / "runs" / "one" / "records.jsonl"
    end = time.monotonic() + 60
    while not (records.exists() and records.read_bytes().count(b"\n") > 1):  # one may still be on its way
        assert time.monotonic() < end
        assert job.poll() is None, job.stderr.read()
        time.sleep(0.02)
    os.killpg(job.pid, signal.SIGINT)
    out, err = job.communicate(timeout=60)
    assert job.returncode == 130
    assert not out
    assert "Traceback" not in err
    last = err.splitlines()[-1]
    assert re.match(r"sanegnn: stopped at retrain \d+/40: so far gcn \(validation 0\.", last)
    assert last.endswith("the same command goes on from runs/one")
    before = records.read_bytes()
    after = shell(*command, cwd=tmp_path)
    assert after.returncode == 0, after.stderr
    assert "going on with runs/one" in after.stderr
    assert records.read_bytes().startswith(before)
    assert records.read_text().count('"kind": "retrain"') == 40


def test_a_reader_that_leaves_is_no_error(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-W", "error", "-m", "sanegnn", "space"]
    done = subprocess.run(command, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def epoch(restart: int, number: int) -> Epoch:
    return Epoch(restart, number, 0.5, 0.5, 0.25, {})


def test_a_board_follows_the_journals_of_other_processes(tmp_path):
    board = Board()
    board.take(Began("one", tmp_path, resumed=False))
    with Journal(tmp_path / "search" / "restart-0.jsonl") as first:
        first.append(epoch(0, 1))
        board.take(Stage("search", 20, follow="search/*.jsonl"))
        assert board.done == 1
        assert not board.look()
        first.append(epoch(0, 2))
        with Journal(tmp_path / "search" / "restart-1.jsonl") as second:
            second.append(epoch(1, 1))
            assert board.look()
            assert board.done == 3
            assert "restart" in board.line()
            assert "left" in board.line()
        first.truncate(lambda record: record.epoch < 2)
        with (tmp_path / "search" / "restart-1.jsonl").open("a") as torn:
            torn.write('{"kind": "ep')
        board.look()
        assert board.done == 2
        board.take(Step("search", 1, "gcn,gcn", 0.875))
        assert board.line().startswith("search 2/20  best 0.8750  gcn,gcn")


def test_a_board_that_only_hears_counts_no_steps(tmp_path):
    board = Board()
    board.take(Began("one", tmp_path, resumed=False))
    with Journal(tmp_path / "lanes" / "paper-split0" / "search" / "restart-0.jsonl") as epochs:
        board.take(Stage("lanes", 8, hear="lanes/*/search/*.jsonl"))
        board.take(Step("lanes", 2, "gcn, split 0: done"))
        epochs.append(epoch(0, 7))
        assert board.look()
        assert board.line().startswith("lanes 2/8  paper-split0: restart 0, epoch 7")
        board.take(Step("lanes", 3, "gat, split 0: done"))
        assert board.line().startswith("lanes 3/8  gat, split 0: done")


def test_the_last_epochs_of_a_stage_are_counted(tmp_path, capsys):
    with watching(quiet=False) as (_, listen), Journal(tmp_path / "search" / "restart-0.jsonl") as epochs:
        listen(Began("one", tmp_path, resumed=True))
        listen(Stage("search", 2, follow="search/*.jsonl"))
        epochs.append(epoch(0, 1))
        epochs.append(epoch(0, 2))
        listen(Stage("tune", 3))
    lines = said(capsys)[1].splitlines()
    assert lines[:2] == [f"going on with {tmp_path}", "search 0/2"]
    assert lines[2].startswith("search 2/2")
    assert lines[3:] == ["tune 0/3"]


def test_plain_lines_are_few(capsys):
    with watching(quiet=False) as (_, listen):
        listen(Note("a word"))
        listen(Stage("tune", 1000))
        for done in range(1, 1001):
            listen(Step("tune", done, "gcn", 0.5))
    lines = said(capsys)[1].splitlines()
    assert lines[:2] == ["a word", "tune 0/1000"]
    assert lines[-1] == "tune 1000/1000  best 0.5000  gcn"
    assert len(lines) < 6
    with watching(quiet=True) as (board, listen):
        listen(Stage("tune", 10))
        assert board.stage.name == "tune"
    assert said(capsys) == ("", "")


def test_bars_show_stage_count_and_best():
    screen = StringIO()
    bars = Bars(Console(file=screen, force_terminal=True, width=120))
    board = Board()
    for event in (Stage("search", 4), Step("search", 3, "gcn,gcn", 0.875), Note("a word"), Stage("tune", 2)):
        board.take(event)
        bars.event(board, event)
    bars.close()
    shown = screen.getvalue()
    for words in ("search", "3/4", "best 0.8750", "a word", "tune", "0/2"):
        assert words in shown


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (61, "1:01"), (3723, "1:02:03")])
def test_the_clock_reads_well(seconds, text):
    assert clock(seconds) == text
