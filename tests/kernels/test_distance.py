import pytest
import torch

from sanegnn import kernels
from sanegnn.kernels import distances

from .equal import assert_paths_agree


def rows(nodes, width, dtype=torch.float64):
    return torch.randn(nodes, width, generator=torch.Generator().manual_seed(3), dtype=dtype)


def pairs(nodes, count):
    return torch.randint(0, nodes, (2, count), generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize("width", [1, 15, 16, 17, 40])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_paths_agree_forward_and_back(width, dtype):
    assert_paths_agree(lambda x: distances(x, pairs(30, 200)), [rows(30, width, dtype)])


def test_the_distance_is_the_sum_of_absolute_differences(path):
    x = torch.tensor([[1.0, -2.0], [0.5, 1.0], [1.0, 1.0]])
    with kernels.use(path):
        assert distances(x, torch.tensor([[0, 0, 2], [1, 2, 2]])).tolist() == [3.5, 3.0, 0.0]


def test_a_pair_of_equal_rows_pulls_nothing(path):
    x = torch.ones(2, 3, requires_grad=True)
    with kernels.use(path):
        distances(x, torch.tensor([[0], [1]])).sum().backward()
    assert x.grad.tolist() == [[0.0] * 3] * 2


def test_no_pairs_give_no_distances(path):
    with kernels.use(path):
        assert distances(rows(3, 2), torch.zeros(2, 0, dtype=torch.int64)).shape == (0,)


def test_threads_change_nothing():
    many = torch.get_num_threads()
    found = []
    for threads in (1, 3):
        torch.set_num_threads(threads)
        x = rows(200, 33).requires_grad_()
        out = distances(x, pairs(200, 3000))
        out.square().sum().backward()
        found.append((out, x.grad))
    torch.set_num_threads(many)
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
