import pytest
import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from sanegnn import kernels
from sanegnn.errors import BadSetting, UnknownName
from sanegnn.kernels import Graph, attend, cpu_attend
from sanegnn.seeds import Noise

from .conftest import KINDS, random_edges
from .equal import assert_paths_agree, outputs_and_gradients

NOISE = Noise(8_123_456_789_012_345_678)


def inputs(nodes: int, ops: int, heads: int, width: int, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    seed = torch.Generator().manual_seed(3)
    shapes = [(nodes, ops, heads, width)] + 3 * [(ops, heads, width)]
    return [torch.randn(shape, dtype=torch.float64, generator=seed).to(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(("heads", "width"), [(1, 5), (2, 16), (8, 3), (1, 33)])
def test_paths_agree(graph, heads, width, dtype):
    x = inputs(graph.num_nodes, 5, heads, width, dtype)
    x[0] = x[0] / width**0.5
    assert_paths_agree(lambda *p: attend(KINDS, *p, graph, 0.4, NOISE), x)


@pytest.mark.parametrize(("heads", "width"), [(1, 33), (3, 16)])
def test_paths_agree_where_nothing_is_kept_between_the_passes(monkeypatch, graph, heads, width):
    monkeypatch.setattr(cpu_attend, "KEPT", -1)
    x = inputs(graph.num_nodes, 5, heads, width)
    x[0] = x[0] / width**0.5
    assert_paths_agree(lambda *p: attend(KINDS, *p, graph, 0.4, NOISE), x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("blended", [1, 3, 5])
@pytest.mark.parametrize(("heads", "width"), [(1, 32), (2, 7)])
def test_paths_agree_on_a_blend(graph, heads, width, blended, dtype):
    shares = torch.linspace(-0.5, 1.5, blended, dtype=dtype)
    x = [*inputs(graph.num_nodes, 5, heads, width, dtype), shares]
    x[0] = x[0] / width**0.5
    assert_paths_agree(lambda *p: attend(KINDS, *p[:4], graph, 0.4, NOISE, p[4]), x)


def test_a_blend_is_the_sum_by_shares(path):
    graph, x = Graph.from_edges(random_edges(9, 40), 9), inputs(9, 5, 2, 4)
    shares = torch.tensor([0.25, -2.0, 3.0], dtype=torch.float64)
    with kernels.use(path):
        each, blend = attend(KINDS, *x, graph), attend(KINDS, *x, graph, shares=shares)
    torch.testing.assert_close(blend[:, 0], 0.25 * each[:, 0] - 2.0 * each[:, 1] + 3.0 * each[:, 2])
    torch.testing.assert_close(blend[:, 1:], each[:, 3:])


def test_a_blend_of_held_values_still_has_a_gradient_for_its_shares(path):
    graph, x = Graph.from_edges(random_edges(9, 40), 9), inputs(9, 5, 2, 4)
    shares = torch.ones(5, dtype=torch.float64, requires_grad=True)
    with kernels.use(path):
        attend(KINDS, *x, graph, shares=shares).sum().backward()
        torch.testing.assert_close(shares.grad, attend(KINDS, *x, graph).sum((0, 2, 3)))


@pytest.mark.parametrize("kind", KINDS)
def test_one_op_alone_equals_its_share_of_all(graph, kind):
    x = inputs(graph.num_nodes, 5, 2, 4)
    a = KINDS.index(kind)
    alone = attend((kind,), x[0][:, a : a + 1], *(p[a : a + 1] for p in x[1:]), graph)
    torch.testing.assert_close(alone[:, 0], attend(KINDS, *x, graph)[:, a])


def _dense_score(kind: str, z: Tensor, a_s: Tensor, a_t: Tensor, gate: Tensor) -> Tensor:
    """The score of every pair (u, v) of nodes for one head."""
    s, d = z @ a_s, z @ a_t
    pair = s[:, None] + d[None, :]
    return {
        "gat": lambda: leaky_relu(pair, 0.2),
        "gat_sym": lambda: leaky_relu(pair, 0.2) + leaky_relu(pair.T, 0.2),
        "gat_cos": lambda: z @ z.T,
        "gat_linear": lambda: torch.tanh(pair),
        "gat_gen_linear": lambda: torch.tanh((z * a_s)[:, None] + (z * a_t)[None, :]) @ gate,
    }[kind]()


@pytest.mark.parametrize("kind", KINDS)
def test_equals_dense_attention(path, kind):
    edges = random_edges(9, 40)
    weight = torch.rand(40, dtype=torch.float64) + 0.1
    graph = Graph.from_edges(edges, 9, weight)
    proper = edges[0] != edges[1]
    count = torch.eye(9, dtype=torch.float64).index_put(
        tuple(edges[:, proper]), weight[proper], accumulate=True
    )
    z, a_s, a_t, gate = inputs(9, 1, 1, 4)
    part = count * torch.exp(_dense_score(kind, z[:, 0, 0], a_s[0, 0], a_t[0, 0], gate[0, 0]))
    expected = (part / part.sum(0)).T @ z[:, 0, 0]
    with kernels.use(path):
        torch.testing.assert_close(attend((kind,), z, a_s, a_t, gate, graph)[:, 0, 0], expected)


def test_gradcheck(path):
    graph = Graph.from_edges(random_edges(7, 25), 8)
    x = [p.requires_grad_() for p in inputs(8, 5, 2, 3)]
    with kernels.use(path):
        assert torch.autograd.gradcheck(lambda *p: attend(KINDS, *p, graph, 0.3, NOISE), x)


@pytest.mark.parametrize("size", [1e2, 1e4])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_extreme_scores_stay_finite_and_agree(size, dtype):
    graph = Graph.from_edges(random_edges(30, 200), 30)
    x = inputs(30, 5, 2, 4, dtype)
    x = [x[0]] + [p * size for p in x[1:]]
    for path in ("compiled", "reference"):
        for part in outputs_and_gradients(lambda *p: attend(KINDS, *p, graph), x, path):
            assert torch.isfinite(part).all()
    # the scores themselves have a rounding error of about size · 1e-7 in float32
    with kernels.use("reference"):
        expected = attend(KINDS, *(p.double() for p in x), graph)
    tolerance = 1e-9 if dtype == torch.float64 else 3e-6 * size
    torch.testing.assert_close(attend(KINDS, *x, graph).double(), expected, rtol=0, atol=tolerance)


def test_opposite_extremes_cancel():
    graph = Graph.from_edges(torch.tensor([[0], [1]]), 2)
    z = torch.tensor([[1.0], [-1.0]]).view(2, 1, 1, 1).repeat(1, 5, 1, 1)
    att = torch.full((5, 1, 1), 1e4)
    out = attend(KINDS, z, att, att, torch.ones(5, 1, 1), graph)
    assert torch.isfinite(out).all()
    torch.testing.assert_close(out[1, 0, 0, 0], torch.tensor(1.0))  # e_01 = 0 beats e_11 = -4e3
    torch.testing.assert_close(out[0], z[0])


def test_hub_of_many_neighbours():
    around = torch.arange(1, 100_001)
    graph = Graph.from_edges(torch.stack([around, torch.zeros_like(around)]), 100_001)
    x = inputs(100_001, 5, 1, 3)
    assert_paths_agree(lambda *p: attend(KINDS, *p, graph, 0.5, NOISE), x)


def test_threads_do_not_change_a_bit():
    graph = Graph.from_edges(random_edges(3000, 20000), 3000)
    x = inputs(3000, 5, 2, 8, torch.float32)
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            call = lambda *p: attend(KINDS, *p, graph, 0.5, NOISE)  # noqa: E731
            results.append(outputs_and_gradients(call, x, "compiled"))
    finally:
        torch.set_num_threads(before)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_only_asked_gradients():
    graph = Graph.from_edges(random_edges(20, 80), 20)
    x = inputs(20, 5, 1, 4)
    full = outputs_and_gradients(lambda *p: attend(KINDS, *p, graph), x, "compiled")
    values = x[0].clone().requires_grad_()
    part = outputs_and_gradients(lambda z: attend(KINDS, z, *x[1:], graph), [values.detach()], "compiled")
    torch.testing.assert_close(part[1], full[1], rtol=0, atol=0)


def test_strided_inputs_and_second_backward():
    graph = Graph.from_edges(random_edges(20, 80), 20)
    x = inputs(20, 5, 2, 4)
    swapped = x[0].transpose(0, 3).contiguous().transpose(0, 3).requires_grad_()
    out = attend(KINDS, swapped, *x[1:], graph)
    torch.testing.assert_close(out, attend(KINDS, *x, graph), rtol=0, atol=0)
    grad = torch.randn_like(out).transpose(1, 2).contiguous().transpose(1, 2)
    first = torch.autograd.grad(out, swapped, grad, retain_graph=True)[0]
    assert torch.equal(first, torch.autograd.grad(out, swapped, grad)[0])


def test_dropout_keeps_the_mean():
    graph = Graph.from_edges(random_edges(50, 400), 50)
    x = inputs(50, 5, 2, 4)
    outs = torch.stack([attend(KINDS, *x, graph, 0.5, NOISE.at(k)) for k in range(400)])
    assert (outs.mean(0) - attend(KINDS, *x, graph)).abs().max() < 6 * outs.std(0).max() / 20


def test_bad_settings_name_the_way_out():
    graph = Graph.from_edges(random_edges(5, 9), 5)
    x = inputs(5, 1, 1, 2)
    with pytest.raises(UnknownName, match="gat_sym"):
        attend(("gat-sym",), *x, graph)
    with pytest.raises(BadSetting, match="less than 1"):
        attend(("gat",), *x, graph, 1.0, NOISE)
