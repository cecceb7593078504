"""Whatever a command is given, as data: a name, a file, a folder, tables, an object."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from sanegnn.data import tables
from sanegnn.data.base import Data, GraphData
from sanegnn.data.benchmarks import load
from sanegnn.data.npz import read_npz
from sanegnn.settings import DataChoice, Machine, Tables

READY: tuple[type, ...] = (GraphData,)
"""The classes of objects that are data already."""


def opened(given: Any, choice: DataChoice, machine: Machine) -> Data:
    """The data of a name, of the user's files or of an object."""
    found = _found(given, choice, machine)
    return found.undirected() if choice.undirected else found


def _found(given: Any, choice: DataChoice, machine: Machine) -> Data:
    if isinstance(given, READY):
        return cast("Data", given)
    if isinstance(given, Tables):
        return tables.of(given, choice.split)
    if isinstance(given, str):
        return read_npz(Path(given)) if given.endswith(".npz") else load(given, machine.data_root)
    return GraphData.of(given)
