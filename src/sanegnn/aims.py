"""The knobs of the tasks, by the name of the task; without torch, so that help is quick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sanegnn.settings import Among, Knobs, Within, knob


@dataclass(frozen=True)
class InductiveKnobs(Knobs):
    """How many graphs are learned from."""

    batch: Annotated[int, knob("training graphs that a step reads together"), Within(1)] = 2


@dataclass(frozen=True)
class LinkKnobs(Knobs):
    """How pairs of nodes are judged, and against what."""

    head: Annotated[str, knob("what reads the embeddings of a pair"), Among(("dot", "mlp"))] = "dot"
    negatives: Annotated[
        int, knob("pairs without an edge for every edge, drawn anew each epoch"), Within(1)
    ] = 1


@dataclass(frozen=True)
class GraphsKnobs(Knobs):
    """How whole graphs are learned from."""

    batch: Annotated[int, knob("graphs that a step reads together"), Within(1)] = 64


KNOBS: dict[str, type[Knobs]] = {"inductive": InductiveKnobs, "links": LinkKnobs, "graphs": GraphsKnobs}
"""Tasks that are not here have no knobs."""
