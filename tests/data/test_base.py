import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sanegnn.data import GraphData, Split
from sanegnn.errors import BadGraph, BadSplit

RING = np.array([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
X = np.arange(1, 13, dtype=np.float32).reshape(4, 3)
Y = np.array([0, 1, 0, 1])


def graph(**changes):
    return GraphData.of({"x": X, "edges": RING, "y": Y, **changes})


def test_a_plain_graph_is_kept():
    data = graph()
    assert (data.num_nodes, data.num_edges, data.num_features, data.num_classes) == (4, 8, 3, 2)
    assert (data.x.dtype, data.edges.dtype, data.y.dtype) == (np.float32, np.int64, np.int64)
    assert data.classes == ("0", "1")
    assert data.notes == ()
    assert not data.directed
    assert "4 nodes" in repr(data)


def test_edges_are_sorted_merged_and_freed_of_loops():
    data = graph(edges=np.array([[2, 0, 0, 1, 3, 0], [1, 1, 1, 1, 3, 2]]))
    assert data.edges.tolist() == [[0, 0, 2], [1, 2, 1]]
    assert data.notes == (
        "2 self-loops dropped",
        "1 duplicate edge merged",
        "1 isolated node",
        "the graph is directed",
    )


def test_weights_of_merged_edges_are_added():
    edges, weight = np.array([[2, 0, 0, 1], [1, 1, 1, 1]]), np.array([4.0, 1.0, 2.0, 9.0])
    data = graph(edges=edges, weight=weight)
    assert data.edges.tolist() == [[0, 2], [1, 1]]
    assert data.weight.tolist() == [3.0, 4.0]
    assert data.weight.dtype == np.float32


def test_undirected_adds_reverses_and_keeps_the_larger_weight():
    data = graph(edges=np.array([[0, 1, 2], [1, 0, 3]]), weight=np.array([1.0, 5.0, 2.0]))
    both = data.undirected()
    assert data.directed
    assert not both.directed
    assert both.edges.tolist() == [[0, 1, 2, 3], [1, 0, 3, 2]]
    assert both.weight.tolist() == [5.0, 5.0, 2.0, 2.0]
    assert both.notes == ("1 reverse edges added",)
    assert both.undirected().checksum == both.checksum


def test_edges_with_reverses_of_other_weight_are_directed():
    assert graph(edges=np.array([[0, 1], [1, 0]]), weight=[1.0, 2.0]).directed
    assert not graph(edges=np.array([[0, 1], [1, 0]]), weight=[2.0, 2.0]).directed


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.coo_array, lambda x: x.tolist()])
def test_thin_features_become_csr_and_thick_ones_dense(form):
    thin = np.zeros((4, 10))
    thin[1, 3], thin[2, 0], thin[3, 9] = 1, 2, 3
    data = graph(x=form(thin))
    assert isinstance(data.x, sp.csr_array)
    assert data.x.dtype == np.float32
    assert data.x.nnz == 3
    np.testing.assert_array_equal(data.x.toarray(), thin)
    assert isinstance(graph(x=form(X)).x, np.ndarray)


def test_one_entry_in_five_is_dense():
    x = np.zeros((4, 5))
    x[:, 0] = 1
    assert not graph(x=x).is_sparse
    x[0, 0] = 0
    assert graph(x=x).is_sparse


def test_missing_features_become_a_constant_and_the_degree():
    data = GraphData.of({"edges": np.array([[0, 1, 2], [1, 2, 1]]), "y": [0, 1, 0]})
    np.testing.assert_allclose(data.x, [[1, 0], [1, np.log(3)], [1, np.log(2)]], rtol=1e-6)
    assert any("no features came" in note for note in data.notes)


