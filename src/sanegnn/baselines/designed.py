"""A human design as a contender: the published setting comes first, then it is tuned like everyone's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from sanegnn.baselines.contender import Lane
from sanegnn.baselines.human import Design, designs
from sanegnn.baselines.tuned import Tuned
from sanegnn.records import Lap
from sanegnn.settings import Knobs, knob


@dataclass(frozen=True)
class Named(Knobs):
    """Which design."""

    design: Annotated[str, knob("a human design by name")] = "gcn"


class Designed(Tuned[Named]):
    """A network that people designed, with all its variants."""

    knobs = Named
    kind = "human"

    def design(self, lane: Lane, laps: Sequence[Lap]) -> Design:
        """The variants, and the setting published for this dataset or for Cora."""
        return designs[self.settings.design](lane.bench.task.name)
