"""Records as curves of other people's dashboards."""

import json
import math
import sys

import pytest

import sanegnn
from sanegnn.cli import app as cli
from sanegnn.errors import BadSetting, UnknownName
from sanegnn.records import Done, Retrain, Scored
from sanegnn.runs import Run
from sanegnn.tracking import Feed, Number, hand_over
from tests.reporting.told import WON, begun, finished


class Kept:
    """A tracker that only remembers."""

    usual = "nowhere"

    def __init__(self, *about):
        self.about, self.told, self.files, self.ended = about, [], [], None

    def numbers(self, numbers):
        self.told += numbers

    def file(self, path):
        self.files.append(path.name)

    def close(self, done):
        self.ended = done


def test_every_record_is_told_once(tmp_path):
    with begun(tmp_path) as run:
        source = Feed(run.path)
        first = source.new()
        assert {one.name for one in first if one.step == 90} >= {
            "search/restart-0/val_score",
            "search/restart-0/entropy/layer.0",
        }
        assert source.new() == []
        run.append(Retrain(WON, {}, 0, 0.9, 3, 1.0, 10))
        run.append(Retrain(WON, {}, 1, math.nan, 3, 1.5, 10))
        run.append(Scored(WON, 0, 0.8))
        assert source.new() == [
            Number("retrain/validation", 1, 0.9),
            Number("retrain/seconds", 1, 1.0),
            Number("retrain/seconds", 2, 1.5),
            Number("test/score", 1, 0.8),
        ]


def test_a_run_that_works_is_followed_until_it_is_done(tmp_path, monkeypatch):
    run, kept = begun(tmp_path), Kept()

    def meanwhile(_seconds):
        run.append(Scored(WON, 0, 0.8))
        run.append(Done({}))

    monkeypatch.setattr("time.sleep", meanwhile)
    hand_over(run.path, kept, wait=True)
    run.close()
    assert kept.told[-1] == Number("test/score", 1, 0.8)
    assert kept.ended is True


def test_without_following_what_is_there_is_told(tmp_path):
    begun(tmp_path).close()
    kept = Kept()
    assert hand_over(tmp_path / "it", kept, wait=False) == len(kept.told) > 0
    assert kept.ended is False


def test_tensorboard_has_the_curves_and_no_old_ones(tmp_path, capsys):
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    path = finished(tmp_path / "runs")
    for _ in range(2):
        assert cli.run(["track", str(path), "--to", str(tmp_path / "board")]) == 0
    assert "handed to tensorboard" in capsys.readouterr().out
    events = EventAccumulator(str(tmp_path / "board" / "it")).Reload()
    assert [one.value for one in events.Scalars("test/score")] == pytest.approx([0.85, 0.86, 0.84])
    assert len(events.Scalars("search/restart-0/val_loss")) == 90


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_has_settings_curves_and_the_report_of_one_run(tmp_path, monkeypatch):
    tracking = pytest.importorskip("mlflow.tracking", reason="MLflow is not installed")
    monkeypatch.chdir(tmp_path)  # the artifacts of a local store lie in the working folder
    path = finished(tmp_path / "runs")
    sanegnn.report(path)
    for _ in range(2):
        sanegnn.track(path, "mlflow")
    client = tracking.MlflowClient("sqlite:///mlflow.db")
    (run,) = client.search_runs([client.get_experiment_by_name("cora").experiment_id])
    assert run.data.metrics["test/together"] == pytest.approx(0.87)
    assert run.data.params["search.depth"] == "3"
    assert run.info.status == "FINISHED"
    assert [one.path for one in client.list_artifacts(run.info.run_id)] == ["report.html"]


def test_a_missing_package_and_an_unknown_tracker_are_named(tmp_path, monkeypatch):
    path = finished(tmp_path)
    for name in ("mlflow", "mlflow.entities"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BadSetting, match=r"pip install sanegnn\[mlflow\]"):
        sanegnn.track(path, "mlflow")
    with pytest.raises(UnknownName, match="no tracker named 'wandb'"):
        sanegnn.track(path, "wandb")


def test_the_command_speaks_json(tmp_path, monkeypatch, capsys):
    path = finished(tmp_path)
    monkeypatch.setattr("sanegnn.tracking.feed.trackers", {"tensorboard": Kept})
    assert cli.run(["track", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["run"], told["tracker"]) == ("it", "tensorboard")
    assert told["points"] > 100


def test_optuna_reads_the_study_of_a_run(tmp_path):
    """What optuna-dashboard opens: a journal of finished trials with Optuna's own storage."""
    from optuna import load_study
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    from sanegnn.space import Architecture
    from sanegnn.training.jobs import Outcome
    from sanegnn.training.tune import Study, storage

    file = tmp_path / "study.journal"
    study = Study(storage(file), Architecture.parse("gcn,gcn"), 0)
    study.tell(next(iter(study.ask(0, 1).values())), Outcome(0.9, 3, 1.0))
    kept = JournalStorage(JournalFileBackend(str(file)))
    assert [one.value for one in load_study(study_name="gcn,gcn", storage=kept).trials] == [0.9]


def test_a_run_is_read_only(tmp_path):
    path = finished(tmp_path)
    before = (path / "records.jsonl").read_bytes()
    hand_over(path, Kept(), wait=False)
    assert (path / "records.jsonl").read_bytes() == before
    assert Run.reading(path).records(Done)
