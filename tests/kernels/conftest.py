from collections.abc import Callable

import pytest
import torch

from sanegnn.kernels import Graph

KINDS = ("gat", "gat_sym", "gat_cos", "gat_linear", "gat_gen_linear")


def random_edges(nodes: int, edges: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, nodes, (2, edges), generator=torch.Generator().manual_seed(seed))


def _isolated() -> Graph:
    return Graph.from_edges(random_edges(20, 90), 30)


def _loops_and_duplicates() -> Graph:
    edges = random_edges(12, 60)
    return Graph.from_edges(torch.cat([edges, edges, torch.arange(12).repeat(2, 1)], dim=1), 12)


def _hub() -> Graph:
    around = torch.arange(1, 300)
    return Graph.from_edges(torch.stack([around, torch.zeros_like(around)]), 300)


def _inverse_hub() -> Graph:
    around = torch.arange(1, 300)
    return Graph.from_edges(torch.stack([torch.zeros_like(around), around]), 300)


def _weighted() -> Graph:
    weight = torch.rand(150, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    weight[:10] = 0.0
    return Graph.from_edges(random_edges(25, 150), 25, weight)


GRAPHS: dict[str, Callable[[], Graph]] = {
    "isolated": _isolated,
    "loops and duplicates": _loops_and_duplicates,
    "hub": _hub,
    "inverse hub": _inverse_hub,
    "weighted": _weighted,
    "single node": lambda: Graph.from_edges(torch.zeros(2, 0, dtype=torch.int64), 1),
    "no edges": lambda: Graph.from_edges(torch.zeros(2, 0, dtype=torch.int64), 7),
    "towards some": lambda: _weighted().towards(torch.tensor([7, 0, 24, 3, 11]))[1],
    "directed line": lambda: Graph.from_edges(torch.stack([torch.arange(9), torch.arange(1, 10)]), 10),
}


@pytest.fixture(params=GRAPHS)
def graph(request: pytest.FixtureRequest) -> Graph:
    return GRAPHS[request.param]()


@pytest.fixture(params=["compiled", "reference"])
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)
