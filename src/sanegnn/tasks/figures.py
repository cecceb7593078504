"""How good an alignment is, by the ranks of the true matches; larger is better for all of them."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from sanegnn.registry import Registry

Figure = Callable[[Tensor], float]
"""The ranks of the true matches (Q,), from 1 -> a score; larger is better."""

figures: Registry[Figure] = Registry("alignment metric")


def hits(most: int) -> Figure:
    """The share of ranks that are at most `most`."""
    return lambda ranks: float((ranks <= most).double().mean())


for _most in (1, 10, 50):
    figures.add(f"hits@{_most}", source="Wang et al.: GCN-Align, EMNLP 2018")(hits(_most))


@figures.add("mrr")
def mrr(ranks: Tensor) -> float:
    """The mean of 1 / rank."""
    return float(ranks.double().reciprocal().mean())
