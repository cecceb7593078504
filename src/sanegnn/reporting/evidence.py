"""What the chosen model says of every judged node, and what is known of the graph: a file by the records.

    runs/<name>/evidence.npz

It is written once, after the test was opened, and read without torch. `about` is JSON inside the file; no
array holds Python objects.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sanegnn.errors import RunFolder
from sanegnn.journal import disk, write_atomic

FILE, VERSION = "evidence.npz", 1
PARTS = ("train", "val", "test")
Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Evidence:
    """One entry for each of the R nodes of training, validation and test; M of them are on the map.

    Args:
        about: dataset, split, metric, classes, temperature, the doctor's findings, sizes, ids on the map.
        node: the number of the node.
        part: its part of the split, a place in `PARTS`.
        target: its class.
        predicted: the class that the model gives it.
        raw: the probability of that class: the mean over the nets.
        confidence: the same after temperature scaling.
        degree: the edges that end in it.
        homophily: the share of its labelled neighbours that are of its class; NaN without such.
        mapped: the places (M,) of the nodes on the map.
        position: where they are on it (M, 2).
    """

    about: Mapping[str, Any]
    node: Array
    part: Array
    target: Array
    predicted: Array
    raw: Array
    confidence: Array
    degree: Array
    homophily: Array
    mapped: Array
    position: Array

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return [str(name) for name in self.about["classes"]]

    def of(self, part: str) -> npt.NDArray[np.bool_]:
        """Which entries are of that part (R,)."""
        return np.asarray(self.part == PARTS.index(part))

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """Whether the prediction is right (R,)."""
        return np.asarray(self.target == self.predicted)

    def save(self, folder: Path) -> None:
        """Write it into a run folder, as a whole or not at all."""
        text = json.dumps({**self.about, "version": VERSION}, ensure_ascii=False, allow_nan=False)
        arrays = {name: getattr(self, name) for name in _arrays()}
        file = io.BytesIO()
        np.savez_compressed(file, about=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)
        write_atomic(folder / FILE, file.getvalue())


def _arrays() -> list[str]:
    return [field.name for field in fields(Evidence) if field.name != "about"]


def load(folder: Path) -> Evidence | None:
    """The evidence of a run; None where the test was never opened, or the version is another."""
    path = folder / FILE
    if not path.exists():
        return None
    with disk(path, "read"):
        data = path.read_bytes()
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as kept:
            about = json.loads(bytes(kept["about"]).decode())
            if about["version"] != VERSION:
                return None
            return Evidence(about, *(kept[name] for name in _arrays()))
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise RunFolder(
            f"{path} is damaged ({error}): remove it, and the report goes without figures of single nodes"
        ) from error
