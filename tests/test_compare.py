"""A comparison from end to end on a small graph: honesty, resuming, sharing."""

import json
import random
import shutil
import time

import numpy as np
import pytest

from compared import CONTENDERS, KNOBS, SPLITS, attempt, compare, planted
from killed import kill_at, lines
from sanegnn import comparing, journal
from sanegnn.baselines import Designed
from sanegnn.baselines.tuned import Trials
from sanegnn.comparison import told as of_records
from sanegnn.comparison.told import chosen
from sanegnn.data import stratified
from sanegnn.errors import RunFolder, SealedTest, TrainingFailed, UnknownName
from sanegnn.events import Note, Stage, Step
from sanegnn.listing import listing
from sanegnn.records import Done, Failed, Lap, Scored, TestOpened
from sanegnn.runs import Run
from sanegnn.settings import DataChoice, Race, Seed, Training
from sanegnn.tasks import NodeTask

LINES = 200
"""About as many lines of journals as a whole comparison has."""
FILES = ("leaderboard.csv", "leaderboard.md", "leaderboard.json", "curve.csv")


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder, events = tmp_path_factory.mktemp("compared"), []
    return folder, compare(folder, on_event=events.append), events


def scores(board):
    """All of a leaderboard but seconds and memory."""
    return {row.contender: (row.tests, row.validations, row.architectures, row.behind) for row in board.rows}


def lane_of(folder, name):
    return Run.reading(folder / "it" / "lanes" / name)


# --- the leaderboard ------------------------------------------------------------


def test_everyone_has_a_row_with_every_split_and_seed(compared):
    _, board, _ = compared
    assert {row.contender for row in board.rows} == set(CONTENDERS)
    for row in board.rows:
        assert {split: len(tests) for split, tests in row.tests.items()} == {"0": 2, "1": 2}
        assert row.trials == 5
        assert row.tuning_seconds > 0
        assert row.parameters > 0
        assert (row.search_seconds > 0) == (row.kind == "search")
    assert [row.test for row in board.rows] == sorted((row.test for row in board.rows), reverse=True)
    assert board.metric == "accuracy"


def test_the_chosen_is_the_best_of_its_lane_by_validation(compared):
    folder, board, _ = compared
    for lane in of_records.lanes(folder / "it", CONTENDERS, SPLITS):
        best = chosen(lane.race)
        assert best.phase == "tune"
        assert {(lap.label, str(lap.setting)) for lap in lane.finals} == {(best.label, str(best.setting))}
        assert board.row(lane.contender).architectures[lane.split] == best.label


def test_the_files_are_there(compared):
    folder, board, _ = compared
    assert all((folder / "it" / name).is_file() for name in FILES)
    table = json.loads((folder / "it" / "leaderboard.json").read_text())
    assert [row["contender"] for row in table["rows"]] == [row.contender for row in board.rows]


def test_the_list_of_runs_shows_who_came_first(compared):
    folder, board, _ = compared
    (row,) = listing(folder)
    assert (row.state, row.command, row.architecture) == ("done", "compare", board.rows[0].contender)
    assert (row.validation, row.test) == (board.rows[0].validation, board.rows[0].test)


def test_what_happens_is_told(compared):
    _, _, events = compared
    (stage,) = [event for event in events if isinstance(event, Stage)]
    assert (stage.name, stage.total) == ("lanes", 8)
    steps = [event for event in events if isinstance(event, Step)]
    assert max(step.done for step in steps) == 8
    assert any(step.text.startswith("gcn, split 0: tune gcn,gcn") for step in steps)


# --- honesty ------------------------------------------------------------


def test_the_test_set_is_opened_once_in_a_lane_and_after_its_race(compared):
    folder, _, _ = compared
    for path in (folder / "it" / "lanes").iterdir():
        kinds = [type(record) for record in journal.read(path / "records.jsonl")]
        assert kinds.count(TestOpened) == 1
        opened = kinds.index(TestOpened)
        assert set(kinds[:opened]) == {Lap}
        assert set(kinds[opened + 1 :]) == {Scored, Done}


