"""Weight sharing between the candidates of a search: short trainings that go on from what others learned.

Each candidate to learn from leaves its weights in a file; the next take over the parts of a net that are
of the same make: the stem, a layer, the layer aggregator, the pooling, the head. Norms are never handed
over. Which candidate hands over what follows from the past, so that the files beside the journal are all
that a search needs to go on; they go when a restart is done.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Self, TypeVar

from sanegnn.journal import disk
from sanegnn.nets import widths
from sanegnn.records import Candidate
from sanegnn.seeds import derive
from sanegnn.settings import Setting, Training, Within, knob
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.base import Quest
from sanegnn.strategies.candidates import Attempts, Past
from sanegnn.strategies.controlled import Controlled, Reinforced
from sanegnn.training.jobs import Job


@dataclass(frozen=True)
class Shared(Reinforced):
    """The knobs of a controller whose candidates share weights."""

    share_epochs: Annotated[
        int, knob("epochs that a candidate trains the weights it took over"), Within(1)
    ] = 20


S = TypeVar("S", bound=Shared)
Make = tuple[object, ...]
"""What must agree for a part's weights to be handed over, beside the shape of each weight."""


@dataclass
class Store:
    """Who trained what last; layers may hand over weights though they differ in the kinds `free`."""

    space: SearchSpace
    hidden: int
    free: frozenset[str]
    last: dict[tuple[str, Make], int] = field(default_factory=dict)

    def parts(self, architecture: Architecture) -> dict[str, Make]:
        """The parts of a net, by the beginning of their weights' names, and what each is like."""
        wide = widths(architecture, self.hidden)
        made: dict[str, Make] = {"stem": ()}
        for layer, name in enumerate(architecture.nodes):
            picks = self.space.nodes.split(name).items()
            same = (pick for kind, pick in picks if kind not in self.free)
            made[f"layers.{layer}."] = (wide[layer], wide[layer + 1], *same)
        made["readout."] = (architecture.layer, wide[-1])
        if architecture.pool is not None:
            made["pool."] = (architecture.pool, wide[-1])
        made["head"] = (wide[-1],)
        return made

    def keep(self, number: int, architecture: Architecture, score: float) -> None:
        """A candidate left its weights, unless its training went astray."""
        if math.isfinite(score):
            self.last |= dict.fromkeys(self.parts(architecture).items(), number)

    def latest(self, architecture: Architecture) -> dict[str, int]:
        """Part to the candidate that trained such a one last."""
        made = self.parts(architecture)
        return {part: self.last[part, make] for part, make in made.items() if (part, make) in self.last}

    def common(self, architecture: Architecture, ancestor: Architecture, number: int) -> dict[str, int]:
        """The parts that are made as those of an ancestor."""
        before = self.parts(ancestor)
        return {part: number for part, make in self.parts(architecture).items() if before[part] == make}


class Sharing(Controlled[S]):
    """A search whose candidates share weights until the final ones."""

    @abstractmethod
    def heirlooms(self, past: Past, architecture: Architecture) -> dict[str, int]:
        """Part of the net to the number of the candidate whose weights it takes over."""

    def trained_as(self, candidate: Candidate) -> tuple[Setting, Training] | None:
        """The final candidates alone were trained from their own seeds."""
        return None if candidate.limit == self.settings.share_epochs else super().trained_as(candidate)

    def attempts(self, quest: Quest, place: int) -> Attempts:
        """Attempts with files of weights."""
        return Heirs.of(self, quest, place)


class Heirs(Attempts):
    """Candidates that begin with the weights of others."""

    searcher: Sharing[Shared]

    def __enter__(self) -> Self:
        folder = self.quest.folder
        self.weights = folder / f"restart-{self.place}" if folder else Path(tempfile.mkdtemp("-sanegnn"))
        with disk(self.weights):
            self.weights.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *ended: object) -> None:
        super().__exit__(*ended)
        if self.quest.folder is None or ended[0] is None:
            shutil.rmtree(self.weights, ignore_errors=True)

    def _job(self, number: int, architecture: Architecture) -> Job:
        job, past, settings = super()._job(number, architecture), self.past, self.searcher.settings
        if number >= self.searcher.first_final(past):
            return job
        heirlooms = self.searcher.heirlooms(past, architecture).items()
        return replace(
            job,
            training=Training(settings.share_epochs, min(settings.share_epochs, settings.patience)),
            seed=derive(self.seed, "child", number),
            file=self._file(number),
            start={part: self._file(ancestor) for part, ancestor in heirlooms},
        )

    def _file(self, number: int) -> Path:
        return self.weights / f"{number}.safetensors"
