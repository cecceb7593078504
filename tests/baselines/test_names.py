"""Contenders by the names of the command line."""

import pytest

from sanegnn.baselines import designs
from sanegnn.baselines.names import contender, field, missing_random, own_knobs, parted
from sanegnn.errors import BadSetting, UnknownName
from sanegnn.settings import Race
from sanegnn.strategies import TrialAndError, strategies
from sanegnn.tasks import GraphsTask, LinkTask


def test_commas_and_blanks_part_names():
    assert parted(["gcn, gat", "tpe", ",", "gin,"]) == ("gcn", "gat", "tpe", "gin")


def test_groups_are_spelt_out_and_every_name_comes_once():
    for_nodes = [name for name in designs if not name.startswith("graph-")]
    assert field(["gcn,human"]) == ("gcn", *(name for name in for_nodes if name != "gcn"))
    assert field(["human"], GraphsTask) == tuple(name for name in designs if name not in for_nodes)
    assert set(strategies) <= set(field(["search"]))
    assert set(field(["all"])) == set(field(["human", "search"]))


def test_the_paper_space_needs_no_name():
    assert field(["random@paper,random"]) == ("random",)
    assert field(["random@mlp"]) == ("random@mlp",)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gcn-kj", "did you mean 'gcn-jk'"),
        ("tpf", "did you mean 'tpe'"),
        ("gcn@mlp", "no contender named 'gcn@mlp'"),
        ("papper@mlp", "no contender named 'papper@mlp'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_near_one(name, words):
    with pytest.raises(UnknownName, match=words):
        field([name])


def test_an_unknown_space_is_refused():
    with pytest.raises(UnknownName, match="did you mean 'paper'"):
        contender("random@papper", Race(), {})


def test_an_empty_field_is_refused():
    with pytest.raises(BadSetting, match="no contender was named"):
        field([" , "])


@pytest.mark.parametrize(
    ("names", "added"),
    [
        (("gcn", "gat"), ()),
        (("gcn", "paper"), ("random",)),
        (("paper", "random"), ()),
        (("paper", "tpe@mlp"), ("random", "random@mlp")),
        (("random@mlp", "tpe@mlp"), ()),
    ],
)
def test_random_search_is_never_missing_where_something_is_searched(names, added):
    assert missing_random(names) == added


@pytest.mark.parametrize("name", ["paper@graphnas", "gdas@autognn"])
def test_a_space_that_a_strategy_cannot_search_is_refused_at_once(name):
    with pytest.raises(BadSetting, match="no supernet can mix them"):
        contender(name, Race(depth=2), {})


def test_a_contender_knows_its_side_its_space_and_its_knobs():
    race, brief = Race(depth=2, restarts=4), TrialAndError(candidates=3)
    assert contender("gat", race, {}).kind == "human"
    searcher = contender("random@mlp", race, {"random": brief})
    assert searcher.kind == "search"
    assert (searcher.settings.space, searcher.settings.depth, searcher.settings.restarts) == ("mlp", 2, 4)
    assert searcher.strategy.settings == brief
    assert own_knobs("random@mlp", {"random": brief}) == {"random": brief}
    assert own_knobs("random", {}) == {"random": TrialAndError()}
    assert own_knobs("gat", {"random": brief}) == {}


@pytest.mark.parametrize(("name", "searches"), [("random", 1), ("graphnas", 1), ("paper", 5), ("gdas", 5)])
def test_a_searcher_searches_as_often_as_was_published_unless_the_race_says_otherwise(name, searches):
    assert contender(name, Race(), {}).settings.restarts == searches
    assert contender(name, Race(restarts=2), {}).settings.restarts == 2


def test_who_cannot_take_part_in_a_task_is_left_out_of_groups_and_refused_by_name():
    assert "policygnn" in field(["search"])
    assert "policygnn" not in field(["all"], LinkTask)
    with pytest.raises(BadSetting, match="policygnn takes part in nodes alone"):
        field(["gcn,policygnn"], LinkTask)


def test_a_task_brings_its_own_space_depth_and_rivals():
    class Few(LinkTask):
        space, depth, rivals = "plain", 2, ("gat", "gin")

    assert field(["human"], Few) == ("gat", "gin")
    assert field(["random@plain", "random@paper"], Few) == ("random", "random@paper")
    searching = contender("random", Race(), {}, Few)
    assert (searching.settings.space, searching.settings.depth) == ("plain", 2)
    assert contender("random", Race(depth=4), {}, Few).settings.depth == 4
