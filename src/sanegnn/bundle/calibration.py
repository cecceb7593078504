"""Temperature scaling (Guo et al., On calibration of modern neural networks, ICML 2017)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

Array = npt.NDArray[Any]
COLDEST, HOTTEST = 0.05, 20.0


def temper(odds: Array, temperature: float) -> Array:
    """softmax(log p / T) of class probabilities p (N, C): flatter above 1, sharper below; order stays."""
    logits = np.log(np.maximum(odds.astype(np.float64), 1e-12)) / temperature
    weights = np.exp(logits - logits.max(1, keepdims=True))
    tempered: Array = weights / weights.sum(1, keepdims=True)
    return tempered


def paired(chances: Array) -> Array:
    """Probabilities of single truths (...) as those of two classes each, false and true (n, 2)."""
    return np.stack([1 - chances.ravel(), chances.ravel()], axis=1)


def fit(odds: Array, target: Array) -> float:
    """The T of the least cross-entropy on nodes that were not trained on: odds (N, C), target (N,).

    One more node, of every class in equal parts, is spread over the targets (after Platt, 1999), so that a
    few nodes that are all right do not make certainty.
    """
    nodes, classes = odds.shape
    wanted = np.full((nodes, classes), 1 / classes)
    wanted[np.arange(nodes), target] += nodes
    wanted /= nodes + 1

    def loss(log_temperature: float) -> float:
        tempered = temper(odds, float(np.exp(log_temperature)))
        return float(-(wanted * np.log(np.maximum(tempered, 1e-300))).sum(1).mean())

    found = minimize_scalar(loss, bounds=(np.log(COLDEST), np.log(HOTTEST)), method="bounded")
    return float(np.exp(found.x))
