"""Bring a graph, get the graph neural network designed for it."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sanegnn.api import compare, fit, search, train, truth, tune
    from sanegnn.bundle import Model, load
    from sanegnn.comparison import Leaderboard
    from sanegnn.data import GraphData, WholeGraphs
    from sanegnn.data.graphset import GraphSet
    from sanegnn.data.tables import read
    from sanegnn.estimator import NodeClassifier
    from sanegnn.reporting.report import report
    from sanegnn.results import Result
    from sanegnn.settings import (
        DataChoice,
        Field,
        Machine,
        Race,
        Repeats,
        RunChoice,
        Sample,
        Search,
        Seed,
        Selection,
        Setting,
        Tables,
        Training,
        Tuning,
    )
    from sanegnn.space import Architecture, SearchSpace
    from sanegnn.tracking import track
    from sanegnn.uses import explain, export

_HOMES = {
    "sanegnn.api": ("compare", "fit", "search", "train", "truth", "tune"),
    "sanegnn.bundle": ("Model", "load"),
    "sanegnn.comparison": ("Leaderboard",),
    "sanegnn.data": ("GraphData", "WholeGraphs"),
    "sanegnn.data.graphset": ("GraphSet",),
    "sanegnn.data.tables": ("read",),
    "sanegnn.estimator": ("NodeClassifier",),
    "sanegnn.reporting.report": ("report",),
    "sanegnn.results": ("Result",),
    "sanegnn.settings": (
        "DataChoice",
        "Field",
        "Machine",
        "Race",
        "Repeats",
        "RunChoice",
        "Sample",
        "Search",
        "Seed",
        "Selection",
        "Setting",
        "Tables",
        "Training",
        "Tuning",
    ),
    "sanegnn.space": ("Architecture", "SearchSpace"),
    "sanegnn.tracking": ("track",),
    "sanegnn.uses": ("explain", "export"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022 - grouped by home
    "fit",
    "search",
    "compare",
    "train",
    "truth",
    "tune",
    "report",
    "track",
    "read",
    "load",
    "export",
    "explain",
    "GraphData",
    "GraphSet",
    "WholeGraphs",
    "Leaderboard",
    "Model",
    "NodeClassifier",
    "Result",
    "DataChoice",
    "Field",
    "Machine",
    "Race",
    "Repeats",
    "RunChoice",
    "Sample",
    "Search",
    "Seed",
    "Selection",
    "Setting",
    "Tables",
    "Training",
    "Tuning",
    "Architecture",
    "SearchSpace",
]
__version__ = version("sanegnn")


def __getattr__(name: str) -> Any:
    """Public names are loaded at their first use, so that `import sanegnn` costs no torch."""
    if name not in _HOME:
        raise AttributeError(f"module 'sanegnn' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
