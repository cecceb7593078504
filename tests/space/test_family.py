import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanegnn.errors import BadArchitecture, UnknownName
from sanegnn.ops import node_ops
from sanegnn.space import Architecture, SearchSpace, space
from sanegnn.space.presets import AUTOGNN, GRAPHNAS

TEXT = "graphnas:gat:sum:elu:8:64,graphnas:gcn:mean:relu:1:16"
JOINED = SearchSpace("joined", 2, GRAPHNAS, ("skip", "zero"), ("concat", "max"))


@st.composite
def picks(draw):
    """A space of composite operations, and one of its members as indices."""
    searched = draw(st.sampled_from([*(space(name, depth) for name in FAMILIES for depth in (1, 3)), JOINED]))
    choice = {slot.key: draw(st.integers(0, len(slot.choices) - 1)) for slot in searched.slots}
    return searched, choice


FAMILIES = {"graphnas": GRAPHNAS, "autognn": AUTOGNN}


@given(picks())
def test_a_member_is_what_its_text_says(picked):
    searched, choice = picked
    member = searched.decode(choice)
    assert Architecture.parse(str(member)) == member
    assert searched.encode(member) == choice
    assert member in searched


def test_the_text_of_components():
    member = Architecture.parse(TEXT)
    assert member.nodes == tuple(TEXT.split(","))
    assert str(member) == TEXT
    choice = space("graphnas", 2).encode(member)
    assert [choice[f"{kind}.0"] for kind, _ in GRAPHNAS.components] == [2, 0, 7, 4, 4]
    assert [choice[f"{kind}.1"] for kind, _ in GRAPHNAS.components] == [1, 1, 2, 0, 2]


@pytest.mark.parametrize(("name", "size"), [("graphnas", 9_408), ("autognn", 14_112)])
def test_a_layer_has_as_many_members_as_the_paper_says(name, size):
    one = space(name, 1)
    assert one.size == size
    assert len({str(member) for member in one}) == size


def test_slots_are_named_by_component_and_layer():
    keys = [slot.key for slot in JOINED.slots]
    assert keys[:5] == ["attention.0", "aggregator.0", "activation.0", "heads.0", "width.0"]
    assert keys[-3:] == ["skip.0", "skip.1", "layer.0"]
    assert len(keys) == 2 * 5 + 3


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (
            "graphnas:gatt:sum:elu:8:64",
            UnknownName,
            "no attention of 'graphnas' named 'gatt'; did you mean 'gat",
        ),
        ("graphnas:gat:sum:elu:8:63", UnknownName, "no width of 'graphnas' named '63'; did you mean"),
        (
            "graphnas:gat:summ:elu:8:64",
            UnknownName,
            "no aggregator of 'graphnas' named 'summ'; did you mean 'sum'",
        ),
        (
            "graphnas:gat:sum:elu:8",
            BadArchitecture,
            "'graphnas:gat:sum:elu:8' does not read graphnas:<attention>:",
        ),
        ("graphnas:gat:sum:elu:8:64:1", BadArchitecture, "does not read graphnas:<attention>:<aggregator>:"),
    ],
)
def test_an_unknown_component_gets_the_near_one(text, error, words):
    for reader in (space("graphnas", 1).encode, lambda one: node_ops[str(one)]):
        with pytest.raises(error, match=re.escape(words)):
            reader(Architecture.parse(text))


def test_another_family_or_a_plain_name_is_not_of_the_space():
    for text in ("gcn", "autognn:gat:sum:mlp:elu:8:64"):
        with pytest.raises(BadArchitecture, match="is not of this space: its operations read graphnas:"):
            space("graphnas", 1).encode(Architecture.parse(text))
    with pytest.raises(UnknownName, match="no node operation of this space named 'graphnas:gat"):
        space("plain", 1).encode(Architecture.parse("graphnas:gat:sum:elu:8:64"))
    with pytest.raises(UnknownName, match="no family of node aggregators named 'grafnas'; did you mean"):
        node_ops["grafnas:gat:sum:elu:8:64"]
