"""The run folder: what survives a kill, a full disk, a second process and other settings."""

from __future__ import annotations

import errno
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sanegnn import journal
from sanegnn.errors import RunFolder
from sanegnn.journal import Journal, read, write_atomic
from sanegnn.listing import known, listing
from sanegnn.records import (
    Done,
    Epoch,
    Record,
    Retrain,
    Scored,
    Trial,
    Unknown,
    Verdict,
    from_line,
    kinds,
    to_line,
)
from sanegnn.runs import RECORDS, SETTINGS, Run, default_name
from sanegnn.settings import Setting, Training

ABOUT = {"command": "fit", "dataset": "cora", "data": "c0ffee", "split": "0"}
SETTINGS_OF = {"setting": Setting(), "training": Training()}
SCORED = Scored("gcn,gcn", 3, 0.1 + 0.2)
SAMPLES = {
    "epoch": Epoch(1, 7, 0.5, 0.25, 0.8, {"node.0": [0.1, 1 / 3], "layer.0": [1e-300]}),
    "trial": Trial("gcn", 0, {"hidden": 64, "norm": "none"}, math.inf, 3, 0.5, True),
    "scored": SCORED,
    "done": Done({"test": [0.5, None], "words": "gcn wins – by a hair"}),
}


def started(tmp_path: Path, name: str = "one", **about: str) -> Run:
    return Run.open(tmp_path, name, SETTINGS_OF, {**ABOUT, **about})


@pytest.mark.parametrize("record", SAMPLES.values(), ids=SAMPLES)
def test_a_record_reads_back_as_it_was(record):
    again = from_line(to_line(record))
    if isinstance(record, Trial):
        assert math.isnan(again.validation)
        again = replace(again, validation=record.validation)
    assert again == record
    assert "\n" not in to_line(record)


def test_a_line_is_strict_json_also_of_arrays_and_numbers_that_are_not_finite():
    line = to_line(Epoch(0, 0, math.nan, np.float32(0.5), -math.inf, {"node.0": np.array([0.5, 1.5])}))
    table = json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert table["train_loss"] is None
    assert table["val_loss"] == 0.5
    assert table["alphas"] == {"node.0": [0.5, 1.5]}


