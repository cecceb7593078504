import numpy as np
import pytest

from sanegnn.data import GraphData, Split
from sanegnn.data.generate import planted_partition
from sanegnn.data.graphset import GraphSet, Union, by_seed
from sanegnn.data.opening import opened
from sanegnn.data.rounds import look_over
from sanegnn.errors import BadGraph, BadSplit
from sanegnn.settings import DataChoice, Machine
from sanegnn.testing.examples import example_set

EDGES = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])


def small(y=(0, 1, 0), features=2, name="small", **more):
    x = np.arange(3.0 * features).reshape(3, features)
    return GraphData.of({"x": x, "edges": EDGES, "y": list(y), **more}, name)


def test_classes_are_places_in_names_that_all_graphs_share():
    found = GraphSet.of([small(("b", "a", "")), small(("c", "c", "b")), small(("a", "a", "c"))])
    assert found.classes == ("a", "b", "c")
    assert [one.y.tolist() for one in found.graphs] == [[1, 0, -1], [2, 2, 1], [0, 0, 2]]
    numbers = GraphSet.of([small((10, 2, 2)), small((2, 10, 9)), small((9, 9, 2))])
    assert numbers.classes == ("2", "9", "10")


def test_graphs_of_other_widths_are_refused():
    with pytest.raises(BadGraph, match=r"odd has 3 features, but small has 2: graphs of one schema"):
        GraphSet.of([small(), small(features=3, name="odd")])


def test_weights_in_some_graphs_are_refused():
    with pytest.raises(BadGraph, match="heavy has edge weights, but small has none"):
        GraphSet.of([small(), small(name="heavy", weight=[1.0, 2.0, 3.0, 4.0])])


def test_labels_must_be_zero_or_one_and_fit_their_graph():
    fine = [[1, 0], [0, 0], [1, 1]]
    assert GraphSet.of([small()] * 3, labels=[fine] * 3).several
    with pytest.raises(BadGraph, match="label 1 of node 2 of small is 2"):
        GraphSet.of([small()] * 2, labels=[fine, [[1, 0], [0, 0], [1, 2]]])
    with pytest.raises(BadGraph, match=r"the labels of small have shape \(2, 2\); they must be \(3, 2\)"):
        GraphSet.of([small()] * 2, labels=[fine, fine[:2]])


def test_a_seed_gives_every_graph_to_one_part():
    split = by_seed(24, 3)
    assert split.sizes == (14, 5, 5)
    assert sorted(np.concatenate([split.train, split.val, split.test])) == list(range(24))
    assert by_seed(3, 0).sizes == (1, 1, 1)
    assert by_seed(24, 3).train.tolist() == split.train.tolist() != by_seed(24, 4).train.tolist()
    with pytest.raises(BadSplit, match="2 graphs cannot be split"):
        by_seed(2, 0)


def test_splits_by_name():
    data = example_set()
    with pytest.raises(BadSplit, match="five has no split 'public'; it has no split of its own"):
        data.resolve("public")
    own = GraphSet.of(data.graphs, splits={"mine": Split("mine", [0], [1], [4])}, public="mine")
    assert own.resolve("public").test.tolist() == own.resolve("mine").test.tolist() == [4]
    with pytest.raises(BadSplit, match="split 'far' names graph 9, but graphs has 5 graphs"):
        GraphSet.of(data.graphs, splits={"far": Split("far", [0], [1], [9])})


def test_a_union_joins_no_graph_to_another():
    union = Union.of([small(), small((1, 1, 0))])
    assert union.edges.tolist() == [[0, 1, 1, 2, 3, 4, 4, 5], [1, 0, 2, 1, 4, 3, 5, 4]]
    assert union.y.tolist() == [0, 1, 0, 1, 1, 0]
    assert union.x.shape == (6, 2)


def test_the_checksum_is_of_graphs_order_splits_and_labels():
    data = example_set()
    assert example_set().checksum == data.checksum
    assert data.named("other").checksum == data.checksum
    turned = GraphSet.of(data.graphs[::-1], classes=data.classes)
    assert turned.checksum != data.checksum
    assert example_set(several=True).checksum != data.checksum
    split = GraphSet.of(data.graphs, classes=data.classes, splits={"a": Split("a", [0], [1], [2])})
    assert split.checksum != data.checksum


def test_a_list_of_graphs_is_a_set():
    found = opened([small(), small(), small((1, 0, 1))], DataChoice(undirected=True), Machine())
    assert isinstance(found, GraphSet)
    assert len(found.graphs) == 3


def findings(data, split="0"):
    return {one.code: one for one in look_over(data, DataChoice(split))}


def test_the_doctor_tells_a_graph_that_is_in_two_parts():
    data = example_set()
    twice = GraphSet.of([*data.graphs[:3], data.graphs[0]], splits={"s": Split("s", [0], [1], [3])})
    found = findings(twice, "s")
    assert found["same-graph-in-test"].level == "error"
    assert "same-features-in-test" in found
    assert "same-graph-in-val" not in found
    assert "same-graph-in-test" not in findings(data)


def test_the_doctor_tells_classes_and_labels_that_training_lacks():
    one = planted_partition(0, nodes=30, classes=2, features=4)
    odd = one.named("odd", y=np.zeros(30, dtype=np.int64))
    data = GraphSet.of([odd, one, one.undirected()], splits={"s": Split("s", [0], [1], [2])})
    assert findings(data, "s")["missing-in-train"].level == "error"
    labels = [np.eye(3, dtype=int)[[0, 1, 1] * 10], *([np.eye(3, dtype=int)[[0, 1, 2] * 10]] * 2)]
    several = GraphSet.of(data.graphs, labels=labels, splits=data.splits)
    assert "with label 2" in findings(several, "s")["missing-in-train"].sentence
