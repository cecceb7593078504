"""The doctor's rounds: for every class of data the checks that suit it, by the task that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sanegnn.data.base import Data, GraphData
from sanegnn.data.doctor import Finding, examine
from sanegnn.data.splits import resolve
from sanegnn.settings import DataChoice

Look = Callable[[Any, DataChoice], tuple[Finding, ...]]
"""All findings on data and the part of it that was chosen, the gravest first."""


def _graph(data: GraphData, choice: DataChoice) -> tuple[Finding, ...]:
    labelled = bool((data.y >= 0).any())
    return examine(data, resolve(data, choice.split or data.usual_splits[0]) if labelled else None)


LOOKS: dict[type, Look] = {GraphData: _graph}
"""By the class of the data; a new class adds its own."""


def look_over(data: Data, choice: DataChoice) -> tuple[Finding, ...]:
    """What a careful colleague would say."""
    return LOOKS[type(data)](data, choice)
