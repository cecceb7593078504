"""Randomness as an argument with a path.

`derive(seed, "cora", "search", 3)` is the same integer on every machine and in every process, and
another path gives an unrelated one: adding a run never shifts the stream of another.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

Step = str | int


def derive(seed: int, *path: Step) -> int:
    """A 63-bit seed for the place `path` under `seed`."""
    text = "\x1f".join([str(seed), *(f"{type(step).__name__}:{step}" for step in path)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def generator(seed: int, *path: Step) -> np.random.Generator:
    """NumPy's generator for that place."""
    return np.random.default_rng(derive(seed, *path))


@dataclass(frozen=True)
class Noise:
    """The randomness of one forward pass: counter-based, so that a key stands for a whole mask.

    A net hands `noise.at("layer", 1)` to its parts. `None` in place of a Noise means no noise at
    all: prediction.
    """

    key: int

    def at(self, *path: Step) -> Noise:
        """The noise of a place inside this one."""
        return Noise(derive(self.key, *path))
