"""The contract of a task: what searching, tuning and training ask of it.

A `Task` knows its test part; what a search or a tuning is handed is `task.without_test()`, an object of
another class on which the test part is not an attribute at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from sanegnn.nets import Inputs


@dataclass(frozen=True)
class Batch:
    """What one forward pass reads, and what its outputs should be."""

    inputs: Inputs
    target: Tensor


class Ready(Protocol):
    """A task as tensors on a device, under one scaling of the features."""

    num_features: int
    num_outputs: int

    def batches(self, part: str) -> Sequence[Batch]:
        """The batches of "train", "val" or, on a task with its test part, "test"."""

    def loss(self, output: Tensor, batch: Batch) -> Tensor:
        """The loss of a batch, to descend."""

    def score(self, outputs: Sequence[Tensor], part: str) -> float:
        """The metric over all batches of a part; larger is better."""


class SearchTask(Protocol):
    """A task whose test part is sealed."""

    @property
    def name(self) -> str:
        """The name of the data."""

    @property
    def metric(self) -> str:
        """The name of the score."""

    @property
    def split(self) -> str:
        """The name of the split."""

    def ready(self, features: str, device: str) -> Ready:
        """The tensors, made once and kept."""


class Task(SearchTask, Protocol):
    """A task with its test part."""

    def without_test(self) -> SearchTask:
        """The same task with the test labels left out."""
