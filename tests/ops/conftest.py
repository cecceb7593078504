import pytest
import torch

from sanegnn.testing.examples import NODES, example_edges, example_graph, numbers


@pytest.fixture
def edges():
    """Directed: what is sent is not what is heard."""
    return example_edges()


@pytest.fixture
def graph():
    return example_graph()


@pytest.fixture
def looped(edges):
    """The same edges and a self-loop for every node."""
    loops = torch.arange(NODES).expand(2, -1)
    return torch.cat([edges, loops], dim=1)


@pytest.fixture
def x():
    return numbers(NODES, 8)
