"""The searched architecture, after the paper's Figure 2: layers in a chain, skips to the layer aggregator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sanegnn.reporting.drawings import WIDTH
from sanegnn.reporting.scene import Box, Mark, Path, Picture, Words, arrow, shortened
from sanegnn.space import Architecture

LEFT, WIDE, TALL, GAP = 34.0, 214.0, 44.0, 26.0
LANES = (26.0, 150.0)
"""The most between two lanes of skips, and the room of all lanes."""
DEEP = 8
"""Deeper architectures show alike layers that follow each other as one."""


@dataclass(frozen=True)
class Layer:
    """One layer, or several alike ones in a row."""

    first: int
    last: int
    op: str
    skip: str = ""

    @property
    def place(self) -> str:
        """Which layers these are."""
        return f"layer {self.first}" if self.first == self.last else f"layers {self.first} to {self.last}"


def layers(architecture: Architecture) -> list[Layer]:
    """The layers as they are drawn."""
    skips = architecture.skips or ("",) * architecture.depth
    single = [
        Layer(place, place, op, skip)
        for place, (op, skip) in enumerate(zip(architecture.nodes, skips, strict=True), start=1)
    ]
    if architecture.depth <= DEEP:
        return single
    runs = [list(run) for _, run in groupby(single, key=lambda layer: (layer.op, layer.skip))]
    return [Layer(run[0].first, run[-1].last, run[0].op, run[0].skip) for run in runs]


def draw(architecture: Architecture) -> Picture:
    """The drawing of an architecture."""
    shown = layers(architecture)
    height = (len(shown) + 2 + bool(architecture.layer)) * (TALL + GAP) + (26 if architecture.skips else 0)
    marks = list(_marks(architecture, shown, height))
    said = f"{architecture.depth} layers: {architecture}"
    return Picture("architecture", "Layer by layer", said, WIDTH, height, marks)


def _top(place: int) -> float:
    return 6 + place * (TALL + GAP)


def _marks(architecture: Architecture, shown: Sequence[Layer], height: float) -> Iterator[Mark]:
    yield from _block(0, "input features", "h⁰ = W X + b", "s6")
    for place, layer in enumerate(shown, start=1):
        title, detail = _named(layer)
        yield from _down(place - 1)
        yield from _block(place, title, detail, "s0")
    end = len(shown) + 1
    if architecture.layer:
        yield from _skips(shown, end)
        yield from _block(end, architecture.layer, "layer aggregator", "s2")
        end += 1
    yield from _down(end - 1)
    yield from _block(end, "output", "W z + b", "s5")
    if architecture.skips:
        yield from _key(height - 16)


def _named(layer: Layer) -> tuple[str, str]:
    family, *parts = layer.op.split(":")
    title = f"{family} {parts[0]}" if parts else family
    return title, " · ".join([layer.place, *parts[1:]])


def _block(place: int, title: str, detail: str, colour: str) -> Iterator[Mark]:
    middle = LEFT + WIDE / 2
    yield Box(LEFT, _top(place), WIDE, TALL, 8, look="block", colour=colour, tip=f"{title}: {detail}")
    yield Words(middle, _top(place) + 20, shortened(title, 26), "middle", look="strong")
    yield Words(middle, _top(place) + 35, shortened(detail, 36), "middle", look="small")


def _down(place: int, look: str = "line", colour: str = "soft") -> Iterator[Mark]:
    middle, begin = LEFT + WIDE / 2, _top(place) + TALL
    yield Path([(middle, begin), (middle, begin + GAP - 4)], look=look, colour=colour)
    yield arrow((middle, begin + GAP - 1), math.pi / 2, colour=colour)


def _skips(shown: Sequence[Layer], end: int) -> Iterator[Mark]:
    """The last layer's straight down, those before it on lanes to the right, the first on the outermost."""
    step = min(LANES[0], LANES[1] / max(1, len(shown) - 1))
    look, colour = _line(shown[-1])
    yield from _down(len(shown), look, colour)
    inlets = TALL / len(shown)
    for place, layer in enumerate(shown[:-1], start=1):
        lane = LEFT + WIDE + 14 + step * (len(shown) - place)
        goal = _top(end) + TALL - inlets * place
        yield from _lane(layer, _top(place) + TALL / 2, lane, goal)


def _lane(layer: Layer, begin: float, lane: float, goal: float) -> Iterator[Mark]:
    look, colour = _line(layer)
    right, bend = LEFT + WIDE, 9.0
    corner = [(lane - bend, begin), (lane - bend * 0.3, begin + bend * 0.3), (lane, begin + bend)]
    turn = [(lane, goal - bend), (lane - bend * 0.3, goal - bend * 0.3), (lane - bend, goal)]
    kept = "goes to the layer aggregator" if layer.skip != "zero" else "is left out (zero)"
    points = [(right + 1, begin), *corner, *turn, (right + 4, goal)]
    yield Path(points, look=look, colour=colour, tip=f"{layer.place}: its output {kept}")
    yield arrow((right + 1, goal), math.pi, colour=colour)


def _line(layer: Layer) -> tuple[str, str]:
    return ("dashed", "faint") if layer.skip == "zero" else ("line", "s2")


def _key(y: float) -> Iterator[Mark]:
    for x, (look, colour, text) in (
        (LEFT, ("line", "s2", "skip: the state goes on")),
        (LEFT + WIDE - 22, ("dashed", "faint", "zero: it is left out")),
    ):
        yield Path([(x, y), (x + 24, y)], look=look, colour=colour)
        yield Words(x + 31, y + 4, text, look="tick")
