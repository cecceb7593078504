import numpy as np
import pytest

from sanegnn.data import GraphData, stratified
from sanegnn.data.generate import planted_partition, random_graph
from sanegnn.data.measures import degrees, homophily
from sanegnn.errors import BadSetting


@pytest.mark.parametrize("make", [planted_partition, lambda seed: random_graph(seed, 300, 900)])
def test_the_seed_makes_the_graph(make):
    assert make(3).checksum == make(3).checksum
    assert make(3).checksum != make(4).checksum
    again = GraphData.of(make(3))
    assert (again.checksum, again.notes) == (make(3).checksum, make(3).notes)
    assert not make(3).directed


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_planted_communities_have_the_homophily_asked_for(share):
    data = planted_partition(0, nodes=3000, homophily=share)
    assert homophily(data).edge == pytest.approx(share, abs=0.02)
    assert degrees(data).mean() == pytest.approx(8, rel=0.05)
    assert np.bincount(data.y).tolist() == [750] * 4
    assert stratified(data.y, 0).sizes == (1800, 600, 600)


def test_signal_separates_the_classes():
    loud, mute = (planted_partition(0, signal=signal) for signal in (5.0, 0.0))

    def spread(data):
        return np.ptp([data.x[data.y == k].mean(axis=0) for k in range(4)], axis=0).mean()

    assert spread(loud) > 5 * spread(mute)


def test_random_graphs_have_the_size_asked_for():
    data = random_graph(1, nodes=1000, edges=5000, features=7, classes=3)
    assert (data.num_nodes, data.num_features, data.num_classes) == (1000, 7, 3)
    assert 2 * 4900 < data.num_edges <= 2 * 5000
    assert abs(homophily(data).adjusted) < 0.05


def test_skew_makes_hubs():
    even, skewed = (degrees(random_graph(1, 1000, 5000, skew=skew)).max() for skew in (0.0, 2.0))
    assert skewed > 5 * even


def test_impossible_communities_are_refused():
    with pytest.raises(BadSetting, match="2 classes or more"):
        planted_partition(0, nodes=5, classes=4)