@pytest.mark.parametrize(
    ("y", "expected", "classes"),
    [
        ([0.0, 1.0, 0.0, -1.0], [0, 1, 0, -1], ("0", "1")),
        ([[0], [1], [0], [1]], [0, 1, 0, 1], ("0", "1")),
        ([True, False, True, True], [1, 0, 1, 1], ("False", "True")),
        (["cat", "ape", "cat", None], [1, 0, 1, -1], ("ape", "cat")),
        (np.array(["b", "a", "", "a"]), [1, 0, -1, 0], ("a", "b")),
        ([7, 3, 7, -1], [1, 0, 1, -1], ("3", "7")),
        (np.array([0, 1, 2, 0], dtype=np.uint64), [0, 1, 2, 0], ("0", "1", "2")),
    ],
)
def test_labels_of_many_kinds(y, expected, classes):
    data = graph(y=y)
    assert data.y.tolist() == expected
    assert data.classes == classes
    assert data.y.dtype == np.int64


def test_class_names_are_kept():
    assert graph(classes=("ape", "cat", "dog")).classes == ("ape", "cat", "dog")
    assert graph(y=["cat", "cat", "ape", "ape"], classes=("cat", "ape")).y.tolist() == [0, 0, 1, 1]


def test_no_labels_at_all():
    data = graph(y=None)
    assert data.y.tolist() == [-1] * 4
    assert data.num_classes == 0
    assert "no node has a label" in data.notes


def test_masks_become_splits():
    eye = np.eye(4, dtype=bool)
    data = graph(train_mask=eye[0], val_mask=eye[1], test_mask=eye[2])
    assert list(data.splits) == ["public"]
    assert data.public == "public"
    assert data.splits["public"].test.tolist() == [2]
    many = graph(train_mask=eye[:, :2], val_mask=eye[:, 2:], test_mask=(eye[:, :2] | eye[:, 2:])[:, ::-1])
    assert list(many.splits) == ["public-0", "public-1"]
    assert many.public == "public-0"
    assert [part.tolist() for part in (many.splits["public-1"].train, many.splits["public-1"].val)] == [
        [1],
        [3],
    ]


def test_a_single_test_mask_serves_every_split():
    eye = np.eye(4, dtype=bool)
    data = graph(train_mask=eye[:, :2], val_mask=eye[:, 1:3], test_mask=eye[3])
    assert [split.test.tolist() for split in data.splits.values()] == [[3], [3]]


def test_masks_that_lack_one_are_left_with_a_note():
    data = graph(train_mask=np.eye(4, dtype=bool)[0])
    assert data.splits == {}
    assert "masks are not used: no val_mask" in data.notes


def test_splits_as_arrays_and_a_public_one():
    data = graph(splits={"mine": ([0], [1], [2])}, public="mine")
    assert data.splits["mine"].train.tolist() == [0]
    assert data.public == "mine"


