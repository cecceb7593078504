import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from sanegnn import kernels
from sanegnn.errors import BadGraph
from sanegnn.kernels import (
    Features,
    add_scaled,
    cpu_dense,
    cpu_lstm,
    dropout,
    linear,
    linear_sum,
    lstm_readout,
    lstm_step,
    project,
    uniform,
)
from sanegnn.seeds import Noise

from .equal import assert_paths_agree
from .pyg import JumpingKnowledge

NOISE = Noise(5_555_555_555_555_555)


def numbers(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).to(dtype)


def sparse_matrix(rows: int, columns: int) -> torch.Tensor:
    x = numbers(rows, columns)
    return torch.where(numbers(columns, rows).T > 1.5, x, 0.0)


@pytest.mark.parametrize("shape", [(), (1,), (33, 7), (0, 4), (2, 3, 16)])
def test_dropout_is_the_same_on_both_paths(shape):
    x = numbers(*shape, dtype=torch.float32)
    with kernels.use("reference"):
        expected = dropout(x, 0.3, NOISE)
    assert torch.equal(dropout(x, 0.3, NOISE), expected)
    assert_paths_agree(lambda x: dropout(x, 0.3, NOISE), [x])


def test_no_noise_gives_the_input_itself():
    x = numbers(3)
    assert dropout(x, 0.5, None) is x
    assert dropout(x, 0.0, NOISE) is x


def test_hash_is_uniform_and_keys_are_independent():
    n = 200_000
    samples = torch.stack(
        [uniform(NOISE.at(k), n) for k in range(3)] + [uniform(Noise(k), n) for k in range(3)]
    )
    assert samples.min() >= 0
    assert samples.max() < 1
    assert (samples.mean(1) - 0.5).abs().max() < 4 * 12**-0.5 / n**0.5
    assert (samples.var(1) - 1 / 12).abs().max() < 0.002
    off_diagonal = torch.corrcoef(samples) - torch.eye(6)
    assert off_diagonal.abs().max() < 5 / n**0.5
    for lag in (1, 2, 16, 64):
        pair = torch.stack([samples[0, :-lag], samples[0, lag:]])
        assert torch.corrcoef(pair)[0, 1].abs() < 5 / n**0.5
    counts = torch.histc(samples[0], 256, 0, 1)
    assert ((counts - n / 256) ** 2 / (n / 256)).sum() < 256 + 6 * (2 * 256) ** 0.5


def test_features_keep_sparse_what_is_sparse():
    x = sparse_matrix(40, 60)
    assert Features.of(x).is_sparse
    assert not Features.of(numbers(40, 60)).is_sparse
    for given in (x, x.numpy(), sp.csr_array(x.numpy()), sp.coo_matrix(x.numpy()), x.to_sparse()):
        features = Features.of(given)
        torch.testing.assert_close(features.to_dense(), x)
        torch.testing.assert_close(pickle.loads(pickle.dumps(features)).to_dense(), x)
    assert Features.of(x.float()).dtype == torch.float32
    assert Features.of(np.eye(9, dtype=np.int64)).nnz == 9
    with pytest.raises(BadGraph, match="nodes, features"):
        Features.of(torch.zeros(3))


@pytest.mark.parametrize("share", [0.05, 0.9])
def test_the_features_of_some_nodes(share):
    x = torch.rand(9, 7, generator=torch.Generator().manual_seed(0))
    x = torch.where(x < share, x, 0.0)
    features, nodes = Features.of(x), torch.tensor([5, 0, 5, 8])
    taken = features.take(nodes)
    assert taken.is_sparse == features.is_sparse == (share < 0.5)
    assert taken.shape == (4, 7)
    assert torch.equal(taken.to_dense(), x[nodes])
    weight = torch.ones(7, 3)
    torch.testing.assert_close(project(taken, weight), project(features, weight)[nodes])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("width", [1, 16, 21])
def test_project_agrees_and_equals_dense(width, dtype):
    x, weight = sparse_matrix(40, 60).to(dtype), numbers(60, width, dtype=dtype)
    torch.testing.assert_close(project(Features.of(x), weight), x @ weight)
    assert_paths_agree(lambda w: project(Features.of(x), w, 0.4, NOISE), [weight])
    dense = numbers(40, 60, dtype=dtype)
    torch.testing.assert_close(project(Features.of(dense), weight), dense @ weight)
    assert_paths_agree(lambda w: project(Features.of(dense), w, 0.4, NOISE), [weight])


@pytest.mark.parametrize("in_cache", [0, 10**9])
@pytest.mark.parametrize("width", [1, 16, 35])
def test_both_ways_of_the_gradient_agree(monkeypatch, in_cache, width):
    x = torch.rand(300, 40, generator=torch.Generator().manual_seed(0))
    x[x < 0.9] = 0
    weight = torch.ones(40, width, requires_grad=True)
    grad = torch.randn(300, width, generator=torch.Generator().manual_seed(1))
    monkeypatch.setattr(cpu_dense, "IN_CACHE", in_cache)
    project(Features.of(x), weight).backward(grad)
    torch.testing.assert_close(weight.grad, x.T @ grad)


