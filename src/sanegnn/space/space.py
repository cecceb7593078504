"""SearchSpace: named slots, each with the operations that may stand there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from sanegnn.errors import BadArchitecture, UnknownName
from sanegnn.space.architecture import Architecture


@dataclass(frozen=True)
class Slot:
    """One choice: an edge of the supernet (Eq. 2), with its row of alpha."""

    kind: str
    layer: int
    choices: tuple[str, ...]

    @property
    def key(self) -> str:
        """`node.0`, `skip.2`, `layer.0`: the name of the slot in alphas and records."""
        return f"{self.kind}.{self.layer}"


@dataclass(frozen=True)
class SearchSpace:
    """All architectures of K layers over the given operations; knows no strategy.

    Without `skip_ops` and `layer_ops` it is a space of plain stacks.
    """

    name: str
    depth: int
    node_ops: tuple[str, ...]
    skip_ops: tuple[str, ...] = ()
    layer_ops: tuple[str, ...] = ()

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Every choice: node aggregators by layer, then skips by layer, then the layer aggregator."""
        layers = range(self.depth)
        nodes = [Slot("node", layer, self.node_ops) for layer in layers]
        skips = [Slot("skip", layer, self.skip_ops) for layer in layers if self.skip_ops]
        readout = [Slot("layer", 0, self.layer_ops)] if self.layer_ops else []
        return (*nodes, *skips, *readout)

    @property
    def size(self) -> int:
        """How many architectures there are."""
        return math.prod(len(slot.choices) for slot in self.slots)

    def decode(self, choice: Mapping[str, int]) -> Architecture:
        """The architecture that takes operation `choice[slot.key]` in every slot."""
        taken = {kind: tuple(self._taken(kind, choice)) for kind in ("node", "skip", "layer")}
        return Architecture(taken["node"], taken["skip"], *taken["layer"])

    def _taken(self, kind: str, choice: Mapping[str, int]) -> Iterator[str]:
        return (slot.choices[choice[slot.key]] for slot in self.slots if slot.kind == kind)

    def encode(self, architecture: Architecture) -> dict[str, int]:
        """The index of the operation in every slot; the inverse of `decode`."""
        names = (*architecture.nodes, *architecture.skips, *filter(None, [architecture.layer]))
        if architecture.depth != self.depth or len(names) != len(self.slots):
            raise BadArchitecture(f"{architecture} does not fit space {self.name!r}: {self.shape}")
        return {slot.key: _index(slot, name) for slot, name in zip(self.slots, names, strict=True)}

    @property
    def shape(self) -> str:
        """What a member looks like, in words."""
        tail = f", {self.depth} skips and a layer aggregator" if self.layer_ops else " alone"
        return f"it takes {self.depth} node aggregators{tail}"

    def __contains__(self, architecture: object) -> bool:
        if not isinstance(architecture, Architecture):
            return False
        try:
            self.encode(architecture)
        except (BadArchitecture, UnknownName):
            return False
        return True

    def sample(self, rng: np.random.Generator) -> Architecture:
        """One architecture, every one as likely as another."""
        return self.decode({slot.key: int(rng.integers(len(slot.choices))) for slot in self.slots})

    def __iter__(self) -> Iterator[Architecture]:
        keys = [slot.key for slot in self.slots]
        for picks in product(*(range(len(slot.choices)) for slot in self.slots)):
            yield self.decode(dict(zip(keys, picks, strict=True)))


def _index(slot: Slot, name: str) -> int:
    if name not in slot.choices:
        raise UnknownName.of(f"{slot.kind} operation of this space", name, slot.choices)
    return slot.choices.index(name)