NAN, INF = (
    np.array([[1, np.nan], [1, 1], [1, 1], [1, 1]]),
    np.array([[1, 1], [1, 1], [np.inf, 1], [-np.inf, 1]]),
)
ONE_UP = np.array([[0], [1]])
WRONG = {
    "x turned": ({"x": X.T}, r"number of nodes is not clear: x says 3, y says 4"),
    "x flat": ({"x": X[:, 0]}, r"x has shape \(4,\).*reshape"),
    "x without columns": ({"x": X[:, :0]}, r"x has shape \(4, 0\)"),
    "x of words": ({"x": X.astype(str)}, "features must be numbers"),
    "x ragged": ({"x": [[1], [1, 2], [1], [1]]}, "is not an array"),
    "x nan": ({"x": NAN}, r"x has 1 entries .* the first at x\[0, 1\] = nan"),
    "x inf": ({"x": INF}, r"x has 2 entries .* the first at x\[2, 0\] = inf"),
    "x huge": ({"x": X.astype(np.float64) * 1e300}, "beyond float32"),
    "x sparse nan": ({"x": sp.csr_array(NAN)}, r"x has 1 entries .* the first at x\[0, 1\] = nan"),
    "edges missing": ({"edges": None}, "no edges array"),
    "edges flat": ({"edges": RING[0]}, r"edges have shape \(8,\)"),
    "edges turned": ({"edges": RING.T}, r"edges have shape \(8, 2\).*give edges.T"),
    "edges three rows": ({"edges": np.zeros((3, 4), int)}, r"\(3, 4\)"),
    "edges beyond": ({"edges": RING + ONE_UP}, r"edges\[1, 4\] is 4, but there are 4 nodes \(ids 0 to 3\)"),
    "edges negative": ({"edges": RING - 1}, r"edges\[0, 0\] is -1"),
    "edges of halves": ({"edges": RING + 0.5}, "node ids must be integers"),
    "edges nan": ({"edges": np.where(RING == 0, np.nan, RING)}, "node ids must be integers"),
    "edges of words": ({"edges": RING.astype(str)}, "node ids must be integers"),
    "only loops": ({"edges": np.array([[1, 2], [1, 2]])}, "empty"),
    "no edges": ({"edges": np.zeros((2, 0), int)}, "empty"),
    "no nodes": ({"x": X[:0], "y": Y[:0]}, "the graph is empty: it has no nodes"),
    "weights short": ({"weight": [1.0, 2.0]}, "one number per edge"),
    "weights negative": ({"weight": [1.0] * 7 + [-1.0]}, r"weight\[7\] is -1"),
    "weights nan": ({"weight": [np.nan] * 8}, r"weight\[0\] is nan.*\(8 are not\)"),
    "y short": ({"y": Y[:3]}, "number of nodes is not clear"),
    "y nan": ({"y": [0, np.nan, 1, np.nan]}, r"y\[1\] = nan is NaN; mark .* -1 \(2 labels are so\)"),
    "y infinite": ({"y": [0, np.inf, 1, 0]}, "no class"),
    "y halves": ({"y": [0, 0.5, 1, 1]}, r"y\[1\] = 0.5 is no class"),
    "y negative": ({"y": [0, 1, -2, 1]}, r"y\[2\] = -2 is negative"),
    "y one-hot": ({"y": np.eye(4)}, r"shape \(4, 4\).*argmax\(axis=1\)"),
    "y scalar": ({"y": 3}, "one label per node"),
    "y of dates": ({"y": np.array(["2020-01-01"] * 4, "datetime64[D]")}, "whole numbers or words"),
    "y beyond the names": ({"y": [0, 1, 2, 0], "classes": ("a", "b")}, r"y\[2\] = 2 has no name"),
    "y of a strange name": ({"y": ["a", "b", "c", "a"], "classes": ("a", "b")}, "'c', which is not among"),
    "mask of numbers": ({f"{part}_mask": Y for part in ("train", "val", "test")}, "must be boolean"),
    "unknown key": ({"lables": Y}, "unknown key 'lables'"),
    "split of one": ({"splits": {"a": 3}}, "three arrays"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_named(case):
    changes, message = WRONG[case]
    with pytest.raises(BadGraph, match=message):
        graph(**changes)


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ({"a": ([0], [1], [4])}, "test names node 4, but there are 4 nodes"),
        ({"a": ([0], [1], [3])}, "1 nodes of test have no label, node 3"),
    ],
)
def test_splits_must_fit_the_graph(splits, message):
    with pytest.raises(BadSplit, match=message):
        graph(splits=splits, y=[0, 1, 0, -1])
    with pytest.raises(BadSplit, match="there is none"):
        graph(public="mine")


@pytest.mark.parametrize("thing", [None, 3, "cora", X, SimpleNamespace(x=X)])
def test_what_is_no_graph_is_refused(thing):
    with pytest.raises(BadGraph, match=r"cannot read a graph .*PyG Data"):
        GraphData.of(thing)


def test_nobody_says_how_many_nodes():
    with pytest.raises(BadGraph, match="how many nodes"):
        GraphData.of({"edges": RING})
    assert GraphData.of({"edges": RING, "num_nodes": 6}).num_nodes == 6


