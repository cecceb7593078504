from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sanegnn.data import GraphData, Split, measures, resolve
from sanegnn.data.doctor import examine
from sanegnn.data.generate import planted_partition

BASE = planted_partition(0, nodes=200, degree=20.0)


def codes(data, split=None, level=None):
    return {finding.code for finding in examine(data, split) if level in (None, finding.level)}


def sentence(data, code, split=None):
    return next(finding.sentence for finding in examine(data, split) if finding.code == code)


def test_a_healthy_graph_has_no_warning():
    assert codes(BASE, resolve(BASE, "0"), "warn") == set()
    assert codes(BASE, resolve(BASE, "0"), "error") == set()
    assert codes(BASE) == {"undirected", "degrees", "features", "classes", "homophily"}


def test_the_gravest_comes_first():
    levels = [finding.level for finding in examine(replace(BASE, y=np.zeros(200, int), classes=("a",)))]
    assert levels == sorted(levels, key=("error", "warn", "info").index)
    assert levels[0] == "error"


def with_x(change):
    x = BASE.x.copy()
    change(x)
    return replace(BASE, x=x)


def hub():
    spokes = np.arange(1, 601)
    ends = np.stack([np.zeros_like(spokes), spokes])
    return GraphData.of((np.random.default_rng(0).random((601, 3)), np.hstack([ends, ends[::-1]])))


SICK = {
    "directed": lambda: GraphData.of((BASE.x, BASE.edges[:, ::2], BASE.y)),
    "isolated": lambda: GraphData.of((BASE.x, BASE.edges[:, (BASE.edges > 80).all(axis=0)], BASE.y)),
    "components": lambda: GraphData.of((BASE.x, BASE.edges[:, (BASE.edges > 80).all(axis=0)], BASE.y)),
    "cleaned": lambda: GraphData.of((BASE.x, np.hstack([BASE.edges, [[0], [0]]]), BASE.y)),
    "hubs": hub,
    "scale": lambda: with_x(lambda x: x.__setitem__((0, 0), 5e4)),
    "zero-rows": lambda: with_x(lambda x: x.__setitem__(slice(0, 3), 0)),
    "constant-columns": lambda: with_x(lambda x: x.__setitem__((slice(None), 1), 2)),
    "duplicate-columns": lambda: with_x(lambda x: x.__setitem__((slice(None), 1), x[:, 2])),
    "identical-rows": lambda: with_x(lambda x: x.__setitem__(7, x[8])),
    "unlabelled": lambda: replace(BASE, y=np.where(np.arange(200) < 10, -1, BASE.y)),
    "one-class": lambda: replace(BASE, y=np.zeros(200, int)),
    "small-class": lambda: replace(BASE, y=np.where(np.arange(200) < 197, 0, 1), classes=("a", "b")),
    "imbalance": lambda: replace(BASE, y=np.where(np.arange(200) < 180, 0, 1), classes=("a", "b")),
}


@pytest.mark.parametrize("code", SICK)
def test_each_ailment_is_found(code):
    assert code not in codes(BASE)
    assert code in codes(SICK[code]())


@pytest.mark.parametrize("code", ["zero-rows", "constant-columns", "duplicate-columns", "identical-rows"])
def test_sparse_features_say_the_same_as_dense(code):
    dense = SICK[code]()
    sparse = replace(dense, x=sp.csr_array(dense.x))
    assert sentence(dense, code) == sentence(sparse, code)


def test_imbalance_is_fine_for_a_metric_that_bears_it():
    assert "imbalance" not in codes(replace(SICK["imbalance"](), metric="roc_auc"))


def test_no_labels_is_an_error():
    assert "unlabelled" in codes(replace(BASE, y=np.full(200, -1), classes=()), level="error")


def test_a_class_missing_from_a_part():
    zeros, rest = np.flatnonzero(BASE.y == 0), np.flatnonzero(BASE.y > 0)
    split = Split("mine", rest[:-2], zeros, rest[-2:])
    assert "missing-in-train" in codes(BASE, split, "error")
    assert {"missing-in-val", "missing-in-test"} <= codes(BASE, split, "warn")
    assert "train has no node of class 0" in sentence(BASE, "missing-in-train", split)


def test_copies_across_a_split_are_leaks():
    split = resolve(BASE, "0")
    x = BASE.x.copy()
    x[split.test[:4]] = x[split.train[:4]]
    data = replace(BASE, x=x)
    assert sentence(data, "same-features-in-test", split).startswith("4 of 40")
    assert "twins-in-test" not in codes(data, split)
    assert "same-features-in-test" in codes(data, split, "warn")


def test_twins_share_features_and_neighbours():
    ends = np.array([[0, 1, 2, 3], [4, 4, 5, 5]])
    x = np.array([[1, 2], [1, 2], [3, 1], [1, 2], [5, 0], [6, 0]], dtype=np.float32)
    data = GraphData.of((x, np.hstack([ends, ends[::-1]]), [0, 0, 1, 1, 0, 1]))
    told = measures.twins(data)
    assert told[0] == told[1]
    assert len(set(told)) == 5
    split = Split("mine", [0, 2], [4, 5], [1, 3])
    assert sentence(data, "twins-in-test", split).startswith("1 of 2")


def test_homophily_by_hand():
    ends = np.array([[0, 1, 2], [1, 2, 3]])
    data = GraphData.of((np.eye(4), np.hstack([ends, ends[::-1]]), [0, 0, 1, 1]))
    found = measures.homophily(data)
    assert found.edge == pytest.approx(2 / 3)
    assert found.adjusted == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert measures.homophily(replace(data, y=np.full(4, -1))) is None
    assert measures.homophily(replace(data, y=np.zeros(4, int))).adjusted == 0


def test_components_by_hand():
    data = GraphData.of((np.ones((6, 1)), np.array([[0, 1, 3], [1, 2, 4]]), None))
    assert measures.components(data).tolist() == [3, 2, 1]
    assert measures.isolated(data).tolist() == [5]
    assert measures.degrees(data).tolist() == [0, 1, 1, 0, 1, 0]


def test_row_keys_are_equal_for_equal_rows_only():
    rng = np.random.default_rng(0)
    x = (rng.integers(0, 3, (500, 4)) * rng.integers(0, 2, (500, 4))).astype(np.float32)
    x[0] = -0.0
    expected = np.unique(x + 0, axis=0, return_inverse=True)[1].ravel()
    for form in (x, sp.csr_array(x)):
        found = measures.groups(measures.row_keys(form))
        pairs = set(zip(found.tolist(), expected.tolist(), strict=True))
        assert len(pairs) == len(set(found.tolist())) == len(set(expected.tolist()))


def test_real_sets(dataset):
    cora = dataset("cora")
    assert measures.homophily(cora).edge == pytest.approx(0.80998, abs=1e-4)
    assert measures.components(cora)[0] == 2485
    assert "imbalance" not in codes(dataset("minesweeper"))
    assert "hubs" in codes(dataset("photo"), level="warn")