def test_a_newer_field_is_passed_over_and_a_newer_kind_is_kept(tmp_path):
    path = tmp_path / "records.jsonl"
    lines = [
        '{"kind": "scored", "architecture": "gcn", "seed": 1, "test": 0.5, "later": 1}',
        '{"kind": "from_the_future", "x": 1}',
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    with Journal(path) as records:
        records.append(SCORED)
        assert records.records(Scored) == [Scored("gcn", 1, 0.5), SCORED]
        assert records.records(Unknown) == [Unknown("from_the_future", {"x": 1})]
    assert path.read_text().splitlines()[:2] == lines


@pytest.mark.parametrize("name", kinds)
def test_a_record_without_its_fields_is_refused(name):
    with pytest.raises(ValueError, match="lacks"):
        from_line(f'{{"kind": "{name}"}}')


@pytest.mark.parametrize("torn", [b'{"kind": "sco', b"\x00\x00\x00", b'{"kind": "scored"\n', b"\xff\n"])
def test_a_torn_last_line_is_dropped_and_cut_before_the_next(tmp_path, torn):
    path = tmp_path / "records.jsonl"
    with Journal(path) as records:
        records.append(SCORED)
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert read(path) == [SCORED]
    assert path.read_bytes() == whole + torn  # reading changes nothing
    with Journal(path) as records:
        assert path.read_bytes() == whole
        records.append(SCORED)
    assert path.read_bytes() == whole * 2


@pytest.mark.parametrize(
    "line", ['{"kind": "scored", "architecture": "gcn"', '{"kind": "scored", "architecture": 3}', "[1]", ""]
)
def test_a_corrupt_middle_line_is_named(tmp_path, line):
    path = tmp_path / "records.jsonl"
    good = to_line(SCORED)
    path.write_text(f"{good}\n{line}\n{good}\n")
    with pytest.raises(RunFolder, match=rf"{path}, line 2 is corrupt .*--fresh"):
        Journal(path)
    with pytest.raises(RunFolder, match="line 2"):
        read(path)


def test_truncate_cuts_what_came_after(tmp_path):
    path = tmp_path / "search" / "restart-0.jsonl"
    epochs = [replace(SAMPLES["epoch"], epoch=number) for number in range(5)]
    with Journal(path) as records:
        for epoch in epochs:
            records.append(epoch)
        records.truncate(lambda record: record.epoch < 3)
        records.append(epochs[4])
        assert records.records(Epoch) == [*epochs[:3], epochs[4]]
    assert read(path) == [*epochs[:3], epochs[4]]


def test_a_journal_waits_for_its_last_writer_and_then_gives_up(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "PATIENCE", 0.1)
    path = tmp_path / "records.jsonl"
    with Journal(path), pytest.raises(RunFolder, match="another process"):
        Journal(path)
    Journal(path).close()


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    write, calls = os.write, []

    def full(handle: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data[:10])

    with Journal(path) as records:
        records.append(SCORED)
        whole = path.read_bytes()
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(RunFolder, match=rf"{tmp_path}.*No space left.*same command"):
            records.append(SCORED)
        monkeypatch.undo()
        assert len(calls) == 2
        assert path.read_bytes() == whole
        records.append(SCORED)
    assert path.read_bytes() == whole * 2


LIMITED = """
import resource, sys
from pathlib import Path
from sanegnn.errors import SaneError
from sanegnn.journal import Journal, write_atomic
from sanegnn.records import Scored

folder = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
try:
    if sys.argv[2] == "journal":
        with Journal(folder / "records.jsonl") as records:
            while True:
                records.append(Scored("gcn,gcn", 1, 0.5))
    write_atomic(folder / "weights.bin", b"x" * 5000)
except SaneError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize("way", ["journal", "whole"])
def test_a_file_that_the_system_cuts_off_leaves_nothing_half_written(tmp_path, way):
    run = subprocess.run([sys.executable, "-c", LIMITED, tmp_path, way], capture_output=True, text=True)
    assert run.returncode == 1
    assert str(tmp_path) in run.stderr
    assert "Traceback" not in run.stderr
    if way == "whole":
        assert list(tmp_path.iterdir()) == []
    else:
        data = (tmp_path / "records.jsonl").read_bytes()
        assert data.endswith(b"}\n")
        assert 400 < len(data) <= 500


def test_write_atomic_keeps_the_old_file_when_it_fails(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    write_atomic(path, b"old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunFolder, match="No space left"):
        write_atomic(path, b"new")
    assert [item.read_bytes() for item in tmp_path.iterdir()] == [b"old"]


def test_the_same_command_goes_on_and_says_what_it_was_asked(tmp_path):
    name = default_name("fit", "cora", "0", SETTINGS_OF)
    assert name.startswith("fit-cora-split0-")
    assert name == default_name("fit", "cora", "0", {"setting": Setting(), "training": Training()})
    assert name != default_name("fit", "cora", "0", {"setting": Setting(hidden=32), "training": Training()})
    assert name != default_name("fit", "cora", "0", SETTINGS_OF, "gcn,gcn")
    with started(tmp_path, name) as run:
        run.append(SCORED)
    with started(tmp_path, name) as run:
        assert run.records(Scored) == [SCORED]
        assert run.settings["training"]["epochs"] == Training().epochs
        assert run.about["torch"]


@pytest.mark.parametrize("name", ["../out", "a/b", "", ".hidden", "a b"])
def test_a_name_stays_below_the_root(tmp_path, name):
    with pytest.raises(RunFolder, match="cannot name a run"):
        started(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_other_settings_are_told_apart(tmp_path):
    started(tmp_path).close()
    other = {"setting": Setting(hidden=32), "training": Training(epochs=7)}
    with pytest.raises(RunFolder) as caught:
        Run.open(tmp_path, "one", other, ABOUT)
    for part in ("setting.hidden was 64, now 32", "training.epochs was 300, now 7", "--name", "--fresh"):
        assert part in str(caught.value)
    with pytest.raises(RunFolder, match=r"about\.data was 'c0ffee', now 'decaf'"):
        started(tmp_path, data="decaf")
    with pytest.raises(RunFolder, match=r"training\.epochs was 300, now not set"):
        Run.open(tmp_path, "one", {"setting": Setting()}, ABOUT)


def test_fresh_forgets_everything_but_only_of_a_run(tmp_path):
    with started(tmp_path) as run:
        run.append(SCORED)
        run.journal("search/restart-0.jsonl").close()
    other = {"setting": Setting(hidden=32)}
    with Run.open(tmp_path, "one", other, ABOUT, fresh=True) as run:
        assert run.records(Record) == []
        assert not (run.path / "search").exists()
        assert run.settings["setting"]["hidden"] == 32
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("words")
    with pytest.raises(RunFolder, match=r"not a run folder: it holds 'chapter.tex'"):
        Run.open(tmp_path, "thesis", other, ABOUT, fresh=True)
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "words"


@pytest.mark.parametrize("damage", ["", "not = [toml", "[about]\ncommand = 3\n", None])
def test_a_corrupt_settings_file_is_named(tmp_path, damage):
    with started(tmp_path) as run:
        run.append(SCORED)
    path = tmp_path / "one" / SETTINGS
    path.write_text(damage) if damage is not None else path.unlink()
    with pytest.raises(RunFolder, match=r"run\.toml.*--fresh"):
        started(tmp_path)
    with Run.open(tmp_path, "one", SETTINGS_OF, ABOUT, fresh=True) as run:
        assert run.records(Record) == []


def test_a_run_that_was_killed_before_its_first_word_begins_again(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "lock").write_text("1")
    (tmp_path / "one" / ".run.toml.x1.tmp").write_text("half")
    with started(tmp_path) as run:
        run.append(SCORED)
    assert {item.name for item in (tmp_path / "one").iterdir()} == {"lock", SETTINGS, RECORDS}


HOLDER = """
import sys, time
from pathlib import Path
from sanegnn.records import Scored
from sanegnn.runs import Run
from sanegnn.settings import Setting, Training

run = Run.open(Path(sys.argv[1]), "one", {"setting": Setting(), "training": Training()},
               {"command": "fit", "dataset": "cora", "data": "c0ffee", "split": "0"})
print("open", flush=True)
number = len(run.records(Scored))
while True:
    run.append(Scored("gcn,gcn", number, 0.5))
    number += 1
"""


def test_one_process_at_a_time_and_kill_9_loses_nothing(tmp_path):
    seen = 0
    for _ in range(4):
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE, text=True)
        with holder:
            assert holder.stdout.readline() == "open\n"
            with pytest.raises(RunFolder, match=rf"in use by process {holder.pid}\b.*--name"):
                started(tmp_path)
            Run.reading(tmp_path / "one")  # looking is always allowed
            time.sleep(0.05)
            holder.send_signal(signal.SIGKILL)
        with started(tmp_path) as run:
            seeds = [record.seed for record in run.records(Scored)]
        assert seeds == list(range(len(seeds)))
        assert len(seeds) > seen
        seen = len(seeds)


def test_a_run_open_for_reading_takes_no_record(tmp_path):
    started(tmp_path).close()
    with pytest.raises(RunFolder, match="reading"):
        Run.reading(tmp_path / "one").append(SCORED)
    with pytest.raises(RunFolder, match="not a run folder"):
        Run.reading(tmp_path / "two")


def test_what_is_known_grows_with_the_records(tmp_path):
    small, large = {"hidden": 16}, {"hidden": 64}
    with started(tmp_path) as run:
        assert known(run).architecture is None
        run.append(Trial("gat", 0, small, 0.9, 3, 0.5, pruned=True))
        run.append(Trial("gin", 1, small, 0.7, 3, 0.5, pruned=False))
        run.append(Trial("gcn", 0, small, math.nan, 3, 0.5, pruned=False))
        assert (known(run).architecture, known(run).validation) == ("gin", 0.7)
        for score in (0.6, 0.8):
            run.append(Retrain("gcn", small, 0, score, 3, 0.5, 10))
        run.append(Retrain("gcn", large, 0, 0.2, 3, 0.5, 10))
        assert (known(run).architecture, known(run).validation) == ("gcn", pytest.approx(0.7))
        run.append(Verdict("gcn", large, 0.2, 0.1, "gin", 0.1, 0.1, "gcn wins"))
        run.append(Scored("gcn", 0, 0.5))
        run.append(Scored("gcn", 1, 0.7))
        have = known(run)
        assert (have.architecture, have.validation, have.test, have.done) == ("gcn", 0.2, 0.6, False)
        run.append(Done({}))
        assert known(run).done


def test_the_list_of_runs_has_a_row_for_every_folder_also_a_broken_one(tmp_path):
    with started(tmp_path, "good") as run:
        run.append(Retrain("gcn", {}, 0, 0.8, 3, 0.5, 10))
        run.append(Done({}))
    with started(tmp_path, "torn") as run:
        run.append(SCORED)
    with (tmp_path / "torn" / RECORDS).open("a") as file:
        file.write("garbage\n{}\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("no run")
    rows = {row.name: row for row in listing(tmp_path)}
    assert set(rows) == {"good", "torn", "empty"}
    assert rows["good"].state == "done"
    assert (rows["good"].dataset, rows["good"].split, rows["good"].architecture) == ("cora", "0", "gcn")
    assert rows["torn"].state == rows["empty"].state == "unreadable"
    assert "line 2" in rows["torn"].trouble
    assert listing(tmp_path / "nowhere") == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(RunFolder, match=r"cannot write .*runs/one"):
        started(tmp_path / "runs")
