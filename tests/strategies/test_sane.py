"""SANE's own search: what its surrogate sees, what it draws, and what it promotes."""

from itertools import islice

import pytest

from sanegnn.data.planted import planted
from sanegnn.records import Candidate
from sanegnn.seeds import generator
from sanegnn.space import Architecture, Recipe, SearchSpace, space
from sanegnn.strategies import Guided, Past, Quest, Sane, TrialAndError
from sanegnn.strategies.halving import Rung
from sanegnn.strategies.sane import fair_draws, guided, plan, promoted
from sanegnn.strategies.surrogate import Surrogate, told
from sanegnn.tasks import NodeTask
from sanegnn.work import InOrder

PAPER = space("paper", 3)


def design(text):
    return Architecture.parse(text)


def candidate(number, architecture, score, limit=10):
    return Candidate(0, number, str(architecture), 0, score, limit, limit, 0.0, 0.0, 0, "")


def seen(score, count=60, seed=0):
    """A past in which `count` random living architectures scored what the function says."""
    rng = generator(seed, "seen")
    alive = (one for one in iter(lambda: PAPER.sample(rng), None) if one.reach)
    tried = list(dict.fromkeys(islice(alive, count)))
    return Past(PAPER, seed, tuple(candidate(at, one, score(one)) for at, one in enumerate(tried)))


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("gcn,gat,gin | skip,skip,skip | max", 3),
        ("gcn,gat,gin | zero,skip,zero | max", 2),
        ("gcn,gat,gin | zero,zero,zero | max", 0),
        ("gcn,gat", 2),
    ],
)
def test_a_layer_lives_that_reaches_the_output(text, layers):
    assert design(text).reach == layers


def test_what_is_not_computed_is_not_told():
    one, other = design("gcn,gat,gin | zero,skip,zero | max"), design("gcn,gat,gcn | zero,skip,zero | max")
    assert told(PAPER, one) == told(PAPER, other)
    assert told(PAPER, one) != told(PAPER, design("gat,gcn,gin | zero,skip,zero | max"))
    dead = [
        design(f"{op},{op},{op} | zero,zero,zero | {end}") for op in ("gcn", "gin") for end in ("max", "lstm")
    ]
    assert len({tuple(told(PAPER, one)) for one in dead}) == 1


def test_a_component_is_told_like_an_operation():
    family = space("graphnas", 2)
    rng = generator(0)
    assert len({len(told(family, family.sample(rng))) for _ in range(5)}) == 1


def worth(architecture):
    """A score that one operation in a living layer decides."""
    return 0.9 if "sage_max" in architecture.nodes[: architecture.reach] else 0.6


def test_the_surrogate_finds_what_matters():
    past = seen(worth)
    forest = Surrogate(PAPER, dict(past.scored), 0)
    others = [one for one, _ in seen(worth, 80, seed=1).scored]
    right = [expected > 0.75 for expected in forest.expected(others)]
    assert sum(found == (worth(one) > 0.75) for found, one in zip(right, others, strict=True)) > 70


def test_what_sees_no_node_is_expected_to_be_the_worst():
    past = seen(worth)
    dead = design("sage_max,sage_max,sage_max | zero,zero,zero | max")
    assert Surrogate(PAPER, dict(past.scored), 0).expected([dead]) == [0.6]


def test_draws_are_fair_alive_and_new():
    past = Past(PAPER, 3)
    drawn = fair_draws(past, 33)
    assert len(set(drawn)) == 33
    assert all(one.reach for one in drawn)
    for layer in range(3):
        assert {one.nodes[layer] for one in drawn} == set(PAPER.node_ops)


def test_guided_draws_look_where_the_scores_are():
    past = seen(worth)
    drawn = guided(past, 8)
    assert len(set(drawn)) == 8
    assert not set(drawn) & {one for one, _ in past.scored}
    assert sum(worth(one) > 0.75 for one in drawn) >= 7


def test_a_rung_promotes_by_the_surrogate_first_and_by_scores_later():
    rungs = plan(60, 90, 3, 4)
    lucky = next(one for one, _ in seen(worth).scored if worth(one) < 0.75)
    past = seen(lambda one: 0.91 if one == lucky else worth(one))
    assert lucky not in promoted(past, rungs[0])[:5]
    best = [one for one, _ in past.scored[:15]]
    longer = tuple(candidate(60 + at, one, 0.5 + at / 100, 30) for at, one in enumerate(best))
    assert promoted(Past(PAPER, 0, past.candidates + longer), rungs[1])[0] == best[-1]


def test_the_plan_halves_and_grows():
    rungs = plan(72, 90, 3, 4)
    assert [(rung.end - rung.begin, rung.limit) for rung in rungs] == [(72, 10), (18, 30), (4, 90)]
    assert plan(5, 90, 3, 4) == (Rung(0, 5, 90),)
    assert [rung.fed for rung in rungs] == [None, *rungs[:-1]]


def test_the_proposals_are_those_that_were_trained_longest():
    tried = [candidate(at, one, score) for at, (one, score) in enumerate(seen(worth, 72).scored)]
    last = [candidate(72 + at, design(tried[at].architecture), 0.1 * at, 30) for at in range(18)]
    judged = Sane(Guided()).judged(Past(PAPER, 0, (*tried, *last)))
    assert judged.candidates == tuple(last)
    assert Sane(Guided(top=20)).judged(Past(PAPER, 0, (*tried, *last))).candidates == (*tried, *last)


@pytest.mark.parametrize(("name", "right"), [("planted-max", "sage_max"), ("planted-match", "gat_cos")])
def test_it_finds_the_planted_design(name, right):
    nodes = ("gcn", "gat", right, "sage_mean", "gin")
    searched = SearchSpace("easy", 2, nodes, ("skip", "zero"), ("concat", "max"))
    task = NodeTask.of(planted[name].make(0)).without_test()
    (found,) = Sane(Guided(candidates=18, keep=3)).search(Quest(task, searched, 0, 1, InOrder()))
    assert found.architecture in Recipe(planted[name].steps)


def test_its_knobs_are_those_of_a_search_by_trial_and_error():
    assert isinstance(Guided(), TrialAndError)
