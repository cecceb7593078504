"""The parts of the report on one run: each function tells a section of a story, or nothing."""

from __future__ import annotations

from collections.abc import Callable

from sanegnn.reporting.page import Section
from sanegnn.reporting.sections import choice, graph, nodes, search
from sanegnn.reporting.story import Story

SECTIONS: tuple[Callable[[Story], Section | None], ...] = (
    search.architecture,
    search.course,
    choice.candidates,
    choice.tuning,
    nodes.mistakes,
    nodes.trust,
    nodes.landscape,
    graph.findings,
    graph.repeat,
)
"""In the order of the page."""
