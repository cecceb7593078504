"""The knobs of the tasks, by the name of the task; without torch, so that help is quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from sanegnn.settings import Among, Knobs, Value, Within, knob


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
class AlignmentKnobs(Knobs):
    """What is read of the entities, and how their distance is made and learned."""

    attributes: Annotated[
        int, knob("the most frequent attributes that are read; 0: structure alone"), Within(0)
    ] = 2000
    beta: Annotated[float, knob("β, the share of the structure in a distance"), Within(0, 1)] = 0.9
    margin: Annotated[float, knob("γ, by how much a link is to be nearer"), Within(0)] = 3.0
    negatives: Annotated[int, knob("false links for each end of a link, anew in every epoch"), Within(1)] = 5


@dataclass(frozen=True)
class GraphsKnobs(Knobs):
    """How whole graphs are learned from."""

    batch: Annotated[int, knob("graphs that a step reads together"), Within(1)] = 64


KNOBS: dict[str, type[Knobs]] = {
    "alignment": AlignmentKnobs,
    "graphs": GraphsKnobs,
    "inductive": InductiveKnobs,
    "links": LinkKnobs,
}
"""Tasks that are not here have no knobs."""

STARTS: dict[str, Mapping[str, Value]] = {
    "alignment": {
        "scaling": "raw",
        "activation": "relu",
        "hidden": 128,
        "input_dropout": 0.0,
        "dropout": 0.0,
        "weight_decay": 1e-6,
    }
}
"""By task: where the knobs of nets and supernets stand that nobody has turned, in place of their default."""
