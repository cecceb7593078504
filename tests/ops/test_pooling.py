"""Every pooling against PyG's under equal weights, and by hand on tiny graphs."""

import pytest
import torch
from torch.nn import Linear
from torch_geometric.nn import GCNConv, TopKPooling, global_max_pool, global_mean_pool
from torch_geometric.nn import aggr as pyg

from sanegnn.kernels import Graph, Segments
from sanegnn.ops import Shape, pool_ops
from sanegnn.ops.pooling_topk import best
from sanegnn.testing.examples import WIDTH, close, filled, numbers, shape
from sanegnn.testing.pooling import example_union, pooled

SIZES = (6, 1, 40, 3)


def linear_of(matrix, bias=None):
    layer = Linear(matrix.shape[1], matrix.shape[0], bias=bias is not None).double()
    layer.load_state_dict({"weight": matrix, **({} if bias is None else {"bias": bias})})
    return layer


def simple(kind):
    return lambda op, x, of, edges: kind()(x, of)


def attention(op, x, of, edges):
    return pyg.AttentionalAggregation(linear_of(op.gate), linear_of(op.weight, op.bias))(x, of)


def set2set(op, x, of, edges):
    theirs = pyg.Set2Set(WIDTH, processing_steps=3).double()
    lstm = {"weight_ih_l0": op.asked, "weight_hh_l0": op.state, "bias_ih_l0": op.gate_bias}
    theirs.lstm.load_state_dict({**lstm, "bias_hh_l0": torch.zeros_like(op.gate_bias)})
    return linear_of(op.weight, op.bias)(theirs(x, of))


def sort(op, x, of, edges):
    first = pyg.SortAggregation(k=op.KEPT)(x, of).view(len(SIZES), op.KEPT, WIDTH)
    narrow = linear_of(op.inner, op.inner_bias)(first).relu()
    return linear_of(op.weight, op.bias)(narrow.flatten(1))


def topk(op, x, of, edges):
    read = 0
    for level, rate in enumerate(op.rate):
        if level:
            convolve = GCNConv(WIDTH, WIDTH).double()
            mine = op.convolve[level - 1]
            convolve.load_state_dict({"lin.weight": mine.weight, "bias": mine.bias})
            x = convolve(x, edges).relu()
        pool = TopKPooling(WIDTH, ratio=0.5).double()
        pool.select.load_state_dict({"weight": rate})
        x, edges, _, of, _, _ = pool(x, edges, batch=of)
        read = read + torch.cat([global_mean_pool(x, of), global_max_pool(x, of)], dim=1)
    return linear_of(op.weight, op.bias)(read)


PYG = {
    "sum": simple(pyg.SumAggregation),
    "mean": simple(pyg.MeanAggregation),
    "max": simple(pyg.MaxAggregation),
    "attention": attention,
    "set2set": set2set,
    "sort": sort,
    "topk": topk,
}


@pytest.mark.parametrize("name", pool_ops)
def test_it_equals_pyg_s(name):
    op, (x, segments, edges) = filled(pool_ops[name](shape())), example_union(SIZES)
    mine, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    out, expected = pooled(op, mine, segments, edges), PYG[name](op, theirs, segments.graph, edges)
    assert close(out, expected)
    push = numbers(len(SIZES), WIDTH, seed=3)
    (out * push).sum().backward()
    (expected * push).sum().backward()
    assert close(mine.grad, theirs.grad)


def states(*rows):
    return torch.tensor(rows, dtype=torch.float64)


NONE = Graph.from_edges(torch.zeros(2, 0, dtype=torch.long), 3)
TWO = Segments.of(torch.tensor([2, 0, 1]))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("sum", [[4.0, -3.0], [0.0, 0.0], [5.0, -7.0]]),
        ("mean", [[2.0, -1.5], [0.0, 0.0], [5.0, -7.0]]),
        ("max", [[3.0, -1.0], [0.0, 0.0], [5.0, -7.0]]),
    ],
)
def test_a_pool_of_three_nodes_by_hand(name, wanted):
    x = states((1, -2), (3, -1), (5, -7))
    assert pool_ops[name](Shape(2))(x, TWO, NONE).tolist() == wanted


def test_attention_by_hand():
    op = pool_ops["attention"](Shape(2)).double()
    with torch.no_grad():
        op.gate.copy_(states((1, 0)))
        op.weight.copy_(torch.eye(2))
    x = states((0, 2), (0, 4), (9, 5))
    assert close(op(x, TWO, NONE), states((0, 3), (0, 0), (9, 5)))


def test_sorting_orders_by_the_last_channel_then_by_the_sum_and_fills_up():
    op = pool_ops["sort"](Shape(2))
    x = states((1, 5), (2, 5), (7, 6), (0, -1))
    first = op.first(x, Segments.of(torch.tensor([3, 0, 1])))
    assert first.shape == (3, 30, 2)
    assert first[0, :4].tolist() == [[7, 6], [2, 5], [1, 5], [0, 0]]
    assert not first[1].any()
    assert first[2, :2].tolist() == [[0, -1], [0, 0]]


def test_sorting_keeps_no_more_than_it_may():
    op, segments = pool_ops["sort"](Shape(1)), Segments.of(torch.tensor([50]))
    kept = op.first(torch.arange(50.0)[:, None], segments)
    assert kept[0, :, 0].tolist() == list(range(49, 19, -1))


def test_the_best_half_is_rounded_up_in_each_graph():
    score = torch.tensor([1.0, 3.0, 2.0, 9.0, -1.0, -2.0])
    segments = Segments.of(torch.tensor([3, 1, 0, 2]))
    assert best(score, segments, 0.5).tolist() == [1, 2, 3, 4]


def test_top_k_reads_the_edges_between_the_kept_nodes():
    """Without them the second level would see each node alone."""
    op, (x, segments, edges) = filled(pool_ops["topk"](shape())), example_union(SIZES)
    assert not close(pooled(op, x, segments, edges), pooled(op, x, segments, edges[:, :0]), 1e-6)
