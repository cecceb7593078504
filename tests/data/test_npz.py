"""Attributed graphs as .npz, NetworkX graphs and SciPy matrices, all the same graph."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from sanegnn.data import GraphData
from sanegnn.data.npz import read_npz
from sanegnn.errors import BadGraph

RNG = np.random.default_rng(0)
X = sp.random_array((30, 12), density=0.1, rng=RNG, dtype=np.float32).tocsr()
ADJACENCY = sp.random_array((30, 30), density=0.1, rng=RNG).tocsr()
ADJACENCY.data[:] = 1
Y = RNG.integers(3, size=30)


def arrays(**changes):
    parts = {}
    for name, matrix in (("adj", ADJACENCY), ("attr", X)):
        parts |= {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    return {**parts, "labels": Y, **changes}


def test_npz_and_scipy_give_the_same_graph(tmp_path):
    np.savez(tmp_path / "graph.npz", **arrays(node_names=np.array([{"a": 1}], dtype=object)))
    found = read_npz(tmp_path / "graph.npz")
    assert found.name == "graph"
    assert found.checksum == GraphData.of((X, ADJACENCY, Y)).checksum
    np.savez(tmp_path / "hot.npz", **{key: value for key, value in arrays().items() if key != "labels"},
             **{f"labels_{part}": getattr(sp.csr_array(np.eye(3)[Y]), part)
                for part in ("data", "indices", "indptr", "shape")})  # fmt: skip
    assert read_npz(tmp_path / "hot.npz").checksum == found.checksum


def test_a_networkx_graph_is_a_graph():
    graph = nx.DiGraph(ADJACENCY)
    nx.set_node_attributes(graph, dict(enumerate(map(int, Y))), "label")
    for _, _, data in graph.edges(data=True):
        data.clear()
    found = GraphData.of(graph)
    plain = GraphData.of((X, ADJACENCY, Y))
    assert np.array_equal(found.edges, plain.edges)
    assert np.array_equal(found.y, plain.y)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot read .*none.npz"),
        (b"no", "is not an attributed graph"),
        ({"x": np.ones(3)}, "holds no adjacency"),
        ({"adj_data": np.ones(3)}, "is not an attributed graph .*adj_indices"),
    ],
)
def test_another_file_is_refused(tmp_path, content, words):
    path = tmp_path / "none.npz"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        np.savez(path, **content)
    with pytest.raises(BadGraph, match=words):
        read_npz(path)
