"""The stand-in in PPI's own raw files, read by the very loader that reads PPI."""

import json

import numpy as np
import pytest

from sanegnn.data import load
from sanegnn.data.opening import opened
from sanegnn.data.ppilike import EDGES, GRAPHS, NODES, ppi_like, write_ppi
from sanegnn.errors import BadGraph, BadSetting, SaneError
from sanegnn.settings import DataChoice, Machine

SCALE = 0.012


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A data root with the stand-in where PPI belongs."""
    folder = tmp_path_factory.mktemp("root")
    write_ppi(folder / "PPI" / "raw", ppi_like(0, SCALE))
    return folder


@pytest.fixture(scope="module")
def ppi(root):
    return load("ppi", root)


def test_it_is_made_as_it_was_drawn(ppi):
    drawn = [one for part in ppi_like(0, SCALE).values() for one in part]
    assert len(ppi.graphs) == len(drawn) == 24
    for read, made in zip(ppi.graphs, drawn, strict=True):
        assert np.array_equal(read.x, made.x)
        assert np.array_equal(read.y, made.y)
        both = {*map(tuple, made.edges.T.tolist()), *map(tuple, made.edges[::-1].T.tolist())}
        assert set(map(tuple, read.edges.T.tolist())) == both


def test_parts_are_those_of_the_files(ppi):
    split = ppi.resolve("public")
    assert split.sizes == (20, 2, 2)
    assert [ppi.graphs[place].name for place in (0, 20, 22)] == ["train 0", "val 0", "test 0"]
    assert ppi.usual_splits == ("public",)
    assert (ppi.metric, ppi.task, ppi.several) == ("micro_f1", "inductive", True)
    assert (ppi.num_features, ppi.num_classes) == (50, 121)


def test_it_comes_from_the_cache_the_second_time(root, ppi, monkeypatch):
    monkeypatch.setattr("sanegnn.data.pyg.PyGSource._run", None)
    again = load("ppi", root)
    assert again.checksum == ppi.checksum
    assert [one.name for one in again.graphs] == [one.name for one in ppi.graphs]


def test_a_folder_in_its_layout_is_read_without_a_name(root, ppi):
    for folder in (root / "PPI", root / "PPI" / "raw"):
        found = opened(str(folder), DataChoice(), Machine())
        assert found.checksum == ppi.checksum


def test_without_raw_files_and_network_it_says_where_they_belong(tmp_path, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise OSError("no network")

    monkeypatch.setattr("torch_geometric.datasets.ppi.download_url", refuse)
    with pytest.raises(SaneError, match=r"dataset 'ppi'.*PPI/raw is not there, and the download failed"):
        load("ppi", tmp_path)


def test_damaged_files_are_told(tmp_path):
    write_ppi(tmp_path / "PPI" / "raw", ppi_like(0, SCALE))
    (tmp_path / "PPI" / "raw" / "valid_graph.json").write_text("{")
    with pytest.raises(BadGraph, match="the raw files of ppi"):
        load("ppi", tmp_path)


def test_the_seed_is_all_it_depends_on():
    one, again, other = (ppi_like(seed, SCALE)["valid"][0] for seed in (1, 1, 2))
    assert np.array_equal(one.y, again.y)
    assert np.array_equal(one.edges, again.edges)
    assert not np.array_equal(one.x[:20], other.x[:20])


@pytest.mark.parametrize("scale", [0.012, 0.05])
def test_sizes_follow_the_scale(scale):
    made = ppi_like(0, scale)
    for part in NODES:
        assert len(made[part]) == GRAPHS[part]
        assert sum(len(one.x) for one in made[part]) == round(scale * NODES[part])
    assert sum(one.edges.shape[1] for part in made.values() for one in part) == round(EDGES * scale**1.5)


def test_no_node_is_alone_and_no_edge_comes_twice():
    for one in ppi_like(0, SCALE)["train"]:
        assert set(one.edges.ravel()) == set(range(len(one.x)))
        assert (one.edges[0] < one.edges[1]).all()
        assert len(np.unique(one.edges, axis=1).T) == one.edges.shape[1]


def test_labels_are_correlated_and_as_frequent_as_those_of_proteins():
    y = np.concatenate([one.y for part in ppi_like(0, 0.05).values() for one in part])
    assert 0.25 < y.mean() < 0.5
    assert y.mean(0).min() > 0.05
    strength = np.linalg.svd(y - y.mean(0), compute_uv=False) ** 2
    assert strength[:16].sum() > 0.5 * strength.sum()


def test_too_small_a_scale_is_refused():
    with pytest.raises(BadSetting, match=r"scale = 0.005 leaves a graph less than 20 nodes"):
        ppi_like(0, 0.005)


def test_the_layout_is_that_of_networkx(root):
    graph = json.loads((root / "PPI" / "raw" / "test_graph.json").read_text())
    assert set(graph) == {"directed", "multigraph", "graph", "nodes", "links"}
    ids = np.load(root / "PPI" / "raw" / "test_graph_id.npy")
    assert len(graph["nodes"]) == len(ids)
    assert set(ids.tolist()) == {1, 2}
