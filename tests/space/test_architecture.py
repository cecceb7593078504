import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanegnn.errors import BadArchitecture
from sanegnn.space import Architecture

PAPER = "gat,gin,sage_max | skip,zero,skip | lstm"
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


@st.composite
def architectures(draw):
    nodes = tuple(draw(st.lists(names, min_size=1, max_size=6)))
    pool = draw(st.none() | names)
    if draw(st.booleans()):
        return Architecture(nodes, pool=pool)
    return Architecture(nodes, tuple(draw(names) for _ in nodes), draw(names), pool)


@given(architectures())
def test_the_text_gives_back_the_value(architecture):
    assert Architecture.parse(str(architecture)) == architecture


@given(architectures(), st.data())
def test_white_space_does_not_matter(architecture, data):
    space = st.sampled_from(["", " ", "\t", "  "])
    text = "".join(
        data.draw(space) + part + data.draw(space) if part in ",|" else part
        for part in str(architecture).replace(" ", "")
    )
    assert Architecture.parse(text) == architecture


@pytest.mark.parametrize(
    "text", [PAPER, PAPER + " | sum", "gcn,gcn,gcn", "gcn", "gcn | sum", "gcn | zero | max"]
)
def test_it_prints_what_it_parses(text):
    assert str(Architecture.parse(text)) == text


def test_its_parts():
    architecture = Architecture.parse(PAPER)
    assert architecture.nodes == ("gat", "gin", "sage_max")
    assert architecture.skips == ("skip", "zero", "skip")
    assert architecture.layer == "lstm"
    assert architecture.depth == 3
    assert Architecture.parse("gcn,gin").layer is None


def test_a_pooling_comes_last():
    joined, plain = Architecture.parse(PAPER + " | set2set"), Architecture.parse("gin,gin | sum")
    assert (joined.layer, joined.pool) == ("lstm", "set2set")
    assert (plain.nodes, plain.skips, plain.layer, plain.pool) == (("gin", "gin"), (), None, "sum")
    assert Architecture.parse(PAPER).pool is None


def test_it_is_a_value():
    one, same = Architecture.parse(PAPER), Architecture.parse(PAPER)
    assert one == same
    assert len({one, same, Architecture.parse("gcn")}) == 2
    with pytest.raises(AttributeError):
        one.layer = "max"


def test_its_id_is_short_and_stable():
    assert Architecture.parse(PAPER).id == "f7493875"
    assert Architecture.parse(" gat ,gin,sage_max|skip,zero,skip|lstm").id == Architecture.parse(PAPER).id
    assert Architecture.parse("gcn,gcn").id != Architecture.parse("gcn,gcn,gcn").id


def test_its_id_is_the_same_in_a_fresh_process():
    code = f"from sanegnn.space import Architecture; print(Architecture.parse({PAPER!r}).id)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == Architecture.parse(PAPER).id


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot read '' as the name of an operation"),
        ("gcn,,gcn", "cannot read '' as the name"),
        ("gcn gcn", "cannot read 'gcn gcn' as the name"),
        ("gcn!", "cannot read 'gcn!'"),
        (
            "gcn,gcn | skip,zero",
            "'gcn,gcn | skip,zero': write 'gcn,gcn' or 'gat,gin | skip,zero | concat'; for whole graphs, put",
        ),
        ("gcn | skip | max | sum,mean", "cannot read architecture"),
        ("gcn | skip | max | sum | mean", "cannot read architecture"),
        ("gcn | skip | max | sum | mean | max", "cannot read architecture"),
        ("gcn,gcn | skip | max | sum", "2 node aggregators need 2 skips, but 1 came"),
        ("gcn,gcn | skip,skip | max,lstm", "cannot read architecture"),
        ("gcn,gcn | skip | max", "gcn,gcn | skip | max: 2 node aggregators need 2 skips, but 1 came"),
        ("gcn | skip,skip | max", "1 node aggregators need 1 skips, but 2 came"),
    ],
)
def test_a_bad_text_is_named_with_the_way_out(text, words):
    with pytest.raises(BadArchitecture) as caught:
        Architecture.parse(text)
    assert words in str(caught.value)


def test_parts_come_together_or_not_at_all():
    for parts in (((),), (("gcn",), ("skip",)), (("gcn",), (), "max"), (("gcn",), ("skip",), None, "sum")):
        with pytest.raises(BadArchitecture):
            Architecture(*parts)


@given(st.text())
def test_any_text_is_an_architecture_or_an_error_of_the_user(text):
    try:
        Architecture.parse(text)
    except BadArchitecture:
        return
