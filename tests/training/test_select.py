import pytest

from sanegnn.seeds import generator
from sanegnn.settings import Selection, Setting, Training, Tuning
from sanegnn.space import Architecture, plain_designs
from sanegnn.training.jobs import Outcome
from sanegnn.training.select import (
    Bench,
    Choice,
    Finalist,
    batch,
    choose,
    retrain_jobs,
    rounds,
    tournament,
    tune,
)
from sanegnn.training.tune import Study, storage

DESIGNS = plain_designs(3)


class Killed(Exception):
    """The end of the process, as far as this test is concerned."""


class Scores:
    """Workers that score a job by its text and seed; they die after some jobs."""

    def __init__(self, life=10**9):
        self.life, self.jobs = life, []

    def map(self, function, jobs, shared):
        for job in jobs:
            if self.life == 0:
                raise Killed
            self.life -= 1
            self.jobs.append(job)
            worth = generator(0, str(job.architecture), job.seed).random()
            yield Outcome(round(worth, 4), 100, 0.1, rungs={15: worth / 2})


def bench(workers):
    return Bench(None, workers, Training(), 7)


def ignore(study, tried):
    pass


def play(path, life=10**9, selection=Selection(trials=2, rounds=3, finalists=3)):
    studies = [Study(storage(path), design, 7) for design in DESIGNS]
    ranked = tournament(bench(Scores(life)), studies, selection, ignore)
    return [(str(design), tried.setting, tried.validation) for design, tried in ranked]


def test_rounds_keep_a_third_and_double_the_trials():
    assert rounds(19, Selection(trials=3, rounds=3, finalists=3)) == [(19, 0, 3), (7, 3, 6), (3, 9, 12)]
    assert rounds(2, Selection(trials=1, rounds=3, finalists=3)) == [(2, 0, 1), (2, 1, 2), (2, 3, 4)]
    assert rounds(9, Selection(trials=5, rounds=1, finalists=1)) == [(9, 0, 5)]
    assert rounds(30, Selection(trials=1, rounds=4, finalists=5))[-1][0] == 5


def test_a_tournament_gives_the_finalists_best_first(tmp_path):
    ranked = play(tmp_path / "study")
    assert len(ranked) == 3
    scores = [score for _, _, score in ranked]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("deaths", [[1], [20], [36], [40, 3, 5], [55, 2], [66], [72, 1]], ids=str)
def test_a_tournament_that_was_cut_off_ends_the_same(tmp_path, deaths):
    """Whoever is asked next follows from finished rounds alone, not from how far a round has come."""
    whole = play(None)
    for life in deaths:
        with pytest.raises(Killed):
            play(tmp_path / "study", life)
    assert play(tmp_path / "study") == whole


def test_every_candidate_is_tried_in_the_first_round():
    workers = Scores()
    studies = [Study(storage(None), design, 7) for design in DESIGNS]
    tournament(bench(workers), studies, Selection(trials=2, rounds=1, finalists=2), ignore)
    tried = [str(job.architecture) for job in workers.jobs]
    assert {text: tried.count(text) for text in tried} == {str(design): 2 for design in DESIGNS}


def test_trainings_of_a_tournament_have_seeds_of_their_own():
    workers = Scores()
    studies = [Study(storage(None), design, 7) for design in DESIGNS]
    tournament(bench(workers), studies, Selection(trials=2, rounds=2, finalists=2), ignore)
    assert len({job.seed for job in workers.jobs}) == len(workers.jobs)


def test_floors_of_earlier_trials_go_with_the_jobs():
    workers = Scores()
    study = Study(storage(None), DESIGNS[0], 7)
    batch(bench(workers), [study], 0, 5, (), ignore)
    batch(bench(workers), [study], 5, 1, (), ignore)
    assert workers.jobs[0].floors == {}
    assert workers.jobs[5].floors == {15: sorted(trial.rungs[15] for trial in study.trials[:5])[2]}


def test_tune_gives_the_best_of_its_trials():
    told = []
    study = Study(storage(None), DESIGNS[0], 7)
    best = tune(bench(Scores()), study, Tuning(trials=7, batch=3), lambda study, tried: told.append(tried))
    assert len(told) == len(study.trials) == 7
    assert best.validation == max(tried.validation for tried in told)


def test_retrainings_are_fresh_and_the_same_for_everyone(tmp_path):
    jobs = [retrain_jobs(bench(None), design, Setting(), 4, tmp_path) for design in DESIGNS[:2]]
    seeds = [[job.seed for job in row] for row in jobs]
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 4
    assert len({job.file for row in jobs for job in row}) == 8
    workers = Scores()
    tune(bench(workers), Study(storage(None), DESIGNS[0], 7), Tuning(trials=8), ignore)
    assert not {job.seed for job in workers.jobs} & set(seeds[0])


def finalist(text, *scores):
    return Finalist(Architecture.parse(text), Setting(), scores)


def test_the_best_mean_wins():
    a, b, c = finalist("gcn", 0.9, 0.7), finalist("gat", 0.85, 0.85), finalist("gin", 0.8, 0.6)
    picked = choose([a, b, c])
    assert (picked.winner, picked.second) == (b, a)
    assert picked.margin == pytest.approx(0.05)


def test_the_error_of_the_margin():
    a, b = finalist("gcn", 0.9, 0.8, 0.7), finalist("gat", 0.5, 0.5, 0.5)
    assert a.mean == pytest.approx(0.8)
    assert a.error == pytest.approx(0.1 / 3**0.5)
    assert choose([a, b]).error == pytest.approx(0.1 / 3**0.5)


def test_a_tie_is_within_two_standard_errors():
    wide = Choice(finalist("gcn", 0.9, 0.7), finalist("gat", 0.7, 0.7))
    assert wide.tied
    clear = Choice(finalist("gcn", 0.9, 0.901), finalist("gat", 0.7, 0.701))
    assert not clear.tied


def test_the_first_of_equals_wins_and_one_alone_is_no_tie():
    a, b = finalist("gcn", 0.8), finalist("gat", 0.8)
    assert choose([a, b]).winner == a
    assert choose([b, a]).winner == b
    alone = choose([a])
    assert (alone.second, alone.margin, alone.error, alone.tied) == (None, 0.0, 0.0, False)
