"""GraphNAS and Auto-GNN: controllers learn, share the weights they may share, go on where they were."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from sanegnn.journal import Journal
from sanegnn.nets import Net, widths
from sanegnn.records import Candidate
from sanegnn.seeds import derive, generator
from sanegnn.settings import Setting
from sanegnn.space import Architecture, Family, SearchSpace, space
from sanegnn.space.presets import AUTOGNN, GRAPHNAS, HEADS, WIDTHS
from sanegnn.strategies import Past, Quest, Reinforced, Shared, strategies
from sanegnn.strategies.autognn import FREE, Conservative
from sanegnn.strategies.policy import Learner, Policy
from sanegnn.strategies.sharing import Store
from sanegnn.testing.examples import example_task
from sanegnn.testing.strategies import found
from sanegnn.training.jobs import take_over
from sanegnn.work import InOrder

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


def test_autognn_changes_the_class_it_is_least_sure_of():
    mind = Conservative(TINY, Shared(batch=1, controller_lr=0.05), 0)
    mind.follow(Past(TINY, 0, (tried(0, GOOD, 0.8),)))
    for _ in range(50):  # a controller that is sure: to keep the nodes, and nothing else
        standing = TINY.encode(GOOD)
        mind.learners["node"].learn(standing, 1.0, standing)
        worse = {**standing, "node.0": 0, "node.1": 0}
        mind.learners["node"].learn(worse, 0.0, standing)
    rng = generator(0, "draws")
    entropies = {
        k: float(learner.draw(rng, TINY.encode(GOOD)).entropy) for k, learner in mind.learners.items()
    }
    changed = Counter(kind for _ in range(100) for kind in kinds_changed(GOOD, mind.draw(rng)))
    assert entropies["node"] < entropies["skip"]
    assert changed["node"] < changed["skip"]
    assert changed["layer"] > 0


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
    knobs = strategies[name].knobs(candidates=100, batch=4, finals=10, seconds=10.0)
    searcher = strategies[name](knobs)
    past = played(name, knobs, count=12)
    clocks = [1.0, 2, 3, 4, 5, 6, 7.9, 8.1, 8.2, 8.3, 8.4, 8.5]
    late = Past(TINY, 0, tuple(replace(c, clock=t) for c, t in zip(past.candidates, clocks, strict=True)))
    assert searcher.first_final(past) == 90
    assert searcher.first_final(late) == 8
    assert set(searcher.judged(late).candidates) == set(late.candidates[8:])


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


# --- weight sharing -------------------------------------------------------------------------------


def layer(attention="gat", aggregator="sum", combine="identity", activation="elu", heads="2", width="4"):
    return ":".join(["autognn", attention, aggregator, combine, activation, heads, width])


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"aggregator": "max"}, True),
        ({"combine": "mlp"}, True),
        ({"heads": "4", "width": "8"}, False),
        ({"heads": "1", "width": "8"}, True),  # as wide; weights of another shape stay behind
        ({"attention": "cos"}, False),
        ({"activation": "relu"}, False),
    ],
)
def test_autognn_hands_over_between_homogeneous_layers_alone(changes, same):
    store = Store(space("autognn", 1), 8, FREE)
    ancestor, child = Architecture((layer(),)), Architecture((layer(**changes),))
    common = store.common(child, ancestor, 7)
    assert ("layers.0." in common) == same
    assert common["stem"] == 7


def test_the_store_knows_who_trained_a_part_last():
    store = Store(space("paper", 2), 8, frozenset())
    store.keep(0, Architecture.parse("gcn,gat | skip,skip | max"), 0.5)
    store.keep(1, Architecture.parse("gcn,gin | skip,skip | concat"), 0.5)
    store.keep(2, Architecture.parse("gcn,gcn | skip,skip | lstm"), -math.inf)
    latest = store.latest(Architecture.parse("gcn,gat | skip,zero | lstm"))
    assert latest == {"stem": 1, "layers.0.": 1, "layers.1.": 0, "head": 1}


def test_weights_are_taken_over_where_name_and_shape_agree(tmp_path):
    from safetensors.torch import save_file

    setting = Setting(hidden=8, heads=2, norm="batch")
    ancestor = Net(Architecture((layer(), layer())), setting, 5, 3, seed=1)
    child = Net(Architecture((layer(heads="1", width="8"), layer("cos"))), setting, 5, 3, seed=2)
    save_file(ancestor.state_dict(), tmp_path / "w")
    before = {name: value.clone() for name, value in child.state_dict().items()}
    parts = ("stem", "layers.0.", "head")
    take_over(child, dict.fromkeys(parts, tmp_path / "w"))
    kept = load_file(tmp_path / "w")
    after = child.state_dict()
    taken = {name for name in after if name in kept and torch.equal(after[name], kept[name])}
    assert {"stem", "layers.0.weight", "head"} <= taken
    for name in ("layers.0.att_source", "layers.1.weight"):
        assert torch.equal(after[name], before[name])


def test_widths_follow_the_architecture():
    assert widths(Architecture.parse(f"gcn,{layer(width='16')},gcn"), 8) == [8, 8, 32, 32]


def test_a_shared_child_begins_where_another_ended():
    seen = []

    class Watching(InOrder):
        def map(self, function, jobs, shared):
            seen.append(list(jobs))
            return super().map(function, jobs, shared)

    knobs = Shared(**BRIEF, candidates=8, finals=2, share_epochs=3, controller_width=4)
    list(strategies["graphnas-ws"](knobs).search(replace(quest(None), workers=Watching())))
    batches = [[(job.training.epochs, len(job.start) > 0) for job in jobs] for jobs in seen]
    assert batches == [[(3, False)] * 3, [(3, True)] * 3, [(4, False)] * 2]
    assert len({job.seed for jobs in seen for job in jobs}) == 8
    finals = seen[-1]
    root = derive(0, "restart", 0)
    assert [job.seed for job in finals] == [
        derive(root, "candidate", str(job.architecture)) for job in finals
    ]
