"""The doctor's rounds: for every class of data the checks that suit it, by the task that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sanegnn.data.base import Data, GraphData
from sanegnn.data.doctor import Finding, examine
from sanegnn.data.graphset import GraphSet
from sanegnn.data.knowledge import KnowledgePair, link_split
from sanegnn.data.knowledge_doctor import examine_pair
from sanegnn.data.linkdoctor import examine_links
from sanegnn.data.setdoctor import examine_set
from sanegnn.data.splits import resolve
from sanegnn.data.wholedoctor import examine_wholes
from sanegnn.data.wholegraphs import WholeGraphs
from sanegnn.registry import Registry
from sanegnn.settings import DataChoice

Look = Callable[[Any, DataChoice], tuple[Finding, ...]]
"""All findings on data and the part of it that was chosen, the gravest first."""


looks: Registry[Look] = Registry("task")
"""By the name of the task; a new task adds its own."""


@looks.add("nodes")
def _graph(data: GraphData, choice: DataChoice) -> tuple[Finding, ...]:
    labelled = bool((data.y >= 0).any())
    return examine(data, resolve(data, _split(data, choice)) if labelled else None)


@looks.add("inductive")
def _set(data: GraphSet, choice: DataChoice) -> tuple[Finding, ...]:
    return examine_set(data, data.resolve(_split(data, choice)))


@looks.add("links")
def _links(data: GraphData, choice: DataChoice) -> tuple[Finding, ...]:
    return examine_links(data, _split(data, choice))


@looks.add("alignment")
def _pair(data: KnowledgePair, choice: DataChoice) -> tuple[Finding, ...]:
    return examine_pair(data, link_split(data, _split(data, choice)))


@looks.add("graphs")
def _wholes(data: WholeGraphs, choice: DataChoice) -> tuple[Finding, ...]:
    return examine_wholes(data, data.resolve(_split(data, choice)) if len(data.known) else None)


def _split(data: Data, choice: DataChoice) -> str:
    return choice.split or data.usual_splits[0]


def look_over(data: Data, choice: DataChoice) -> tuple[Finding, ...]:
    """What a careful colleague would say."""
    return looks[choice.task or data.task](data, choice)
