"""The functions of the library on a small graph: results, honesty, and that a kill costs nothing."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from killed import fit as small_fit
from sanegnn import (
    DataChoice,
    Machine,
    Repeats,
    RunChoice,
    Search,
    Seed,
    Selection,
    Setting,
    Training,
    Tuning,
    api,
    journal,
    session,
)
from sanegnn.data import stratified
from sanegnn.data.generate import planted_partition
from sanegnn.errors import BadArchitecture, BadSplit, RunFolder, TrainingFailed, UnknownName
from sanegnn.events import Began, Stage, Step
from sanegnn.records import (
    Derived,
    Done,
    Epoch,
    Record,
    Retrain,
    Scored,
    TestOpened,
    Together,
    Trial,
    Verdict,
)
from sanegnn.runs import Run
from sanegnn.space import Architecture, plain_designs
from sanegnn.strategies.darts import Algorithm1
from sanegnn.tasks import NodeTask

PLANTED = planted_partition(0, nodes=120, classes=3, features=8, homophily=0.5, signal=0.5)
OWN = PLANTED.named("own", splits={"own": stratified(PLANTED.y, 0)}, public="own")
TINY = {
    "search": Search(restarts=1, depth=2),
    "knobs": {"paper": Algorithm1(epochs=3, hidden=8)},
    "selection": Selection(trials=1, rounds=1, finalists=2, repeats=2),
    "training": Training(epochs=3),
    "machine": Machine(workers=1),
}
FIVE = {"training": Training(epochs=5), "machine": Machine(workers=1)}


def fit(folder, data=PLANTED, **changes):
    return api.fit(data, **{**TINY, "run": RunChoice(folder=str(folder), name="it"), **changes})


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    return folder, fit(folder)


def records(folder, kind=Record, name="it"):
    return Run.reading(folder / name).records(kind)


# --- fit ------------------------------------------------------------


def test_fit_gives_an_architecture_its_setting_and_its_scores(fitted):
    _, result = fitted
    assert Architecture.parse(result.architecture)
    assert Setting.of(result.setting).table() == result.setting
    assert len(result.validations) == len(result.tests) == 2
    assert result.validation == pytest.approx(sum(result.validations) / 2)
    assert result.test == pytest.approx(sum(result.tests) / 2)
    assert 0 <= result.test <= 1
    assert (result.dataset, result.split, result.metric) == ("planted-0", "60/20/20 seed 0", "accuracy")
    assert result.architecture in result.words


def test_plain_designs_are_candidates_too(fitted):
    folder, result = fitted
    tried = {trial.architecture for trial in records(folder, Trial)}
    found = {derived.architecture for derived in records(folder, Derived)}
    assert tried == found | {str(design) for design in plain_designs(2)}
    assert {row["architecture"] for row in result.others} == tried


def test_the_winner_is_the_best_by_validation(fitted):
    folder, result = fitted
    (verdict,) = records(folder, Verdict)
    means = {}
    for one in records(folder, Retrain):
        means.setdefault(one.architecture, []).append(one.validation)
    assert len(means) == 2
    assert result.architecture == verdict.architecture == max(means, key=lambda text: sum(means[text]))
    assert verdict.words == result.words


def test_the_test_set_is_opened_once_and_last(fitted):
    folder, result = fitted
    kinds = [type(record) for record in records(folder)]
    assert kinds.count(TestOpened) == 1
    assert kinds[kinds.index(TestOpened) :] == [TestOpened, Scored, Scored, Together, Done]
    assert kinds[kinds.index(TestOpened) - 1] is Verdict
    (opened,) = records(folder, TestOpened)
    assert (opened.by, opened.architecture) == ("fit", result.architecture)


def test_a_run_that_is_done_gives_its_result_at_once(fitted, monkeypatch):
    folder, result = fitted
    monkeypatch.setattr(session, "Bench", None)
    assert fit(folder) == result


def test_the_supernet_s_epochs_are_kept(fitted):
    folder, _ = fitted
    epochs = journal.read(folder / "it" / "search" / "restart-0.jsonl")
    assert [epoch.epoch for epoch in epochs] == [1, 2, 3]
    assert all(isinstance(epoch, Epoch) for epoch in epochs)


def scores(result):
    return result.architecture, result.setting, result.validations, result.tests, result.words, result.others


def test_workers_change_nothing(fitted, tmp_path):
    assert scores(fit(tmp_path, machine=Machine(workers=2))) == scores(fitted[1])


def test_other_settings_in_the_same_folder_are_refused(fitted):
    folder, _ = fitted
    with pytest.raises(RunFolder, match=r"training\.epochs was 3, now 4"):
        fit(folder, training=Training(epochs=4))


def test_another_seed_is_another_run(tmp_path):
    names = {api.fit(PLANTED, **TINY, seed=Seed(s), run=RunChoice(folder=str(tmp_path))).run for s in (0, 1)}
    assert len(names) == 2


def test_what_happens_is_told(tmp_path):
    events = []
    fit(tmp_path, on_event=events.append)
    assert isinstance(events[0], Began)
    assert [event.name for event in events if isinstance(event, Stage)] == ["search", "tune", "retrain"]
    steps = [event.done for event in events if isinstance(event, Step) and event.stage == "retrain"]
    assert steps == [1, 2, 3, 4]


# --- the seal ------------------------------------------------------------


class Spied:
    """A test part whose labels tell when they are looked at."""

    def __init__(self, part, looked):
        self.rows, self._target, self._looked = part.rows, part.target, looked

    @property
    def target(self):
        self._looked()
        return self._target


def test_no_test_label_is_looked_at_before_the_record_says_so(tmp_path, monkeypatch):
    looks, of = [], NodeTask.of

    def look():
        looks.append([type(record) for record in journal.read(tmp_path / "it" / "records.jsonl")])

    def spied(*args, **more):
        task = of(*args, **more)
        object.__setattr__(task, "test", Spied(task.test, look))
        return task

    monkeypatch.setattr(NodeTask, "of", spied)
    fit(tmp_path)
    before, *after = looks
    assert before[-2:] == [Verdict, TestOpened]
    assert Scored not in before
    assert all(TestOpened in known for known in after)


def test_other_test_labels_change_no_choice(tmp_path):
    y = OWN.y.copy()
    test = OWN.splits["own"].test
    y[test] = (y[test] + 1) % 3
    choice = DataChoice(split="own")
    one, other = (
        fit(tmp_path / name, data, choice=choice) for name, data in (("a", OWN), ("b", OWN.named("own", y=y)))
    )
    assert scores(one)[:3] == scores(other)[:3]
    assert (one.words, one.others) == (other.words, other.others)
    assert one.tests != other.tests
    assert all(np.isclose(a + b, a + b) and a + b <= 1 for a, b in zip(one.tests, other.tests, strict=True))


@pytest.mark.parametrize("command", ["search", "tune"])
def test_search_and_tune_leave_the_test_set_sealed(tmp_path, monkeypatch, command):
    def refuse():
        raise AssertionError("a test label was looked at")

    of = NodeTask.of

    def spied(*args, **more):
        task = of(*args, **more)
        object.__setattr__(task, "test", Spied(task.test, refuse))
        return task

    monkeypatch.setattr(NodeTask, "of", spied)
    run = RunChoice(folder=str(tmp_path), name="it")
    if command == "search":
        result = api.search(PLANTED, search=TINY["search"], knobs=TINY["knobs"], run=run, **FIVE)
    else:
        result = api.tune(PLANTED, "gcn,gcn", tuning=Tuning(trials=2, batch=2), run=run, **FIVE)
    assert result.tests == []
    assert result.test is None
    assert not records(tmp_path, TestOpened)


# --- search, tune, train ------------------------------------------------------------


def both(function, *args, **more):
    """The result, and what the same command gives when it is done."""
    result = function(*args, **more)
    assert function(*args, **more) == result
    return result


def test_search(tmp_path):
    run = RunChoice(folder=str(tmp_path), name="it")
    knobs = {"paper": Algorithm1(epochs=3, hidden=8, top=2)}
    search = Search(restarts=2, depth=2)
    result = both(api.search, PLANTED, search=search, knobs=knobs, run=run, **FIVE)
    derived = records(tmp_path, Derived)
    assert [one.restart for one in derived] == [0, 0, 1, 1]
    assert result.architecture in {one.architecture for one in derived}
    assert len(result.validations) == 1


def test_tune(tmp_path):
    run = RunChoice(folder=str(tmp_path), name="it")
    tuning = Tuning(trials=5, batch=2)
    result = both(api.tune, PLANTED, "gat,gcn | skip,zero | max", tuning=tuning, run=run, **FIVE)
    trials = records(tmp_path, Trial)
    assert [trial.number for trial in trials] == list(range(5))
    assert result.validation == max(trial.validation for trial in trials)


def test_train(tmp_path):
    run = RunChoice(folder=str(tmp_path), name="it")
    setting = Setting(hidden=16, heads=2)
    more = {"setting": setting, "repeats": Repeats(3), "run": run, **FIVE}
    result = both(api.train, PLANTED, "gcn,gin", **more)
    assert result.setting == setting.table()
    assert len(result.validations) == len(result.tests) == 3
    assert result.test_deviation is not None


def test_train_from_another_seed_gives_other_scores(tmp_path):
    more = {"repeats": Repeats(2), "run": RunChoice(folder=str(tmp_path)), **FIVE}
    ends = [api.train(PLANTED, "gcn", seed=Seed(seed), **more) for seed in (0, 0, 1)]
    assert ends[0] == ends[1]
    assert (ends[0].run, ends[0].validations) != (ends[2].run, ends[2].validations)


def test_fresh_starts_over(tmp_path):
    more = {"repeats": Repeats(1), **FIVE}
    run = RunChoice(folder=str(tmp_path), name="it")
    first = api.train(PLANTED, "gcn", run=run, **more)
    again = api.train(PLANTED, "gin", run=RunChoice(folder=str(tmp_path), name="it", fresh=True), **more)
    assert (first.architecture, again.architecture) == ("gcn", "gin")
    assert len(records(tmp_path, Done)) == 1


# --- errors of the user ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("gcn,gatt", UnknownName, "no node aggregator named 'gatt'; did you mean 'gat'"),
        ("gcn | skp | max", UnknownName, "no skip named 'skp'; did you mean 'skip'"),
        ("gcn | skip | mx", UnknownName, "no layer aggregator named 'mx'; did you mean 'max'"),
        ("gcn gcn", BadArchitecture, "cannot read 'gcn gcn'"),
    ],
)
def test_a_bad_architecture_is_refused_before_anything_is_written(tmp_path, text, kind, words):
    for function in (api.train, api.tune):
        with pytest.raises(kind, match=words):
            function(PLANTED, text, run=RunChoice(folder=str(tmp_path / "runs")))
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"choice": DataChoice(split="publik")}, BadSplit),
        ({"choice": DataChoice(metric="f1")}, UnknownName),
        ({"search": Search(strategy="papr")}, UnknownName),
        ({"search": Search(space="papr")}, UnknownName),
        ({"data": "corra"}, UnknownName),
    ],
    ids=["split", "metric", "strategy", "space", "dataset"],
)
def test_a_bad_name_is_refused_before_anything_is_written(tmp_path, changes, kind):
    with pytest.raises(kind):
        fit(tmp_path / "runs", **changes)
    assert not (tmp_path / "runs").exists()


def test_what_does_not_train_fails_with_a_way_out(tmp_path):
    huge = PLANTED.named("huge", x=PLANTED.x * np.float32(1e37))
    setting = Setting(scaling="raw", lr=1.0)
    run = RunChoice(folder=str(tmp_path), name="it")
    with pytest.raises(TrainingFailed, match="no training of gin,gin,gin gave a finite score"):
        api.train(huge, "gin,gin,gin", setting=setting, run=run, **FIVE)


# --- kill -9 ------------------------------------------------------------


def killed(folder, workers, kills):
    command = [
        sys.executable,
        str(Path(__file__).with_name("killed.py")),
        str(folder),
        str(workers),
        str(kills),
    ]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(out.stdout.splitlines()[-1])


def compare(folder, told):
    assert told["ended"] == 0
    assert len(set(told["killed"])) > len(told["killed"]) // 2, "kills at different places are needed"
    whole, cut = (small_fit(folder / name) for name in ("whole", "cut"))
    assert scores(whole) == scores(cut)
    for kind in (Derived, Retrain, Trial, Scored, Verdict):
        ends = [sorted(map(timeless, records(folder / name, kind))) for name in ("whole", "cut")]
        assert ends[0] == ends[1], f"the records of {kind.__name__} differ"
    for place in (0, 1):
        files = [folder / name / "it" / "search" / f"restart-{place}.jsonl" for name in ("whole", "cut")]
        assert files[0].read_text() == files[1].read_text()
    assert len(records(folder / "cut", TestOpened)) == 1
    assert not list((folder / "cut").rglob(".*.tmp"))


def timeless(record):
    return str({name: value for name, value in vars(record).items() if name != "seconds"})


def test_a_run_that_is_killed_ends_with_the_same_architecture_and_scores(tmp_path):
    told = killed(tmp_path, workers=1, kills=5)
    assert len(told["killed"]) >= 3
    compare(tmp_path, told)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_is_killed_thirty_times_ends_the_same(tmp_path, workers):
    told = killed(tmp_path, workers, kills=30)
    assert len(told["killed"]) >= 10
    compare(tmp_path, told)
