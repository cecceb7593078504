"""What a command hands back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, stdev
from typing import Any


@dataclass(frozen=True)
class Result:
    """The answer of a run: an architecture, its setting and its scores.

    `validations` and `tests` hold a score for every fresh training; `tests` is empty for a command that
    leaves the test set sealed. `together` is the test score of the model that is saved, which
    averages the probabilities of all trainings.
    """

    run: str
    dataset: str
    split: str
    metric: str
    architecture: str
    setting: Mapping[str, Any]
    validations: Sequence[float]
    tests: Sequence[float] = ()
    together: float | None = None
    seconds: float = 0.0
    words: str = ""
    others: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def validation(self) -> float:
        """The mean validation score."""
        return fmean(self.validations)

    @property
    def test(self) -> float | None:
        """The mean test score, or None while the test set is sealed."""
        return fmean(self.tests) if self.tests else None

    @property
    def test_deviation(self) -> float | None:
        """The standard deviation of the test score over trainings."""
        return stdev(self.tests) if len(self.tests) > 1 else None

    def table(self) -> dict[str, Any]:
        """The result as JSON keeps it, means beside the single scores."""
        means = {"validation": self.validation, "test": self.test, "test_deviation": self.test_deviation}
        return {**asdict(self), **means}

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Result:
        """The result that `table` was made from."""
        return cls(**{name: table[name] for name in cls.__dataclass_fields__})
