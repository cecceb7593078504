"""From labels as they come (numbers, words, booleans) to places in a tuple of class names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sanegnn.errors import BadGraph

Ids = npt.NDArray[np.int64]


def count(number: int, thing: str) -> str:
    """A number of things in words: "1 node", "2,000 nodes"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def clean_labels(
    y: Any, classes: tuple[str, ...], nodes: int, notes: list[str], thing: str = "node"
) -> tuple[Ids, tuple[str, ...]]:
    """Labels (N,) of nodes, or another thing, as int64 with -1 where there is none; the name of each class.

    Whole numbers in any type count as classes, words and booleans too; classes that no node has are
    left out with a note, unless `classes` names them.
    """
    if y is None:
        notes.append(f"no {thing} has a label")
        return np.full(nodes, -1), classes
    y = _flat(np.asarray(y), nodes)
    if y.dtype.kind in "USOb":
        y, classes = _of_words(y, classes)
    else:
        y, classes = _of_numbers(_integers(y), classes, notes)
    if missing := int((y < 0).sum()):
        notes.append(f"{count(missing, thing)} without a label")
    return y, classes


def _flat(y: npt.NDArray[Any], nodes: int) -> npt.NDArray[Any]:
    """Labels as (N,); one column is flattened, several are refused."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim == 2:
        raise BadGraph(
            f"y has shape {y.shape}: one class per node is needed; for one-hot labels give y.argmax(axis=1), "
            "of several labels per node give one column at a time"
        )
    if y.shape != (nodes,):
        raise BadGraph(f"y has shape {y.shape}, but there are {nodes:,} nodes; give one label per node")
    return y


def _integers(y: npt.NDArray[Any]) -> Ids:
    """Whole numbers from -1 up, whatever their type."""
    if y.dtype.kind not in "iuf":
        raise BadGraph(f"y has type {y.dtype}; labels must be whole numbers or words")
    if y.dtype.kind == "f":
        _refuse(y, np.isnan(y), "is NaN; mark a node without a label with -1")
        _refuse(y, ~np.isfinite(y) | (y != np.trunc(y)), "is no class; classes are whole numbers or words")
    _refuse(y, y < -1, "is negative; classes start at 0, and -1 marks a node without a label")
    if y.dtype.kind == "u" and y.max() > np.iinfo(np.int64).max:
        raise BadGraph(f"y holds {y.max()}, beyond what an integer of 64 bits holds")
    return y.astype(np.int64)


def _refuse(y: npt.NDArray[Any], wrong: npt.NDArray[np.bool_], why: str) -> None:
    places = np.flatnonzero(wrong)
    if len(places):
        more = f" ({len(places):,} labels are so)" if len(places) > 1 else ""
        raise BadGraph(f"y[{places[0]}] = {y[places[0]]} {why}{more}")


def _of_numbers(y: Ids, classes: tuple[str, ...], notes: list[str]) -> tuple[Ids, tuple[str, ...]]:
    """Numbers as places in the names given, or packed to 0, 1, … with their digits as names."""
    if classes:
        _refuse(y, y >= len(classes), f"has no name; there are {len(classes)} class names")
        return y, classes
    values = np.unique(y[y >= 0])
    if len(values) and values[-1] >= len(values):
        notes.append("class numbers have gaps; they are numbered anew, and named by their numbers")
    packed = np.where(y >= 0, np.searchsorted(values, y), -1)
    return packed, tuple(map(str, values.tolist()))


def _of_words(y: npt.NDArray[Any], classes: tuple[str, ...]) -> tuple[Ids, tuple[str, ...]]:
    """Words (None, NaN and "" stand for no label) as places in the sorted names, or in those given."""
    words = ["" if value is None or value != value else str(value) for value in y.tolist()]
    names = classes or tuple(sorted(set(words) - {""}))
    place = {name: index for index, name in enumerate(names)} | {"": -1}
    strange = next((word for word in words if word not in place), None)
    if strange is not None:
        raise BadGraph(f"y holds the class {strange!r}, which is not among the class names {names}")
    return np.array([place[word] for word in words], dtype=np.int64), names
