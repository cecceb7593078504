"""GraphNAS and Auto-GNN: controllers learn, share the weights they may share, go on where they were."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from sanegnn.journal import Journal
from sanegnn.records import Candidate
from sanegnn.seeds import generator
from sanegnn.settings import Training
from sanegnn.space import Architecture, Family, SearchSpace, space
from sanegnn.space.presets import AUTOGNN, GRAPHNAS, HEADS, WIDTHS
from sanegnn.strategies import Past, Quest, Reinforced, Shared, TrialAndError, strategies
from sanegnn.strategies.autognn import Conservative
from sanegnn.strategies.policy import Emitted, Learner, Policy
from sanegnn.testing.examples import example_task
from sanegnn.testing.strategies import found
from sanegnn.work import InOrder, one_thread

TINY = SearchSpace("tiny", 2, ("gcn", "gat", "gin"), ("skip", "zero"), ("concat", "max"))
GOOD = Architecture.parse("gat,gin | skip,zero | max")
BRIEF = {"hidden": 8, "heads": 2, "epochs": 4, "batch": 3}
NAMES = ("graphnas", "graphnas-ws", "autognn")


def narrow(family):
    """The family with few heads and channels."""
    return Family(family.name, (*family.components[:-2], ("heads", HEADS[:2]), ("width", WIDTHS[:2])))


SPACES = {
    "graphnas": SearchSpace("narrow graphnas", 2, narrow(GRAPHNAS)),
    "autognn": SearchSpace("narrow autognn", 2, narrow(AUTOGNN)),
    "paper": space("paper", 2),
    "plain": space("plain", 2),
}


def reward(architecture):
    """The share of the slots that agree with GOOD."""
    here, there = TINY.encode(architecture), TINY.encode(GOOD)
    return 0.5 + 0.3 * np.mean([here[key] == there[key] for key in here])


def tried(number, architecture, score, clock=0.0):
    return Candidate(0, number, str(architecture), 0, score, 4, 4, 0.0, clock, 0, "")


def played(name, knobs, seed=0, count=None):
    """A search in which the bandit answers in place of a training."""
    searcher = strategies[name](knobs)
    past = Past(TINY, seed)
    while len(past.candidates) < (count or searcher.steps(TINY)):
        asked = searcher.ask(past, min(knobs.batch, searcher.steps(TINY) - len(past.candidates)))
        if not asked:
            break
        begin = len(past.candidates)
        more = [tried(begin + place, one, reward(one)) for place, one in enumerate(asked)]
        past = Past(TINY, seed, (*past.candidates, *more))
    return past


@pytest.mark.parametrize("seed", [0, 1])
def test_graphnas_learns_a_bandit(seed):
    knobs = Reinforced(candidates=130, batch=5, finals=10, controller_lr=0.02)
    past = played("graphnas", knobs, seed)
    scores = [score for _, score in past.scored[:120]]
    assert np.mean(scores[-40:]) > np.mean(scores[:40]) + 0.07
    assert Counter(one for one, _ in past.scored[80:120]).most_common(1)[0][0] == GOOD
    finals = [one for one, _ in past.scored[120:]]
    assert 1 <= len(set(finals)) == len(finals) <= 10
    assert strategies["graphnas"](knobs).judged(past).ranked()[0][0] == GOOD


def test_an_entropy_bonus_alone_leaves_a_policy_uniform():
    learner = Learner(Policy((), TINY.slots, 20, 0), lr=0.02, entropy=1.0, decay=0.5)
    rng = generator(0, "draws")
    with one_thread():
        for _ in range(60):
            learner.learn(learner.draw(rng).picks, 0.5)
    uniform = sum(math.log(len(slot.choices)) for slot in TINY.slots)
    assert float(learner.draw(rng).entropy) == pytest.approx(uniform, abs=0.01)


def test_autognn_takes_small_steps_to_the_best_of_a_bandit():
    past = played("autognn", Shared(candidates=50, batch=4, finals=5, controller_lr=0.02))
    lessons, finals = past.scored[:45], past.scored[45:]
    assert GOOD in [one for one, _ in lessons]
    assert len({one for one, _ in lessons}) == 45
    assert finals[0][0] == GOOD
    for begin in (4, 8):  # later, all twelve neighbours of the best may have been tried
        best = max(lessons[:begin], key=lambda pair: pair[1])[0]
        for child, _ in lessons[begin : begin + 4]:
            assert len(kinds_changed(best, child)) == 1


def kinds_changed(one, other):
    here, there = TINY.encode(one), TINY.encode(other)
    return {slot.kind for slot in TINY.slots if here[slot.key] != there[slot.key]}


class Sure:
    """A controller whose draws and entropy are given."""

    def __init__(self, picks, entropy):
        self.drawn = Emitted(picks, torch.tensor(0.0), torch.tensor(entropy))

    def draw(self, rng, read):
        return self.drawn


def test_autognn_changes_the_class_it_is_least_sure_of():
    mind = Conservative(TINY, Shared(batch=1), 0)
    mind.follow(Past(TINY, 0, (tried(0, GOOD, 0.8),)))
    mind.learners = {"node": Sure({"node.0": 0}, 1.0), "skip": Sure({"skip.0": 1}, 3.0)}
    changed = Counter(kind for seed in range(400) for kind in kinds_changed(GOOD, mind.draw(generator(seed))))
    assert changed["skip"] / changed.total() == pytest.approx(0.75, abs=0.07)


@pytest.mark.parametrize("name", NAMES)
def test_a_mind_that_is_rebuilt_asks_for_the_same(name):
    knobs = Shared(candidates=30, batch=4) if name != "graphnas" else Reinforced(candidates=30, batch=4)
    kept = strategies[name](knobs)
    past = played(name, knobs, count=16)
    for count in (4, 8, 12, 16):
        shorter = Past(TINY, 0, past.candidates[:count])
        assert kept.ask(shorter, 4) == strategies[name](knobs).ask(shorter, 4)
    other = replace(past.candidates[3], validation=0.0)
    changed = Past(TINY, 0, (*past.candidates[:3], other, *past.candidates[4:]))
    assert kept.ask(changed, 4) == strategies[name](knobs).ask(changed, 4)


@pytest.mark.parametrize("name", NAMES)
def test_a_short_time_leaves_room_for_the_final_candidates(name):
    knobs = strategies[name].knobs(candidates=60, batch=4, finals=10)
    searcher = strategies[name](knobs)
    past = played(name, knobs, count=12)
    clocks = [1.0, 2, 3, 4, 5, 6, 7.9, 8.1, 8.2, 8.3, 8.4, 8.5]
    timed = tuple(replace(c, clock=t) for c, t in zip(past.candidates, clocks, strict=True))
    late = Past(TINY, 0, timed, seconds=10.0)
    assert searcher.first_final(past) == 50
    assert searcher.first_final(late) == 8
    assert set(searcher.judged(late).candidates) == set(late.candidates[8:])


@pytest.mark.parametrize("name", NAMES)
def test_no_more_than_the_final_candidates_follow_the_lessons(name):
    searcher = strategies[name](strategies[name].knobs(candidates=60, batch=4, finals=10))
    past = played(name, searcher.settings, count=16)
    late = Past(TINY, 0, tuple(replace(one, clock=9.0) for one in past.candidates), seconds=10.0)
    assert searcher.first_final(late) == 4
    assert searcher.ask(late, 4) == []


@pytest.mark.parametrize(("seconds", "own"), [(5.0, 1e9), (1e9, 5.0)])
def test_the_budget_is_the_smaller_of_the_knob_and_the_quest(tmp_path, seconds, own):
    searcher = strategies["random"](TrialAndError(seconds=own))
    with searcher.attempts(replace(quest(tmp_path), seconds=seconds), 0) as attempts:
        assert attempts.seconds == attempts.past.seconds == 5.0


def test_what_was_trained_on_shared_weights_is_no_training_of_its_own():
    for name in ("graphnas-ws", "autognn"):
        searcher = strategies[name](Shared(epochs=30, share_epochs=5))
        one = tried(0, TINY.sample(generator(0)), 0.5)
        assert searcher.trained_as(replace(one, limit=5)) is None
        assert searcher.trained_as(replace(one, limit=30)) == (searcher.settings.setting, Training(30, 30))


def test_failures_teach_and_do_not_lead():
    for name in NAMES:
        searcher = strategies[name](strategies[name].knobs(candidates=20, batch=2))
        past = Past(TINY, 0, tuple(tried(n, TINY.sample(generator(0, n)), math.nan) for n in range(4)))
        assert all(one in TINY for one in searcher.ask(past, 2))


def quest(folder, searched=TINY, restarts=1):
    return Quest(example_task().without_test(), searched, 0, restarts, InOrder(), "cpu", folder)


class Broken(Exception):
    pass


class Breaking(InOrder):
    """Works until it has done `count` jobs."""

    def __init__(self, count):
        self.count = count

    def map(self, function, jobs, shared):
        for result in super().map(function, jobs, shared):
            if not self.count:
                raise Broken
            self.count -= 1
            yield result


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("after", [2, 8])
def test_an_interrupted_search_goes_on_to_the_same_end(name, after, tmp_path):
    knobs = strategies[name].knobs(**BRIEF, candidates=12, finals=3, top=2, controller_width=8)
    searched = SPACES["autognn" if name == "autognn" else "graphnas"]
    whole = list(strategies[name](knobs).search(quest(tmp_path / "whole", searched)))
    with pytest.raises(Broken):
        list(
            strategies[name](knobs).search(
                replace(quest(tmp_path / "cut", searched), workers=Breaking(after))
            )
        )
    assert len(read(tmp_path / "cut")) >= after
    again = list(strategies[name](knobs).search(quest(tmp_path / "cut", searched)))
    assert found(again) == found(whole)
    assert [one.validation for one in read(tmp_path / "cut")] == [
        one.validation for one in read(tmp_path / "whole")
    ]
    assert not list(tmp_path.rglob("*.safetensors"))


def read(folder):
    with Journal(folder / "restart-0.jsonl") as journal:
        return journal.records(Candidate)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("searched", SPACES)
def test_every_controller_searches_every_space(name, searched):
    knobs = strategies[name].knobs(
        **{**BRIEF, "epochs": 2, "heads": 1}, candidates=5, finals=1, controller_width=4
    )
    where = SPACES[searched]
    (proposal, *_) = strategies[name](knobs).search(quest(None, where))
    assert proposal.architecture in where
    assert math.isfinite(proposal.score)


def test_what_is_drawn_again_is_not_trained_again(tmp_path):
    only = SearchSpace("only", 1, ("gcn", "gin"))
    knobs = Reinforced(**BRIEF, candidates=9, finals=2, controller_width=4)
    list(strategies["graphnas"](knobs).search(quest(tmp_path, only)))
    kept = read(tmp_path)
    assert len(kept) == 9
    for text in ("gcn", "gin"):
        alike = [one for one in kept if one.architecture == text]
        assert len({one.validation for one in alike}) == 1
        assert [one.seconds > 0 for one in alike] == [True] + [False] * (len(alike) - 1)
