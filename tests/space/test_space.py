from collections import Counter
from itertools import islice

import pytest
from scipy.stats import chisquare

from sanegnn.errors import BadArchitecture, BadSetting, UnknownName
from sanegnn.ops import layer_ops, node_ops, pool_ops, skip_ops
from sanegnn.seeds import generator
from sanegnn.space import Architecture, SearchSpace, plain_designs, presets, space
from sanegnn.space.presets import LAYER_AGGREGATORS, NODE_AGGREGATORS, SKIPS

POOLED = SearchSpace("pooled", 2, ("gcn", "gin"), pool_ops=("sum", "sort"))
SMALL = SearchSpace("small", 2, ("gcn", "gat", "gin"), ("skip", "zero"), ("concat", "max"))


def test_the_paper_space_has_31944_members_at_three_layers():
    assert space("paper", 3).size == space().size == 31_944


@pytest.mark.parametrize("depth", range(1, 7))
def test_sizes(depth):
    assert space("paper", depth).size == 11**depth * 2**depth * 3
    assert space("plain", depth).size == 11**depth
    assert space("mlp", depth).size == 12**depth * 2**depth * 3
    assert space("graph", depth).size == 11**depth * 2**depth * 3 * 7
    assert space("graphnas", depth).size == 9_408**depth
    assert space("autognn", depth).size == 14_112**depth


def test_the_paper_space_is_made_of_the_paper_s_operations():
    assert (
        *("sage_sum", "sage_mean", "sage_max", "gcn", "gat", "gat_sym", "gat_cos", "gat_linear"),
        *("gat_gen_linear", "gin", "geniepath"),
    ) == NODE_AGGREGATORS
    assert SKIPS == ("skip", "zero")
    assert LAYER_AGGREGATORS == ("concat", "max", "lstm")


def test_the_space_of_perceptrons_has_every_width_and_depth():
    named = {f"mlp_w{width}_d{depth}" for width in (8, 16, 32, 64) for depth in (1, 2, 3)}
    assert set(space("mlp").node_ops) == named
    assert len(space("mlp").node_ops) == 12


@pytest.mark.parametrize("name", presets)
def test_every_operation_of_a_space_is_registered(name):
    searched, rng = space(name, 6), generator(0, "members", name)
    for member in (searched.sample(rng) for _ in range(40)):
        assert all(node_ops[op] for op in member.nodes)
        assert all(skip in skip_ops for skip in member.skips)
        assert member.layer is None or member.layer in layer_ops
        assert member.pool is None or member.pool in pool_ops


@pytest.mark.parametrize("depth", [0, 7, -1])
def test_a_depth_out_of_range_is_refused(depth):
    with pytest.raises(BadSetting, match=f"depth {depth} is out of range: K goes from 1 to 6"):
        space("paper", depth)


def test_an_unknown_space_gets_the_near_one():
    with pytest.raises(UnknownName, match="no search space named 'papr'; did you mean 'paper'"):
        space("papr")


def test_slots_have_keys_of_their_own():
    assert [slot.key for slot in SMALL.slots] == ["node.0", "node.1", "skip.0", "skip.1", "layer.0"]
    assert [slot.key for slot in POOLED.slots] == ["node.0", "node.1", "pool.0"]
    assert [slot.key for slot in space("graph", 1).slots] == ["node.0", "skip.0", "layer.0", "pool.0"]
    assert [slot.key for slot in space("plain", 2).slots] == ["node.0", "node.1"]


def test_all_members_are_there_once():
    members = list(SMALL)
    assert len(members) == len(set(members)) == SMALL.size == 72
    assert all(member in SMALL for member in members)
    assert Architecture.parse("gcn,gcn | zero,zero | max") in members


@pytest.mark.parametrize(
    "searched", [SMALL, POOLED, space("plain", 3), space("paper", 3), space("graph", 3)], ids=lambda s: s.name
)
def test_encode_and_decode_are_inverse(searched):
    for member in islice(searched, 0, None, max(1, searched.size // 200)):
        choice = searched.encode(member)
        assert set(choice) == {slot.key for slot in searched.slots}
        assert searched.decode(choice) == member


def test_the_first_and_the_last_choice():
    first = dict.fromkeys((slot.key for slot in SMALL.slots), 0)
    assert str(SMALL.decode(first)) == "gcn,gcn | skip,skip | concat"
    assert SMALL.encode(Architecture.parse("gin,gat | zero,skip | max")) == {
        "node.0": 2,
        "node.1": 1,
        "skip.0": 1,
        "skip.1": 0,
        "layer.0": 1,
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "gcn,gcn,gcn | skip,skip,skip | max",
            "fit space 'small': it takes 2 node aggregators, 2 skips",
        ),
        ("gcn,gcn", "does not fit space 'small'"),
    ],
)
def test_a_text_that_does_not_fit_says_what_fits(text, words):
    with pytest.raises(BadArchitecture, match=words):
        SMALL.encode(Architecture.parse(text))
    assert Architecture.parse(text) not in SMALL


def test_a_plain_space_takes_node_aggregators_alone():
    with pytest.raises(BadArchitecture, match="it takes 2 node aggregators alone"):
        space("plain", 2).encode(Architecture.parse("gcn,gcn | skip,skip | max"))


@pytest.mark.parametrize("text", ["gcn,gin", "gcn,gin | skip,skip | max", "gcn,gin | skip,skip | max | sum"])
def test_a_space_with_a_pooling_asks_for_it(text):
    with pytest.raises(BadArchitecture, match="space 'pooled': it takes 2 node aggregators and a pooling"):
        POOLED.encode(Architecture.parse(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gcn,gatt | skip,skip | max", "no node operation of this space named 'gatt'; did you mean 'gat'"),
        ("gcn,gat | skip,skp | max", "no skip operation of this space named 'skp'; did you mean 'skip'"),
        ("gcn,gat | skip,skip | maxx", "no layer operation of this space named 'maxx'; did you mean 'max'"),
    ],
)
def test_an_operation_outside_the_space_gets_the_near_one(text, words):
    with pytest.raises(UnknownName, match=words):
        SMALL.encode(Architecture.parse(text))
    assert Architecture.parse(text) not in SMALL


def test_what_is_no_architecture_is_no_member():
    assert "gcn,gcn | skip,skip | max" not in SMALL


def test_samples_are_uniform():
    rng = generator(0, "samples")
    counts = Counter(SMALL.sample(rng) for _ in range(72 * 60))
    assert len(counts) == 72
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_the_same_seed_gives_the_same_samples():
    draw = [[space().sample(rng) for _ in range(5)] for rng in (generator(1, "a"), generator(1, "a"))]
    assert draw[0] == draw[1]
    assert space().sample(generator(2, "a")) != draw[0][0]


def test_plain_designs_of_a_depth():
    designs = [str(design) for design in plain_designs(3)]
    assert len(designs) == len(set(designs)) == 16
    assert {"gcn,gcn", "gcn,gcn,gcn", "gat,gat | skip,skip | concat"} <= set(designs)
    assert "gin,gin,gin | skip,skip,skip | concat" in designs
    assert len(plain_designs(2)) == 8
    assert {design.depth for design in plain_designs(1)} == {1}
