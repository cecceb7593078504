import numpy as np

from sanegnn.data import load, resolve
from sanegnn.data.digits import nearest_neighbours

CHECKSUM = "4abe0b2062ce3f4c49f7048024f2058669e987dce15bb669416adcb79e335fd5"


def test_the_embedded_graph_is_pinned():
    data = load("digits")
    assert (data.num_nodes, data.num_edges, data.num_features, data.num_classes) == (1797, 12618, 64, 10)
    assert data.classes == tuple("0123456789")
    assert (data.x.min(), data.x.max()) == (0, 1)
    assert not data.directed
    assert data.checksum == CHECKSUM
    assert resolve(data, "0").sizes == (1078, 359, 360)


def test_equal_distances_go_to_the_smaller_id():
    square = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    edges = nearest_neighbours(square, 1)
    assert edges.tolist() == [[1, 0, 0, 1], [0, 1, 2, 3]]


def test_neighbours_are_the_nearest():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 50, (40, 3))
    source, target = nearest_neighbours(points, 4)
    distance = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(distance, np.inf)
    for node in range(40):
        chosen = source[target == node]
        assert len(set(chosen)) == 4
        np.testing.assert_allclose(np.sort(distance[node, chosen]), np.sort(distance[node])[:4])
