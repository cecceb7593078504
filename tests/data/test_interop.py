import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.datasets import KarateClub

from sanegnn.data import GraphData
from sanegnn.errors import BadGraph

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


def test_pyg_data():
    eye = torch.eye(4, dtype=torch.bool)
    data = Data(
        x=torch.arange(1.0, 9).reshape(4, 2), edge_index=EDGES, y=torch.tensor([0, 1, 0, 1]),
        train_mask=eye[0], val_mask=eye[1], test_mask=eye[2],
    )  # fmt: skip
    found = GraphData.of(data, "mine")
    assert (found.name, found.num_nodes, found.num_edges, found.classes) == ("mine", 4, 6, ("0", "1"))
    assert found.splits["public"].val.tolist() == [1]
    assert found.weight is None


def test_pyg_weights_and_edge_attributes():
    data = Data(x=torch.ones(4, 2), edge_index=EDGES, edge_weight=torch.arange(1.0, 7))
    assert GraphData.of(data).weight.tolist() == [1, 2, 3, 4, 5, 6]
    told = GraphData.of(Data(x=torch.ones(4, 2), edge_index=EDGES, edge_attr=torch.ones(6, 3)))
    assert any("edge_attr is not used" in note for note in told.notes)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("form", ["to_sparse", "to_sparse_csr", "bfloat16", "double", "requires_grad_"])
def test_torch_features_of_any_layout(form):
    x = getattr(torch.eye(4), form)()
    found = GraphData.of(Data(x=x, edge_index=EDGES, y=torch.tensor([0, 1, 0, 1])))
    np.testing.assert_array_equal(found.x, np.eye(4))


def test_pyg_without_features():
    found = GraphData.of(Data(edge_index=EDGES, num_nodes=5))
    assert found.x.shape == (5, 2)
    with pytest.raises(BadGraph, match="how many nodes"):
        GraphData.of(Data(edge_index=EDGES))


def test_pyg_refusals():
    with pytest.raises(BadGraph, match="to_homogeneous"):
        GraphData.of(HeteroData())
    with pytest.raises(BadGraph, match="adj_t"):
        GraphData.of(Data(x=torch.ones(4, 2), adj_t=torch.eye(4).to_sparse()))
    with pytest.raises(BadGraph, match="no edges array"):
        GraphData.of(Data(x=torch.ones(4, 2)))
    with pytest.raises(BadGraph, match="one class per node"):
        GraphData.of(Data(x=torch.ones(4, 2), edge_index=EDGES, y=torch.eye(4)))


def test_a_dataset_of_one_graph():
    club = KarateClub()
    assert GraphData.of(club).num_nodes == 34
    assert GraphData.of(club).checksum == GraphData.of(club[0]).checksum
    with pytest.raises(BadGraph, match="holds 2 graphs"):
        GraphData.of(club.copy([0, 0]))
