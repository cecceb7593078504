import json
from types import SimpleNamespace

import pytest

import sanegnn
from sanegnn import Machine, RunChoice, Sample, Setting, Training
from sanegnn.census import drawn
from sanegnn.errors import UnknownName
from sanegnn.events import Stage
from sanegnn.ranking import GroundTruth
from sanegnn.records import Measured, Scored, TestOpened
from sanegnn.runs import Run
from sanegnn.space import space
from sanegnn.training import jobs, select

SHORT = {"setting": Setting(hidden=8, heads=2), "training": Training(6, 6), "machine": Machine(workers=1)}
FEW = Sample(architectures=3, seeds=2)


def measured(folder, sample=FEW, **more):
    return sanegnn.truth("digits", sample=sample, run=RunChoice(str(folder)), **{**SHORT, **more})


def read(folder, result):
    return GroundTruth.read(folder / result.run / "truth.jsonl")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return SimpleNamespace(folder=folder, result=measured(folder))


def test_every_architecture_has_a_score_for_every_seed(done):
    truth = read(done.folder, done.result)
    assert [len(scores) for scores in truth.scores.values()] == [2, 2, 2]
    assert done.result.validation == pytest.approx(truth.best)
    assert done.result.architecture in map(str, truth.scores)
    assert "Kendall tau between seeds" in done.result.words
    assert [row["validation"] for row in done.result.others] == sorted(truth.means.values(), reverse=True)
    assert truth.about["dataset"] == "digits"
    assert truth.about["setting"]["hidden"] == 8
    records = Run.reading(done.folder / done.result.run).records(Measured)
    assert len({one.seed for one in records}) == 6


def test_the_test_set_stays_sealed(done):
    run = Run.reading(done.folder / done.result.run)
    assert done.result.tests == []
    assert not run.records(TestOpened)
    assert not run.records(Scored)


def test_it_goes_on_where_it_was(done, tmp_path, monkeypatch):
    def falters(task, job, count=[0]):  # noqa: B006
        count[0] += 1
        if count[0] == 4:
            raise KeyboardInterrupt
        return jobs.do(task, job)

    monkeypatch.setattr(select, "do", falters)
    with pytest.raises(KeyboardInterrupt):
        measured(tmp_path)
    monkeypatch.undo()
    stages = []
    again = measured(tmp_path, on_event=lambda event: stages.append(event) if type(event) is Stage else None)
    assert [(stage.total, stage.done) for stage in stages] == [(6, 3)]
    assert read(tmp_path, again).scores == read(done.folder, done.result).scores


def test_a_training_that_goes_astray_scores_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(select, "do", lambda task, job: jobs.Outcome(None, why="no epoch gave a finite loss"))
    truth = read(tmp_path, measured(tmp_path))
    assert set(truth.scores.values()) == {(0.0, 0.0)}


def test_a_sample_is_the_same_for_every_dataset_and_grows_by_its_end():
    paper = space("paper", 3)
    many = drawn(paper, 150, 0)
    assert len(set(many)) == 150
    assert drawn(paper, 10, 0) == many[:10]
    assert drawn(paper, 10, 1) != many[:10]
    assert all(one in paper for one in many)


def test_a_small_space_is_taken_whole():
    assert set(drawn(space("plain", 1), 50, 0)) == set(space("plain", 1))


def test_an_unknown_space_is_refused_before_a_folder_is_made(tmp_path):
    with pytest.raises(UnknownName, match="papre"):
        measured(tmp_path, Sample(space="papre"))
    assert not list(tmp_path.iterdir())


def test_the_command_gives_the_same(done, tmp_path, capsys, monkeypatch):
    from sanegnn.cli.app import run

    monkeypatch.chdir(tmp_path)
    command = "truth digits --architectures 3 --hidden 8 --heads 2 --epochs 6 --patience 6 --workers 1"
    assert run([*command.split(), "--json", "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["validations"] == list(done.result.validations)
    assert said["test"] is None
