"""The embedded graph: scikit-learn's handwritten digits, each joined to its nearest images."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sanegnn.data.base import GraphData, symmetric

NEIGHBOURS = 5


def nearest_neighbours(points: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Edges (2, N * count) from the `count` nearest other points to each point.

    Integer coordinates make the squared distances exact, and equal ones are told apart by the
    smaller id, so that the edges are the same on every machine.
    """
    squares = (points**2).sum(axis=1)
    distance = squares[:, None] + squares[None, :] - 2 * (points @ points.T)
    np.fill_diagonal(distance, np.iinfo(np.int64).max)
    near = np.argsort(distance, axis=1, kind="stable")[:, :count]
    return np.stack([near.ravel(), np.repeat(np.arange(len(points)), count)])


def digits() -> GraphData:
    """1,797 images of 8 x 8 pixels, ten classes: 64 pixels in [0, 1], edges to the 5 nearest, both ways."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    pixels = images.astype(np.int64)
    edges, _ = symmetric(nearest_neighbours(pixels, NEIGHBOURS), None, len(pixels))
    return GraphData.of({"x": (pixels / 16).astype(np.float32), "edges": edges, "y": labels}, "digits")
