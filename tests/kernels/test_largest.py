import pytest
import torch

from sanegnn import kernels
from sanegnn.kernels import Graph, largest

from .equal import assert_paths_agree


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("width", [1, 7, 35])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_paths_agree(graph, width, k, dtype):
    x = torch.randn(graph.num_nodes, width, dtype=dtype, generator=torch.Generator().manual_seed(0))
    assert_paths_agree(lambda x: largest(x, graph, k), [x])


def test_by_hand(path):
    graph = Graph.from_edges(torch.tensor([[1, 2, 3, 0], [0, 0, 0, 1]]), 4)
    x = torch.tensor([[9.0, -2.0], [1.0, 7.0], [5.0, -3.0], [4.0, 8.0]], requires_grad=True)
    with kernels.use(path):
        out = largest(x, graph, 2)
    assert out[0].tolist() == [[5.0, 8.0], [4.0, 7.0]]
    assert out[1].tolist() == [[9.0, -2.0], [0.0, 0.0]]
    assert out[2].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    out.sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
