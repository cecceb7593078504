import numpy as np
import pytest

from sanegnn.data import GraphData
from sanegnn.data.generate import planted_partition
from sanegnn.data.pairs import keys_of, pairs_apart, split_pairs
from sanegnn.data.rounds import look_over
from sanegnn.errors import BadSplit
from sanegnn.seeds import generator
from sanegnn.settings import DataChoice

DATA = planted_partition(0, nodes=120, classes=3, features=4, degree=6.0)


def directed(nodes=60, edges=300):
    rng = np.random.default_rng(0)
    return GraphData.of({"x": np.ones((nodes, 2)), "edges": rng.integers(nodes, size=(2, edges))}, "one-way")


def sets(data, parts):
    return {name: set(keys_of(pairs, data.num_nodes).tolist()) for name, pairs in parts.items()}


@pytest.mark.parametrize("data", [DATA, directed()], ids=["undirected", "directed"])
def test_every_pair_is_in_one_part_with_both_its_directions(data):
    found = split_pairs(data, "0")
    known = set(keys_of(data.edges, data.num_nodes).tolist())
    parts = sets(data, {"train": found.train, "val": found.val.joined, "test": found.test.joined})
    assert parts["train"] | parts["val"] | parts["test"] == known
    assert sum(map(len, parts.values())) == len(known)
    assert set(keys_of(found.edges, data.num_nodes).tolist()) == parts["train"]
    assert len(parts["val"]) == round(0.05 * len(known))
    assert len(parts["test"]) == round(0.10 * len(known))


def test_no_fixed_pair_apart_is_an_edge_of_any_part():
    found = split_pairs(DATA, "0")
    known = set(keys_of(DATA.edges, DATA.num_nodes).tolist())
    for part in (found.val, found.test):
        apart = keys_of(part.apart, DATA.num_nodes).tolist()
        assert len(apart) == part.joined.shape[1]
        assert not known & set(apart)
        assert (part.apart[0] != part.apart[1]).all()


def test_the_seed_is_all_it_depends_on():
    one, again, other = (split_pairs(DATA, seed) for seed in ("0", "0", "1"))
    assert np.array_equal(one.test.joined, again.test.joined)
    assert np.array_equal(one.val.apart, again.val.apart)
    assert not np.array_equal(one.test.joined, other.test.joined)


def test_weights_go_with_their_edges():
    data = GraphData.of(
        {"x": DATA.x, "edges": DATA.edges, "y": DATA.y, "weight": np.arange(1.0, 1 + DATA.num_edges)}, "heavy"
    )
    found = split_pairs(data, "0")
    place = {tuple(edge): weight for edge, weight in zip(data.edges.T.tolist(), data.weight, strict=True)}
    assert [place[tuple(edge)] for edge in found.edges.T.tolist()] == found.weight.tolist()


def test_a_graph_that_is_nearly_complete_has_no_links_to_predict():
    edges = np.array([(u, v) for u in range(10) for v in range(10) if u != v]).T
    with pytest.raises(BadSplit, match="half of all pairs of nodes are joined or more"):
        pairs_apart(generator(0), np.unique(keys_of(edges, 10)), 10, 5)


def test_what_cannot_be_split_is_told():
    with pytest.raises(BadSplit, match=r"links have no split 'public': a seed such as 0"):
        split_pairs(DATA, "public")
    tiny = GraphData.of({"x": np.ones((4, 1)), "edges": [[0, 1], [1, 2]]}, "tiny")
    with pytest.raises(BadSplit, match="tiny has 2 joined pairs of nodes: 20 are the least"):
        split_pairs(tiny, "0")


def test_the_doctor_looks_at_pairs_and_not_at_labels():
    found = {one.code: one for one in look_over(directed(), DataChoice(task="links"))}
    assert "joined pairs to train on" in found["pairs"].sentence
    assert found["undirected-links"].level == "warn"
    assert not {"unlabelled", "one-class", "classes"} & set(found)