def test_every_point_of_the_curve_has_a_test_score(compared):
    folder, _, _ = compared
    for lane in of_records.lanes(folder / "it", CONTENDERS, SPLITS):
        best = -1.0
        for lap in lane.race:
            if lap.validation > best:
                best = lap.validation
                assert 0 <= lane.test_of(lap) <= 1


class Spied:
    """A test part whose labels tell when they are looked at."""

    def __init__(self, part, looked):
        self.rows, self._target, self._looked = part.rows, part.target, looked

    @property
    def target(self):
        self._looked()
        return self._target


def test_no_contender_sees_a_test_label_and_the_judge_says_so_before_it_looks(tmp_path, monkeypatch):
    looks, handed, of, race = [], [], NodeTask.of, Designed.race

    def look():
        looks.append([type(one) for one in journal.read(tmp_path / "it/lanes/gcn-split0/records.jsonl")])

    def spied(*args, **more):
        task = of(*args, **more)
        object.__setattr__(task, "test", Spied(task.test, look))
        return task

    monkeypatch.setattr(NodeTask, "of", spied)
    monkeypatch.setattr(Designed, "race", lambda self, lane: (handed.append(lane), race(self, lane))[1])
    compare(tmp_path, ("gcn",), ("0",))
    assert looks
    assert all(TestOpened in before and set(before) <= {Lap, TestOpened, Scored} for before in looks)
    (lane,) = handed
    assert not hasattr(lane.bench.task, "test")
    with pytest.raises(SealedTest):
        lane.bench.task.ready("unit", "cpu").batches("test")


def test_other_test_labels_change_no_choice(tmp_path):
    y, split = planted().y.copy(), stratified(planted().y, 0)
    y[split.test] = np.roll(y[split.test], 1)
    boards = [
        compare(
            tmp_path / name, ("random",), ("own",), planted().named("own", y=labels, splits={"own": split})
        )
        for name, labels in (("as-it-is", planted().y), ("rolled", y))
    ]
    one, other = (board.row("random") for board in boards)
    assert (one.validations, one.architectures) == (other.validations, other.architectures)
    assert one.tests != other.tests


def test_random_search_is_added_with_a_word(compared, tmp_path):
    shutil.copytree(compared[0] / "it", tmp_path / "it")
    events = []
    board = compare(tmp_path, ("paper",), ("0",), on_event=events.append)
    assert {row.contender for row in board.rows} == {"paper", "random"}
    word = "random takes part as well: searchers are laid beside random search"
    assert Note(word) in events
    assert word in board.notes


def test_one_that_fails_does_not_stop_the_others(tmp_path, monkeypatch):
    real = Trials.run

    def run(self):
        if str(self.studies[0].architecture).startswith("gcn"):
            raise TrainingFailed("nothing trained")
        return real(self)

    monkeypatch.setattr(Trials, "run", run)
    board = compare(tmp_path, ("gcn", "appnp"), ("0",))
    assert [row.contender for row in board.rows] == ["appnp", "gcn"]
    assert board.row("gcn").failed == {"0": "gcn: nothing trained"}
    assert lane_of(tmp_path, "gcn-split0").records(Failed)


def test_a_bad_name_or_split_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(UnknownName, match="did you mean 'gcn'"):
        compare(tmp_path / "runs", ("gcm",))
    with pytest.raises(Exception, match="no split 'publik'"):
        compare(tmp_path / "runs", ("gcn",), ("0", "publik"))
    assert not (tmp_path / "runs").exists()


# --- resuming and sharing ------------------------------------------------------------


def test_a_comparison_that_is_done_gives_its_leaderboard_at_once(compared, monkeypatch):
    folder, board, _ = compared
    monkeypatch.setattr(comparing.Meeting, "race", None)
    assert compare(folder) == board


def test_a_comparison_grows_by_contenders_and_splits(compared, tmp_path):
    small = compare(tmp_path, ("gcn",), ("0",))
    assert [row.contender for row in small.rows] == ["gcn"]
    raced, real = [], comparing.Meeting.race
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing.Meeting, "race", lambda *args: (raced.append(args[2:]), real(*args)))
        grown = compare(tmp_path, ("gcn", "appnp"))
    assert raced == [("appnp", "0"), ("gcn", "1"), ("appnp", "1")]
    whole = scores(compared[1])
    assert {name: told[:3] for name, told in scores(grown).items()} == {
        name: whole[name][:3] for name in ("gcn", "appnp")
    }