def test_project_gradcheck(path):
    features = Features.of(sparse_matrix(9, 12))
    with kernels.use(path):
        weight = numbers(12, 3).requires_grad_()
        assert torch.autograd.gradcheck(lambda w: project(features, w, 0.4, NOISE), weight)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_linear_agrees(dtype):
    inputs = [numbers(9, 5, dtype=dtype), numbers(5, 7, dtype=dtype), numbers(7, dtype=dtype)]
    assert_paths_agree(linear, inputs)
    assert_paths_agree(lambda x, w: linear(x.T, w), [numbers(5, 9, dtype=dtype), inputs[1]])
    assert linear(inputs[0][:0], *inputs[1:]).shape == (0, 7)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_linear_sum_agrees(dtype):
    shapes = [(9, 5), (9, 3), (7, 5), (7, 3), (7,)]
    inputs = [numbers(*shape, dtype=dtype) for shape in shapes]
    assert_paths_agree(lambda x, y, v, w, b: linear_sum([x, y], [v, w], b), inputs)
    x, y, v, w, b = inputs
    torch.testing.assert_close(linear_sum([x, y], [v, w], b), x @ v.T + y @ w.T + b)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_add_scaled_agrees(dtype):
    x, y, factor = numbers(9, 5, dtype=dtype), numbers(9, 5, dtype=dtype) + 1, numbers(1, dtype=dtype)
    assert_paths_agree(add_scaled, [x, y, factor])
    torch.testing.assert_close(add_scaled(x, y, factor), x + factor * y)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("width", [1, 16, 19])
def test_lstm_step_agrees(width, dtype):
    inputs = [numbers(9, 5, dtype=dtype), numbers(5, 3 * width, dtype=dtype), numbers(3 * width, dtype=dtype)]
    assert_paths_agree(lstm_step, inputs)


def test_lstm_step_equals_torch(path):
    lstm = torch.nn.LSTM(5, 7)
    x = numbers(9, 5, dtype=torch.float32)
    i, _, g, o = (lstm.weight_ih_l0 @ torch.eye(5)).chunk(4)
    b_i, _, b_g, b_o = (lstm.bias_ih_l0 + lstm.bias_hh_l0).chunk(4)
    with kernels.use(path), torch.no_grad():
        ours = lstm_step(x, torch.cat([i, g, o]).T, torch.cat([b_i, b_g, b_o]))
        torch.testing.assert_close(ours, lstm(x[None])[0][0])


def readout_inputs(count: int, nodes: int, width: int, dtype: torch.dtype) -> list[torch.Tensor]:
    hidden = count * width // 2
    shapes = ((count, nodes, width), (2, width, 4 * hidden), (2, hidden, 4 * hidden))
    shapes += ((2, 4 * hidden), (2 * hidden,), ())  # type: ignore[assignment]
    return [numbers(*shape, dtype=dtype) * 0.5 for shape in shapes]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(("count", "width"), [(1, 4), (2, 5), (3, 16), (5, 3)])
def test_lstm_readout_agrees(count, width, dtype):
    assert_paths_agree(lstm_readout, readout_inputs(count, 11, width, dtype))


def test_lstm_readout_of_many_nodes_is_taken_in_turn(monkeypatch):
    monkeypatch.setattr(cpu_lstm, "IN_CACHE", 4 * 4 * 9)  # 4 nodes at a time
    assert_paths_agree(lstm_readout, readout_inputs(3, 11, 6, torch.float64))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_lstm_readout_equals_jumping_knowledge(path, count):
    theirs = JumpingKnowledge("lstm", 6, count).double()
    states = numbers(count, 10, 6).requires_grad_()
    weights = dict(theirs.lstm.named_parameters())
    ends = ("", "_reverse")
    parameters = (
        torch.stack([weights[f"weight_ih_l0{end}"].T for end in ends]),
        torch.stack([weights[f"weight_hh_l0{end}"].T for end in ends]),
        torch.stack([weights[f"bias_ih_l0{end}"] + weights[f"bias_hh_l0{end}"] for end in ends]),
        theirs.att.weight[0],
        theirs.att.bias[0],
    )
    expected = theirs(list(states.unbind(0)))
    with kernels.use(path):
        ours = lstm_readout(states, *parameters)
    torch.testing.assert_close(ours, expected)
    leaves = [states, *theirs.parameters()]
    for mine, its in zip(
        torch.autograd.grad(ours.square().sum(), leaves),
        torch.autograd.grad(expected.square().sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(mine, its)


def test_lstm_gradcheck(path):
    with kernels.use(path):
        inputs = [x.requires_grad_() for x in readout_inputs(3, 3, 2, torch.float64)]
        assert torch.autograd.gradcheck(lstm_readout, inputs)


def test_only_the_states_may_ask_for_a_gradient():
    inputs = readout_inputs(3, 8, 4, torch.float64)
    states = inputs[0].clone().requires_grad_()
    alone = torch.autograd.grad(lstm_readout(states, *inputs[1:]).square().sum(), states)[0]
    leaves = [x.clone().requires_grad_() for x in inputs]
    full = torch.autograd.grad(lstm_readout(*leaves).square().sum(), leaves)[0]
    torch.testing.assert_close(alone, full)
