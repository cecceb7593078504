"""What searches by halving have in common: rungs of trainings, each longer than the one that it is fed by."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TypeVar

from sanegnn.space import SearchSpace
from sanegnn.strategies.candidates import Searcher, TrialAndError

T = TypeVar("T", bound=TrialAndError)


@dataclass(frozen=True)
class Rung:
    """The trainings `begin` … `end` of a search, of `limit` epochs at the most; `fed` by the rung before."""

    begin: int
    end: int
    limit: int
    fed: Rung | None = None


class Halving(Searcher[T]):
    """A search by trial and error whose trainings follow a plan."""

    @abstractmethod
    def rungs(self, space: SearchSpace) -> tuple[Rung, ...]:
        """The plan of a restart."""

    def rung(self, number: int, space: SearchSpace) -> Rung:
        """The rung that a training belongs to."""
        return next(rung for rung in self.rungs(space) if number < rung.end)

    def steps(self, space: SearchSpace) -> int:
        """The trainings of all rungs."""
        return self.rungs(space)[-1].end

    def limit(self, number: int, space: SearchSpace) -> int:
        """The epochs of the rung."""
        return self.rung(number, space).limit
