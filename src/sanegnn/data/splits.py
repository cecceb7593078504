"""Who is learned from, who is chosen by, who is judged by: index arrays over the labelled nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from sanegnn.errors import BadSplit

if TYPE_CHECKING:
    from sanegnn.data.base import GraphData

Ids = npt.NDArray[np.int64]
PARTS = ("train", "val", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """Three disjoint, non-empty arrays of node ids, and the name that stands beside every score."""

    name: str
    train: Ids
    val: Ids
    test: Ids

    def __post_init__(self) -> None:
        for part in PARTS:
            object.__setattr__(self, part, _ids(self.name, part, getattr(self, part)))
        for one, other in combinations(PARTS, 2):
            shared = np.intersect1d(getattr(self, one), getattr(self, other))
            if len(shared):
                raise BadSplit(
                    f"split {self.name!r}: {len(shared):,} nodes are in {one} and in {other}, "
                    f"node {shared[0]} for one; give each node to one part"
                )

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of training, validation and test nodes."""
        return len(self.train), len(self.val), len(self.test)

    def check(self, y: Ids) -> Split:
        """Return the split itself, if all its nodes exist and are labelled in `y` (N,)."""
        for part in PARTS:
            ids = getattr(self, part)
            if ids.max() >= len(y):
                raise BadSplit(
                    f"split {self.name!r}: {part} names node {ids.max()}, but there are {len(y):,} nodes "
                    f"(ids 0 to {len(y) - 1:,})"
                )
            bare = ids[y[ids] < 0]
            if len(bare):
                raise BadSplit(
                    f"split {self.name!r}: {len(bare):,} nodes of {part} have no label, "
                    f"node {bare[0]} for one; label them or leave them out of the split"
                )
        return self

    @classmethod
    def from_masks(cls, name: str, train: npt.ArrayLike, val: npt.ArrayLike, test: npt.ArrayLike) -> Split:
        """The split that three boolean masks (N,) stand for."""
        return cls(name, *(np.flatnonzero(np.asarray(mask)) for mask in (train, val, test)))


def _ids(split: str, part: str, given: npt.ArrayLike) -> Ids:
    """Node ids as int64 (n,): at least one, none negative, none twice."""
    ids = np.asarray(given)
    if not ids.size:
        raise BadSplit(f"split {split!r}: {part} is empty; each of train, val and test needs a node")
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise BadSplit(
            f"split {split!r}: {part} has shape {ids.shape} and type {ids.dtype}; "
            "give a flat array of node ids (np.flatnonzero turns a mask into one)"
        )
    if ids.min() < 0:
        raise BadSplit(f"split {split!r}: {part} holds the negative id {ids.min()}; ids start at 0")
    if len(np.unique(ids)) < len(ids):
        raise BadSplit(f"split {split!r}: {part} holds an id more than once")
    return ids.astype(np.int64)


def stratified(y: npt.ArrayLike, seed: int, classes: Sequence[str] = ()) -> Split:
    """60/20/20 of the labelled nodes, every class in proportion: scikit-learn's split, twice.

    First 60% of the nodes with `random_state=seed`, then half of the rest with the same state, so that
    a score can be laid beside anybody's who made these two calls.

    Args:
        y: labels (N,), -1 for a node without one.
        seed: `random_state` of both calls.
        classes: names for the error message.
    """
    from sklearn.model_selection import train_test_split

    labels = np.asarray(y)
    known = np.flatnonzero(labels >= 0)
    if not len(known):
        raise BadSplit("no node has a label, so there is nothing to split; give y with a class per node")
    try:
        train, rest = train_test_split(known, train_size=0.6, stratify=labels[known], random_state=seed)
        val, test = train_test_split(rest, test_size=0.5, stratify=labels[rest], random_state=seed)
    except ValueError as error:
        raise BadSplit(_too_small(labels[known], classes)) from error
    return Split(f"60/20/20 seed {seed}", train, val, test)


def _too_small(labels: npt.NDArray[np.generic], classes: Sequence[str]) -> str:
    """Why scikit-learn could not split; five nodes of each class are always enough for three parts."""
    values, counts = np.unique(labels, return_counts=True)
    rare = int(counts.argmin())
    label = int(values[rare])
    name = classes[label] if label < len(classes) else str(label)
    if counts[rare] >= 5:
        return f"{len(labels)} labelled nodes are too few for a 60/20/20 split over {len(values)} classes"
    return (
        f"class {name!r} has {counts[rare]} labelled nodes; a stratified 60/20/20 split needs 5 of each "
        "class: label more, merge the class with another, set its labels to -1, or bring a split of your own"
    )


def resolve(data: GraphData, text: str) -> Split:
    """The split a text names: a seed ("0"), the data's own ("public"), or one of its own ("public-3")."""
    if (own := own_split(data, text)) is not None:
        return own
    if text.isascii() and text.isdigit() and int(text) < 2**32:
        return stratified(data.y, int(text), data.classes)
    raise unknown_split(data, text, "a seed such as 0 makes a 60/20/20 split")


class Splitting(Protocol):
    """Data with splits of its own, one of which may be its public one."""

    @property
    def name(self) -> str: ...
    @property
    def splits(self) -> Mapping[str, Split]: ...
    @property
    def public(self) -> str | None: ...


def own_split(data: Splitting, text: str) -> Split | None:
    """The split of its own that a text names, if any."""
    name = data.public if text == "public" and text not in data.splits else text
    return data.splits.get(name) if name is not None else None


def unknown_split(data: Splitting, text: str, way_out: str) -> BadSplit:
    """The error for a text that names no split."""
    known = f"its own are {', '.join(data.splits)}" if data.splits else "it has no split of its own"
    return BadSplit(f"{data.name} has no split {text!r}; {known}; {way_out}")
