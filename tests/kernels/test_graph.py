import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sanegnn import kernels
from sanegnn.errors import BadGraph
from sanegnn.kernels import Graph, aggregate
from sanegnn.seeds import Noise

from .conftest import random_edges
from .pyg import gcn_norm


def pairs(graph: Graph) -> list[tuple[int, int]]:
    return sorted(map(tuple, graph.edge_index.T.tolist()))


def assert_consistent(graph: Graph) -> None:
    source, target = graph.edge_index
    starts = graph.ptr[:-1].long()
    assert torch.equal(source[starts], torch.arange(graph.num_targets))
    edge = graph.out_edge.long()
    by_source = torch.repeat_interleave(torch.arange(graph.num_nodes), graph.out_ptr.diff().long())
    assert torch.equal(source[edge], by_source)
    assert torch.equal(target[edge], graph.out_dst.long())
    assert torch.equal(edge.sort().values, torch.arange(source.numel()))


def test_by_hand():
    edges = torch.tensor([[2, 0, 1, 2, 1, 2], [0, 1, 1, 0, 0, 2]])
    graph = Graph.from_edges(edges, 3)
    assert graph.ptr.tolist() == [0, 4, 6, 7]
    assert graph.src.tolist() == [0, 1, 2, 2, 1, 0, 2]
    assert graph.degree.tolist() == [3.0, 1.0, 0.0]
    assert (graph.num_nodes, graph.num_edges) == (3, 4)
    assert graph.src.dtype == torch.int32
    assert_consistent(graph)


def test_layouts_are_consistent(graph):
    assert_consistent(graph)


def test_gcn_weight_equals_pyg():
    edges = random_edges(20, 90)
    edges = edges[:, edges[0] != edges[1]]
    for weight in (None, torch.rand(edges.shape[1])):
        graph = Graph.from_edges(edges, 25, weight)
        index, norm = gcn_norm(edges, weight, 25)
        expected = torch.zeros(25, 25).index_put(tuple(index), norm, accumulate=True)
        ours = torch.zeros(25, 25).index_put(tuple(graph.edge_index), graph.gcn_weight, accumulate=True)
        torch.testing.assert_close(ours, expected)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=40))
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_edges_does_not_matter(edges):
    index = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T
    graph, other = Graph.from_edges(index, 9), Graph.from_edges(index.flip(1), 9)
    assert_consistent(graph)
    assert pairs(graph) == sorted([(u, v) for u, v in edges if u != v] + [(v, v) for v in range(9)])
    assert torch.equal(graph.src, other.src)


def test_pickles_and_drops_what_is_cached(graph):
    graph.edge_index, graph.units  # noqa: B018
    again = pickle.loads(pickle.dumps(graph))
    assert "edge_index" not in again.__dict__
    assert torch.equal(again.src, graph.src)
    assert torch.equal(again.out_edge, graph.out_edge)
    assert (again.weight is None) == (graph.weight is None)


def test_drop_edges(graph):
    dropped = graph.drop_edges(0.5, Noise(5))
    assert_consistent(dropped)
    assert dropped.num_nodes == graph.num_nodes
    assert not (set(pairs(dropped)) - set(pairs(graph)))
    assert torch.equal(dropped.src, graph.drop_edges(0.5, Noise(5)).src)
    if graph.num_edges > 50:
        assert 0.3 < dropped.num_edges / graph.num_edges < 0.7
    assert graph.drop_edges(0.0, Noise(5)).num_edges == graph.num_edges


@pytest.mark.parametrize(
    ("edges", "weight", "message"),
    [
        (torch.zeros(3, 2, dtype=torch.int64), None, r"\(2, E\)"),
        (torch.tensor([[0], [5]]), None, "0 to 4"),
        (torch.tensor([[0.0], [1.0]]), None, "whole numbers"),
        (torch.tensor([[0], [1]]), torch.ones(3), r"\(1,\)"),
        (torch.tensor([[0], [1]]), torch.tensor([-1.0]), "not negative"),
    ],
)
def test_bad_graphs_name_what_came(edges, weight, message):
    with pytest.raises(BadGraph, match=message):
        Graph.from_edges(edges, 5, weight)


def test_towards_a_node_twice_gives_it_its_gradient_twice(path):
    graph, rows = Graph.from_edges(random_edges(9, 40), 9), torch.tensor([3, 5, 3])
    x = torch.randn(9, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    order, part = graph.towards(rows)
    with kernels.use(path):
        for kind in ("self", "sum", "mean", "max", "gcn"):
            (whole,), (some,) = aggregate(x, graph, (kind,)), aggregate(x[order], part, (kind,))
            expected, found = (torch.autograd.grad(out.square().sum(), x)[0] for out in (whole[rows], some))
            torch.testing.assert_close(found, expected)


@given(st.integers(0, 10_000), st.integers(0, 12), st.booleans())
@settings(max_examples=40, deadline=None)
def test_towards_some_nodes_keeps_the_edges_that_end_there(seed, count, weighted):
    weight = torch.rand(40, generator=torch.Generator().manual_seed(seed)) if weighted else None
    graph = Graph.from_edges(random_edges(12, 40, seed), 12, weight)
    rows = torch.randperm(12, generator=torch.Generator().manual_seed(seed))[:count]
    order, part = graph.towards(rows)
    assert_consistent(part)
    assert torch.equal(order[:count], rows)
    sources = {u for u, v in pairs(graph) if v in rows.tolist()}
    assert sorted(order.tolist()) == sorted(sources | set(rows.tolist()))
    assert torch.equal(part.degree, graph.degree[order])
    ends = [(int(order[u]), int(order[v])) for u, v in part.edge_index.T.tolist()]
    wanted = set(rows.tolist())
    assert sorted(ends) == [pair for pair in pairs(graph) if pair[1] in wanted]
    x = torch.randn(12, 3, dtype=torch.float64)
    for kind in ("self", "sum", "mean", "max", "gcn"):
        (whole,), (some,) = aggregate(x, graph, (kind,)), aggregate(x[order], part, (kind,))
        torch.testing.assert_close(some, whole[rows])
