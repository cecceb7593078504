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
        """`node.0`, `width.1`, `skip.2`, `layer.0`, `pool.0`: the name of the slot in alphas and records."""
        return f"{self.kind}.{self.layer}"


@dataclass(frozen=True)
class SearchSpace:
    """All architectures of K layers over the given operations; knows no strategy.

    Node operations have plain names, a slot for each layer, or are a family, a slot for each component in
    each layer. Without `skip_ops` and `layer_ops` it is a space of plain stacks; with `pool_ops` it is one
    for whole graphs.
    """

    name: str
    depth: int
    node_ops: tuple[str, ...] | Family
    skip_ops: tuple[str, ...] = ()
    layer_ops: tuple[str, ...] = ()
    pool_ops: tuple[str, ...] = ()

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
        ends = (("layer", self.layer_ops), ("pool", self.pool_ops))
        return (*nodes, *skips, *((Family.plain(kind, ops), 0) for kind, ops in ends if ops))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Every choice: node aggregators by layer, skips by layer, the layer aggregator, the pooling."""
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
        names = iter([family.join(islice(taken, len(family.components))) for family, _ in self.places])
        nodes = tuple(islice(names, self.depth))
        skips = tuple(islice(names, self.depth if self.skip_ops else 0))
        layer, pool = (next(names) if ops else None for ops in (self.layer_ops, self.pool_ops))
        return Architecture(nodes, skips, layer, pool)

    def encode(self, architecture: Architecture) -> dict[str, int]:
        """The index of the operation in every slot; the inverse of `decode`."""
        ends = filter(None, [architecture.layer, architecture.pool])
        names = (*architecture.nodes, *architecture.skips, *ends)
        if architecture.depth != self.depth or len(names) != len(self.places):
            raise BadArchitecture(f"{architecture} does not fit space {self.name!r}: {self.shape}")
        picks = [family.split(name) for (family, _), name in zip(self.places, names, strict=True)]
        taken = [pick for picked in picks for pick in picked.values()]
        return {slot.key: slot.choices.index(pick) for slot, pick in zip(self.slots, taken, strict=True)}

    @property
    def shape(self) -> str:
        """What a member looks like, in words."""
        parts = [f"{self.depth} node aggregators"]
        parts += [f"{self.depth} skips", "a layer aggregator"] if self.layer_ops else []
        parts += ["a pooling"] if self.pool_ops else []
        *first, last = parts
        return f"it takes {', '.join(first)} and {last}" if first else f"it takes {last} alone"

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
