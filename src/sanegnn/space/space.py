"""SearchSpace: named slots, each with the operations that may stand there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product

import numpy as np

from sanegnn.errors import BadArchitecture, UnknownName
from sanegnn.space.architecture import Architecture
from sanegnn.space.family import Family


@dataclass(frozen=True)
class Slot:
    """One choice: an edge of the supernet (Eq. 2), with its row of alpha."""

    kind: str
    layer: int
    choices: tuple[str, ...]

    @property
    def key(self) -> str:
        """`node.0`, `width.1`, `skip.2`, `layer.0`: the name of the slot in alphas and records."""
        return f"{self.kind}.{self.layer}"


@dataclass(frozen=True)
class SearchSpace:
    """All architectures of K layers over the given operations; knows no strategy.

    Node operations have plain names, a slot for each layer, or are a family, a slot for each component in
    each layer. Without `skip_ops` and `layer_ops` it is a space of plain stacks.
    """

    name: str
    depth: int
    node_ops: tuple[str, ...] | Family
    skip_ops: tuple[str, ...] = ()
    layer_ops: tuple[str, ...] = ()

    @property
    def nodes(self) -> Family:
        """What may stand in place of a layer's node aggregator."""
        return self.node_ops if isinstance(self.node_ops, Family) else Family.plain("node", self.node_ops)

    @property
    def places(self) -> tuple[tuple[Family, int], ...]:
        """What an architecture names, in the order of its text, each with its layer."""
        layers = range(self.depth)
        nodes = [(self.nodes, layer) for layer in layers]
        skips = [(Family.plain("skip", self.skip_ops), layer) for layer in layers if self.skip_ops]
        readout = [(Family.plain("layer", self.layer_ops), 0)] if self.layer_ops else []
        return (*nodes, *skips, *readout)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Every choice: node aggregators by layer, then skips by layer, then the layer aggregator."""
        return tuple(
            Slot(kind, layer, choices) for family, layer in self.places for kind, choices in family.components
        )

    @property
    def size(self) -> int:
        """How many architectures there are."""
        return math.prod(len(slot.choices) for slot in self.slots)

    def decode(self, choice: Mapping[str, int]) -> Architecture:
        """The architecture that takes operation `choice[slot.key]` in every slot."""
        taken = iter([slot.choices[choice[slot.key]] for slot in self.slots])
        names = [family.join(islice(taken, len(family.components))) for family, _ in self.places]
        nodes, others = tuple(names[: self.depth]), names[self.depth :]
        return Architecture(nodes, tuple(others[:-1]), others[-1]) if others else Architecture(nodes)

    def encode(self, architecture: Architecture) -> dict[str, int]:
        """The index of the operation in every slot; the inverse of `decode`."""
        names = (*architecture.nodes, *architecture.skips, *filter(None, [architecture.layer]))
        if architecture.depth != self.depth or len(names) != len(self.places):
            raise BadArchitecture(f"{architecture} does not fit space {self.name!r}: {self.shape}")
        picks = [family.split(name) for (family, _), name in zip(self.places, names, strict=True)]
        taken = [pick for picked in picks for pick in picked.values()]
        return {slot.key: slot.choices.index(pick) for slot, pick in zip(self.slots, taken, strict=True)}

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
