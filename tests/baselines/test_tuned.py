"""Contenders whose answer is an architecture: budgets, courses, interruptions, weights."""

import math
from itertools import islice

import pytest

from sanegnn.baselines import Clock, Designed, Lane, Searching, designs
from sanegnn.baselines.designed import Named
from sanegnn.baselines.searching import SHARE
from sanegnn.comparison import chosen
from sanegnn.errors import SealedTest
from sanegnn.settings import Search, Setting, Training
from sanegnn.space import Architecture, space
from sanegnn.strategies import Algorithm1, Brackets, TrialAndError, strategies
from sanegnn.testing.examples import example_task
from sanegnn.training import evaluate
from sanegnn.training.jobs import Outcome
from sanegnn.training.select import Bench
from sanegnn.work import InOrder, Processes

BRIEF = TrialAndError(candidates=5, batch=2, hidden=8, heads=2, epochs=3)
GAT = Designed(Named("gat"))
RANDOM = Searching(Search("random", depth=2, restarts=2), BRIEF)
PAPER = Searching(Search("paper", depth=2), Algorithm1(epochs=2, hidden=8))


def lane(folder, trials=6, workers=None, **more):
    bench = Bench(example_task().without_test(), workers or InOrder(), Training(epochs=3), 7)
    return Lane(bench, folder, trials, **{"repeats": 2, **more})


def timeless(laps):
    told = ("phase", "label", "setting", "training", "seed", "validation", "epochs", "parameters")
    return [str([getattr(lap, name) for name in told]) for lap in laps]


def tuned(laps):
    return [lap for lap in laps if lap.phase == "tune"]


# --- courses ------------------------------------------------------------


@pytest.mark.parametrize("trials", [1, 3, 6])
def test_every_contender_has_the_same_number_of_trials(tmp_path, trials):
    for entrant in (GAT, Designed(Named("gcn")), RANDOM, PAPER):
        folder = tmp_path / str(id(entrant))
        assert len(tuned(entrant.race(lane(folder, trials)))) == trials


def test_a_promoted_architecture_is_told_by_its_longest_training(tmp_path):
    knobs = Brackets(candidates=9, batch=3, hidden=8, heads=2, epochs=4, least=1, eta=2)
    entrant = Searching(Search("hyperband", depth=2), knobs)
    laps = [lap for lap in entrant.race(lane(tmp_path, 1)) if lap.phase == "search" and lap.setting]
    assert len({(lap.label, lap.seed) for lap in laps}) == len(laps)
    assert {lap.training["epochs"] for lap in laps} >= {1, 4}


@pytest.mark.parametrize("name", ["gcn", "geniepath", "gcnii", "classic", "appnp"])
def test_the_published_setting_is_the_first_trial(tmp_path, name):
    design = designs[name]("cora")
    small = Designed(Named(name))
    (first,) = small.race(lane(tmp_path, 1))
    assert Setting.of(first.setting) == design.setting
    assert first.label == str(designs[name]("example").variants[0])


def test_every_variant_is_tried_once_and_the_rest_goes_to_the_best(tmp_path):
    laps = list(GAT.race(lane(tmp_path, 10)))
    variants = [str(one) for one in designs["gat"]("example").variants]
    assert [lap.label for lap in laps[:5]] == variants
    best = chosen(laps[:4])
    assert {lap.label for lap in laps[5:8]} == {best.label}
    assert {lap.label for lap in laps[8:]} == {chosen(laps[:8]).label}
    assert len({str((lap.label, lap.setting)) for lap in laps}) == 10


def test_what_a_search_found_is_tuned_from_the_default_setting(tmp_path):
    laps = list(RANDOM.race(lane(tmp_path)))
    searched = [lap for lap in laps if lap.phase == "search"]
    proposals = [lap for lap in searched if not lap.setting]
    assert len(searched) == 2 * (5 + 1)
    assert len(proposals) == 2
    assert all(math.isnan(lap.validation) for lap in proposals)
    candidates = [lap for lap in searched if lap.setting]
    assert [lap.label for lap in proposals] == [chosen(candidates[:5]).label, chosen(candidates[5:]).label]
    assert {lap.label for lap in tuned(laps)} == {lap.label for lap in proposals}
    assert Setting.of(tuned(laps)[0].setting) == Setting()
    assert all(Architecture.parse(lap.label) in space("paper", 2) for lap in laps)


def test_the_clock_never_goes_back(tmp_path):
    for entrant in (GAT, RANDOM, PAPER):
        clocks = [lap.clock for lap in entrant.race(lane(tmp_path / entrant.kind / str(id(entrant))))]
        assert clocks == sorted(clocks)
        assert clocks[0] > 0


def test_workers_change_nothing_but_the_clock(tmp_path, whole):
    for entrant, alone in whole.items():
        beside = list(
            entrant.race(lane(tmp_path / type(entrant).__name__ / str(len(alone)), workers=Processes(2)))
        )
        assert timeless(alone) == timeless(beside)