def test_other_terms_in_the_same_folder_are_refused(compared):
    with pytest.raises(RunFolder, match=r"race\.trials was 5, now 6"):
        compare(compared[0], trials=6)


@pytest.mark.parametrize("phase", ["search", "tune", "retrain"])
def test_a_comparison_that_is_stopped_goes_on_where_it_was(compared, tmp_path, phase):
    def stop(event):
        if isinstance(event, Step) and f"split 0: {phase}" in event.text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(tmp_path, ("random",), ("0",), on_event=stop)
    (lane,) = of_records.lanes(tmp_path / "it", ("random",), ("0",))
    assert [lap.phase for lap in lane.laps].count(phase) == 1
    compare(tmp_path, ("random",), ("0",))
    assert trained(tmp_path)["random", "0"] == trained(compared[0])["random", "0"]


def killed_and_ended(folder, kills):
    """How many of the kills came before the end; the comparison is then done to its end."""
    rng, hit = random.Random(1), 0
    for share in range(1, kills + 1):
        target = max(share * LINES // (kills + 1), lines(folder) + 1)
        hit += bool(kill_at(attempt(folder), folder, target, rng))
    return hit


def trained(folder):
    """Every lap and test score of every lane, in order."""
    return {
        (lane.contender, lane.split): ([(lap.phase, lap.seed) for lap in lane.laps], lane.scored)
        for lane in of_records.lanes(folder / "it", CONTENDERS, SPLITS)
    }


@pytest.mark.parametrize("kills", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_a_comparison_that_is_killed_ends_with_the_same_leaderboard(compared, tmp_path, kills):
    assert killed_and_ended(tmp_path, kills) > kills // 2
    assert scores(compare(tmp_path)) == scores(compared[1])
    assert trained(tmp_path) == trained(compared[0])
    for path in (tmp_path / "it" / "lanes").iterdir():
        assert len(Run.reading(path).records(TestOpened)) == 1


def test_two_processes_share_a_folder_and_end_with_one_leaderboard(compared, tmp_path):
    other = attempt(tmp_path)
    while not lines(tmp_path) and other.poll() is None:
        time.sleep(0.01)
    board = compare(tmp_path)
    assert other.wait() == 0
    assert scores(board) == scores(compare(tmp_path)) == scores(compared[1])
    assert trained(tmp_path) == trained(compared[0])
    for path in (tmp_path / "it" / "lanes").iterdir():
        records = Run.reading(path)
        assert len(records.records(Done)) == len(records.records(TestOpened)) == 1
    assert len(Run.reading(tmp_path / "it").records(Done)) == 1


def test_a_lane_of_another_process_is_waited_for(compared, monkeypatch):
    """Whoever finds all lanes taken looks again until the other one has let go."""
    folder, board, _ = compared
    held = Run.open(folder / "it" / "lanes", "gcn-split0", *identity(folder, "gcn-split0"))
    monkeypatch.setattr(comparing.time, "sleep", lambda _: held.close())
    assert compare(folder) == board


def identity(folder, name):
    about = dict(lane_of(folder, name).about)
    settings = {"data": DataChoice("0"), "race": Race(trials=5, repeats=2, depth=2)}
    settings |= {"training": Training(epochs=5), "seed": Seed()}
    return settings, {key: about[key] for key in ("command", "dataset", "data")}


def test_fresh_is_refused_while_another_process_takes_part(compared):
    folder, _, _ = compared
    run = Run.reading(folder / "it")
    terms = {
        "race": Race(trials=5, repeats=2, depth=2),
        "training": Training(epochs=5),
        "seed": Seed(),
        **KNOBS,
    }
    about = {key: run.about[key] for key in ("command", "dataset", "data")}
    with Run.join(folder, "it", terms, about), Run.join(folder, "it", terms, about):
        with pytest.raises(RunFolder, match="in use by process"):
            Run.join(folder, "it", terms, about, fresh=True)
        with pytest.raises(RunFolder, match="begun with other settings"):
            Run.join(folder, "it", {**terms, "seed": Seed(1)}, about)
