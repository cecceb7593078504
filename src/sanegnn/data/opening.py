"""Whatever a command is given, as data: a name, a file, a folder, tables, an object."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from sanegnn.data import tables
from sanegnn.data.base import Data, GraphData
from sanegnn.data.benchmarks import datasets, load
from sanegnn.data.folders import is_folder, read_folder
from sanegnn.data.graphset import GraphSet
from sanegnn.data.knowledge import KnowledgePair
from sanegnn.data.knowledge_files import is_pair, read_pair
from sanegnn.data.labelled import is_labelled, read_labelled
from sanegnn.data.npz import read_npz
from sanegnn.data.ppi import is_ppi, read_ppi
from sanegnn.data.tu import is_tu, read_tu
from sanegnn.data.union import have_one_label
from sanegnn.data.wholegraphs import WholeGraphs
from sanegnn.errors import BadGraph
from sanegnn.settings import DataChoice, Machine, Tables

READY: tuple[type, ...] = (GraphData, GraphSet, WholeGraphs, KnowledgePair)
"""The classes of objects that are data already."""

FOLDERS: tuple[tuple[Callable[[Path], bool], Callable[[Path, DataChoice], Data]], ...] = (
    (is_pair, lambda folder, _: read_pair(folder)),
    (is_ppi, read_ppi),
    (is_tu, read_tu),
    (is_labelled, read_labelled),
    (is_folder, read_folder),
)
"""How a folder is recognised, and how it is read."""


def opened(given: Any, choice: DataChoice, machine: Machine) -> Data:
    """The data of a name, of the user's files or of an object."""
    found = _found(given, choice, machine)
    return found.undirected() if choice.undirected else found


def _found(given: Any, choice: DataChoice, machine: Machine) -> Data:
    if isinstance(given, READY):
        return cast("Data", given)
    if isinstance(given, Tables):
        return (
            read_folder(Path(given.graphs), choice, given.columns)
            if given.graphs
            else tables.of(given, choice.split)
        )
    if isinstance(given, str):
        return _named(given, choice, machine)
    if isinstance(given, list | tuple) and not isinstance(given[0], np.ndarray):
        return WholeGraphs.of(given) if have_one_label(given) else GraphSet.of(given)
    return GraphData.of(given)


def _named(text: str, choice: DataChoice, machine: Machine) -> Data:
    """What a word stands for: a file, a folder, or a dataset by name."""
    path = Path(text)
    if text.endswith(".npz"):
        return read_npz(path)
    if path.is_dir() and text not in datasets:
        for recognised, read in FOLDERS:
            if recognised(path):
                return read(path, choice)
        raise BadGraph(
            f"{path} is a folder, but holds no graphs: it needs one for each, with nodes.csv and edges.csv"
        )
    return load(text, machine.data_root)