def test_tuples():
    assert GraphData.of((X, RING, Y), "mine").checksum == graph().checksum
    assert GraphData.of((X, RING)).num_classes == 0
    with pytest.raises(BadGraph, match="tuple of 1"):
        GraphData.of((X,))


def test_a_sparse_adjacency():
    matrix = sp.coo_array((np.ones(8), (RING[0], RING[1])), shape=(4, 4))
    assert GraphData.of((X, matrix, Y)).checksum == graph().checksum
    assert GraphData.of((X, matrix * 2, Y)).weight.tolist() == [2.0] * 8
    with pytest.raises(BadGraph, match="square"):
        GraphData.of((X, sp.csr_array((4, 5)), Y))
    with pytest.raises(BadGraph, match="twice"):
        GraphData.of({"x": X, "edges": matrix, "weight": np.ones(8)})


def test_of_is_idempotent():
    data = graph(
        edges=RING[:, ::2], splits={"mine": ([0], [1], [2])}, y=["a", "b", "a", "b"], metric="macro_f1"
    )
    again = GraphData.of(data)
    assert again.checksum == data.checksum
    assert (again.name, again.notes, again.metric) == (data.name, data.notes, data.metric)
    assert again.named("other").checksum == data.checksum
    assert GraphData.of(data, "other", metric="accuracy").metric == "accuracy"


CHANGES = [
    {"x": X + 1}, {"x": X[:, :2]}, {"y": 1 - Y}, {"edges": RING[:, :-1]}, {"weight": np.ones(8)},
    {"classes": ("a", "b")}, {"metric": "roc_auc"}, {"splits": {"a": ([0], [1], [2])}},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_every_part_counts_in_the_checksum(change):
    assert graph(**change).checksum != graph().checksum


def test_the_checksum_is_pinned():
    assert graph().checksum == "6be10425a6a112b06f8a65ee60cbffb16ae28946ea2bbb15399458f130bf3e16"


def test_the_checksum_is_the_same_in_a_fresh_process():
    code = (
        "from sanegnn.data.generate import planted_partition as p; import sys; print(p(5).checksum);"
        "assert not {'torch', 'torch_geometric'} & set(sys.modules)"
    )
    from sanegnn.data.generate import planted_partition

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == planted_partition(5).checksum


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 12), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_relabelling_the_nodes_relabels_the_graph(nodes, edges, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((nodes, 3)).astype(np.float32), rng.integers(0, 3, nodes)
    ends = np.concatenate([rng.integers(0, nodes, (2, edges)), [[0], [1]]], axis=1)
    order = rng.permutation(nodes)
    place = np.argsort(order)
    one = GraphData.of((x, ends, y))
    other = GraphData.of((x[order], place[ends], y[order]))
    assert other.notes == one.notes
    np.testing.assert_array_equal(other.x, one.x[order])
    np.testing.assert_array_equal(other.y, one.y[order])
    assert {tuple(edge) for edge in place[one.edges].T} == {tuple(edge) for edge in other.edges.T}


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_edges_does_not_count(seed):
    rng = np.random.default_rng(seed)
    ends, weight = rng.integers(0, 4, (2, 30)), rng.integers(1, 9, 30)
    order = rng.permutation(30)
    one, other = (graph(edges=ends[:, pick], weight=weight[pick]) for pick in (slice(None), order))
    assert one.checksum == other.checksum
    dense = np.zeros((4, 4))
    np.add.at(dense, (ends[0], ends[1]), weight)
    np.fill_diagonal(dense, 0)
    assert one.weight.tolist() == dense[one.edges[0], one.edges[1]].tolist()
    assert one.num_edges == np.count_nonzero(dense)


def test_a_split_is_kept_as_it_is():
    split = Split("mine", [0], [1], [2])
    assert graph(splits={"a": split}).splits["a"].name == "mine"
