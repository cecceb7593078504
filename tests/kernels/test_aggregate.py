import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sanegnn import kernels
from sanegnn.errors import UnknownName
from sanegnn.kernels import Graph, aggregate, aggregate_beside, attend

from .conftest import KINDS, random_edges
from .equal import assert_paths_agree, outputs_and_gradients
from .pyg import GATConv, GCNConv, SAGEConv

ALL = ("sum", "mean", "max", "gcn")


def numbers(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("width", [1, 7, 16, 35])
@pytest.mark.parametrize("kinds", [ALL, ("max",), ("gcn",), ("mean", "sum", "mean")])
def test_paths_agree(graph, width, kinds, dtype):
    x = numbers(graph.num_nodes, width, dtype=dtype)
    assert_paths_agree(lambda x: torch.cat(aggregate(x, graph, kinds), 1), [x])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("kinds", [("self", *ALL), ("gcn", "sum"), ("sum",)])
def test_paths_agree_side_by_side(graph, kinds, dtype):
    def both(x):
        side, again = aggregate_beside(x, graph, kinds)
        return torch.cat([side.flatten(1), 2 * again], 1)

    assert_paths_agree(both, [numbers(graph.num_nodes, 19, dtype=dtype)])


def test_the_sum_that_stands_apart_has_a_gradient_of_its_own(path):
    graph, x = Graph.from_edges(random_edges(9, 30), 9), numbers(9, 3).requires_grad_()
    with kernels.use(path):
        apart = torch.autograd.grad(aggregate_beside(x, graph, ("max", "sum"))[1].square().sum(), x)[0]
        alone = torch.autograd.grad(aggregate(x, graph, ("sum",))[0].square().sum(), x)[0]
    torch.testing.assert_close(apart, alone)


def test_by_hand(path):
    graph = Graph.from_edges(torch.tensor([[1, 2, 2], [0, 0, 1]]), 3, torch.tensor([1.0, 3.0, 2.0]))
    x = torch.tensor([[1.0], [4.0], [2.0]])
    with kernels.use(path):
        total, mean, highest, _ = aggregate(x, graph, ALL)
    assert total.flatten().tolist() == [10.0, 4.0, 0.0]
    assert mean.flatten().tolist() == [2.5, 2.0, 0.0]
    assert highest.flatten().tolist() == [4.0, 2.0, 0.0]


def test_the_first_of_equal_neighbours_gets_the_gradient(path):
    graph = Graph.from_edges(torch.tensor([[1, 2, 3], [0, 0, 0]]), 4)
    x = torch.tensor([[9.0], [1.0], [5.0], [5.0]], requires_grad=True)
    with kernels.use(path):
        aggregate(x, graph, ("max",))[0].sum().backward()
    assert x.grad.flatten().tolist() == [0.0, 0.0, 1.0, 0.0]


def test_gradcheck(path):
    graph = Graph.from_edges(random_edges(8, 30), 9, torch.rand(30, dtype=torch.float64))
    with kernels.use(path):
        assert torch.autograd.gradcheck(lambda x: aggregate(x, graph, ALL), numbers(9, 3).requires_grad_())


def test_gradient_of_a_part_of_the_outputs():
    graph = Graph.from_edges(random_edges(30, 100), 30)
    x = numbers(30, 5).requires_grad_()
    outs = aggregate(x, graph, ALL)
    only = torch.autograd.grad(outs[2].sum(), x)[0]
    alone = torch.autograd.grad(aggregate(x, graph, ("max",))[0].sum(), x)[0]
    assert torch.equal(only, alone)


def test_threads_do_not_change_a_bit():
    graph = Graph.from_edges(random_edges(3000, 20000), 3000)
    x = numbers(3000, 32, dtype=torch.float32)
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            call = lambda x: torch.cat(aggregate(x, graph, ALL), 1)  # noqa: E731
            results.append(outputs_and_gradients(call, [x], "compiled"))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_gcn_equals_pyg(path):
    edges, x = random_edges(20, 90), numbers(25, 6, dtype=torch.float32)
    edges = edges[:, edges[0] != edges[1]]
    layer = GCNConv(6, 4)
    with kernels.use(path), torch.no_grad():
        ours = aggregate(x @ layer.lin.weight.T, Graph.from_edges(edges, 25), ("gcn",))[0] + layer.bias
        torch.testing.assert_close(ours, layer(x, edges))


@pytest.mark.parametrize("kind", ["sum", "mean", "max"])
def test_sage_equals_pyg(path, kind):
    edges, x = random_edges(20, 90), numbers(25, 6, dtype=torch.float32)
    edges = edges[:, edges[0] != edges[1]]
    layer = SAGEConv(6, 4, aggr=kind)
    with kernels.use(path), torch.no_grad():
        around = aggregate(x, Graph.from_edges(edges, 25), (kind,))[0]
        torch.testing.assert_close(layer.lin_l(around) + layer.lin_r(x), layer(x, edges))


@pytest.mark.parametrize("heads", [1, 4])
def test_gat_equals_pyg(path, heads):
    edges, x = random_edges(20, 90), numbers(25, 6, dtype=torch.float32)
    layer = GATConv(6, 5, heads=heads, bias=False)
    with kernels.use(path), torch.no_grad():
        values = layer.lin(x).view(25, 1, heads, 5)
        ours = attend(
            ("gat",),
            values,
            layer.att_src,
            layer.att_dst,
            torch.zeros(1, heads, 5),
            Graph.from_edges(edges, 25),
        )
        torch.testing.assert_close(ours.flatten(1), layer(x, edges))


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_permuting_nodes_permutes_the_output(seed):
    edges, x, order = random_edges(12, 40, seed), numbers(12, 5, seed=seed), torch.randperm(12)
    place = torch.argsort(order)  # node order[k] is called k
    graph, other = Graph.from_edges(edges, 12), Graph.from_edges(place[edges], 12)
    for ours, theirs in zip(aggregate(x, graph, ALL), aggregate(x[order], other, ALL), strict=True):
        torch.testing.assert_close(ours[order], theirs)
    values, att = numbers(12, 5, 1, 4, seed=seed), numbers(5, 1, 4, seed=seed + 1)
    torch.testing.assert_close(
        attend(KINDS, values, att, att, att, graph)[order], attend(KINDS, values[order], att, att, att, other)
    )


def test_unknown_kind():
    graph = Graph.from_edges(random_edges(5, 9), 5)
    with pytest.raises(UnknownName, match="did you mean 'mean'"):
        aggregate(torch.ones(5, 2), graph, ("maen",))