# --- interruptions ------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The races that nothing interrupts."""
    return {
        entrant: list(entrant.race(lane(tmp_path_factory.mktemp("whole"))))
        for entrant in (GAT, RANDOM, PAPER)
    }


@pytest.mark.parametrize(
    ("entrant", "cut"),
    [
        (GAT, 0),
        (GAT, 1),
        (GAT, 5),
        (RANDOM, 3),
        (RANDOM, 7),
        (RANDOM, 12),
        (RANDOM, 14),
        (PAPER, 1),
        (PAPER, 4),
    ],
    ids=lambda value: value if isinstance(value, int) else type(value).__name__,
)
def test_a_race_goes_on_where_it_was_and_begins_with_what_it_gave(tmp_path, whole, entrant, cut):
    race = entrant.race(lane(tmp_path / "cut"))
    before = list(islice(race, cut))
    race.close()
    after = list(entrant.race(lane(tmp_path / "cut", clock=Clock(before[-1].clock if before else 0.0))))
    assert timeless(after) == timeless(whole[entrant])
    assert [lap.clock for lap in after[:cut]] == [lap.clock for lap in before]
    assert [lap.clock for lap in after] == sorted(lap.clock for lap in after)


def test_a_finish_goes_on_where_it_was(tmp_path):
    where = lane(tmp_path, repeats=3)
    best = chosen(GAT.race(where))
    laps = GAT.finish(where, best)
    first = next(laps)
    laps.close()
    again = list(GAT.finish(where, best))
    assert again[0] == first
    assert len({lap.seed for lap in again}) == 3
    assert {(lap.label, str(lap.setting), lap.phase) for lap in again} == {
        (best.label, str(best.setting), "retrain")
    }


# --- budgets ------------------------------------------------------------


class Ticking(Clock):
    """A clock that goes on by a second at every look."""

    def __init__(self):
        self.seconds = 0.0

    def now(self):
        self.seconds += 1
        return self.seconds

    def ahead(self, seconds):
        self.seconds = max(self.seconds, seconds)


def test_a_wall_clock_budget_takes_the_place_of_trials(tmp_path):
    laps = list(GAT.race(lane(tmp_path, trials=1, seconds=12, clock=Ticking())))
    assert len(laps) == 12  # a second for every lap and for every look: three batches of four
    assert laps[-1].clock >= 12 > laps[-5].clock


def test_without_time_left_there_is_one_batch_to_choose_from(tmp_path):
    laps = list(GAT.race(lane(tmp_path, seconds=1, clock=Clock(100))))
    assert len(laps) == 4


def test_a_search_may_take_its_share_of_the_seconds(tmp_path, monkeypatch):
    asked = []

    def search(self, quest):
        asked.append(quest.seconds)
        return iter(())

    monkeypatch.setattr(strategies["random"], "search", search)
    assert not list(RANDOM.search(lane(tmp_path, seconds=30), 0))
    assert asked == [SHARE * 30 / 2]


def test_a_search_begins_no_batch_after_its_seconds(tmp_path):
    search = Searching(
        Search("random", depth=2, restarts=1), TrialAndError(**{**vars(BRIEF), "candidates": 200})
    )
    where = lane(tmp_path, seconds=0.6)
    laps = [lap for lap in search.race(where) if lap.phase == "search" and lap.setting]
    assert 2 <= len(laps) < 200
    assert all(lap.clock < SHARE * 0.6 <= laps[-1].clock for lap in laps[:-2])


# --- nets ------------------------------------------------------------


@pytest.mark.parametrize("entrant", [GAT, RANDOM, PAPER], ids=["gat", "random", "paper"])
def test_the_nets_score_what_their_laps_say(tmp_path, entrant):
    where = lane(tmp_path)
    laps = [lap for lap in entrant.race(where) if not math.isnan(lap.validation)]
    laps += list(entrant.finish(where, chosen(laps)))
    for lap, trained in zip(laps, entrant.nets(where, laps), strict=True):
        ready = where.bench.task.ready(trained.scaling, "cpu")
        assert evaluate(trained.net, ready, "val")[0] == lap.validation
        with pytest.raises(SealedTest):
            evaluate(trained.net, ready, "test")


def test_only_the_weights_of_the_best_so_far_stay(tmp_path):
    laps = list(GAT.race(lane(tmp_path, 10)))
    best, kept = -math.inf, set()
    for lap in laps:
        if lap.validation > best:
            best = lap.validation
            kept.add(f"{lap.seed}.safetensors")
    assert {file.name for file in (tmp_path / "nets").iterdir()} == kept


def test_a_training_that_went_astray_is_a_lap_without_a_score(tmp_path, monkeypatch):
    monkeypatch.setattr(Bench, "train", lambda _, jobs: (Outcome(None, why="no finite loss") for _ in jobs))
    laps = list(GAT.race(lane(tmp_path)))
    assert len(laps) == 6
    assert chosen(laps) is None
