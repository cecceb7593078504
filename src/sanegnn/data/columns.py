"""What a column is and how it becomes features: a frozen value for each, fitted on one table.

A column encodes another table exactly as the one it was fitted on. What that table did not have (a new
category, a word never met) becomes zeros; a missing value becomes what says least (the mean, no category)
and, where the fitted table had missing values too, a feature of its own says that it is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sanegnn.data.cells import TIMES, Cells, Floats
from sanegnn.registry import Registry

Block = npt.NDArray[np.float32] | sp.csr_array
"""Some features of every node (N, width)."""

kinds: Registry[type[Column]] = Registry("kind of column")
DAY, YEAR = 86400.0, 365.2425 * 86400.0
BUCKETS = 2048


@dataclass(frozen=True)
class Column:
    """A column that features are made of."""

    name: str
    missing: int
    kind: ClassVar[str]

    @classmethod
    def fit(cls, name: str, cells: Cells) -> Self:
        """The constants of this column."""
        return cls(name, int(cells.missing.sum()), **cls._constants(cells))

    @classmethod
    def _constants(cls, cells: Cells) -> dict[str, Any]:
        """What the fields beside name and gaps hold."""
        raise NotImplementedError

    def encode(self, cells: Cells) -> list[Block]:
        """The features of these cells, an extra one for missing values last."""
        blocks = [self._block(cells)]
        return [*blocks, cells.missing[:, None].astype(np.float32)] if self.missing else blocks

    def _block(self, cells: Cells) -> Block:
        raise NotImplementedError

    def unmet(self, cells: Cells) -> int:
        """How many cells hold what the fitted table did not have."""
        return 0

    @property
    def names(self) -> tuple[str, ...]:
        """A name for every feature."""
        return (*self._names, f"{self.name} missing") if self.missing else self._names

    @property
    def _names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def words(self) -> str:
        """What people want to know of it."""
        return ""

    def table(self) -> dict[str, Any]:
        """The column as JSON keeps it."""
        return {"kind": self.kind, **asdict(self)}


def column_of(table: Mapping[str, Any]) -> Column:
    """The column that `table` was made from."""
    cls = kinds[table["kind"]]
    values: dict[str, Any] = {field.name: table[field.name] for field in fields(cls)}
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    }
    return cls(**plain)


def _moments(values: Floats) -> tuple[float, float]:
    """Mean and deviation, 1 where all are equal."""
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    return float(values.mean()), float(values.std()) or 1.0


def _standard(values: Floats, mean: float, deviation: float) -> Floats:
    return np.nan_to_num((values - mean) / deviation)


@kinds.add("number")
@dataclass(frozen=True)
class Number(Column):
    """(v - mean) / deviation. Where most values are zero the mean stays 0, so that zeros stay zeros."""

    mean: float
    deviation: float
    kind = "number"

    @classmethod
    def _constants(cls, cells: Cells) -> dict[str, Any]:
        values = cells.numbers()
        mean, deviation = _moments(values)
        rare = np.count_nonzero(values == 0) > 0.5 * len(values)
        return {"mean": 0.0 if rare else mean, "deviation": deviation}

    def _block(self, cells: Cells) -> Block:
        return _standard(cells.numbers(), self.mean, self.deviation)[:, None].astype(np.float32)

    @property
    def words(self) -> str:
        return f"mean {self.mean:.4g}, deviation {self.deviation:.4g}"


@kinds.add("boolean")
@dataclass(frozen=True)
class Boolean(Column):
    """1 for true, 0 for false and missing."""

    share: float
    kind = "boolean"

    @classmethod
    def _constants(cls, cells: Cells) -> dict[str, Any]:
        values = cells.truths()
        return {"share": float(np.nan_to_num(values).mean())}

    def _block(self, cells: Cells) -> Block:
        return np.nan_to_num(cells.truths())[:, None].astype(np.float32)

    @property
    def words(self) -> str:
        return f"{self.share:.1%} true"


@kinds.add("category")
@dataclass(frozen=True)
class Category(Column):
    """One feature for every category; none of them for a new category or a missing value."""

    categories: tuple[str, ...]
    kind = "category"

    @classmethod
    def _constants(cls, cells: Cells) -> dict[str, Any]:
        return {"categories": tuple(sorted({text for text in cells.texts if text is not None}))}

    def _places(self, cells: Cells) -> npt.NDArray[np.int64]:
        place = {name: index for index, name in enumerate(self.categories)}
        return np.array([place.get(text or "", -1) for text in cells.texts], dtype=np.int64)

    def _block(self, cells: Cells) -> Block:
        places = self._places(cells)
        rows = np.flatnonzero(places >= 0)
        shape = (len(places), len(self.categories))
        block: Any = sp.coo_array((np.ones(len(rows), dtype=np.float32), (rows, places[rows])), shape=shape)
        block = block.tocsr()
        return cast("sp.csr_array", block)

    def unmet(self, cells: Cells) -> int:
        return int(np.count_nonzero((self._places(cells) < 0) & ~cells.missing))

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"{self.name} = {category}" for category in self.categories)

    @property
    def words(self) -> str:
        shown = ", ".join(self.categories[:4])
        return f"{len(self.categories)} categories: {shown}{', …' if len(self.categories) > 4 else ''}"


@kinds.add("date")
@dataclass(frozen=True)
class Date(Column):
    """The time, standardised, and its place in the year and in the week as sine and cosine."""

    form: str
    mean: float
    deviation: float
    kind = "date"

    @classmethod
    def _constants(cls, cells: Cells) -> dict[str, Any]:
        form = cells.form() or TIMES[0]
        mean, deviation = _moments(cells.times(form))
        return {"form": form, "mean": mean, "deviation": deviation}

    def _block(self, cells: Cells) -> Block:
        time = cells.times(self.form)
        angles = [2 * np.pi * time / span for span in (YEAR, 7 * DAY)]
        waves = [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
        block = np.stack([_standard(time, self.mean, self.deviation), *waves], axis=1)
        return cast("Block", np.nan_to_num(block).astype(np.float32))

    @property
    def _names(self) -> tuple[str, ...]:
        waves = [f"{span} {wave}" for span in ("year", "week") for wave in ("sine", "cosine")]
        return tuple(f"{self.name} {part}" for part in ("time", *waves))

    @property
    def words(self) -> str:
        return f"written as {self.form}"


@kinds.add("text")
@dataclass(frozen=True)
class Text(Column):
    """Hashed TF-IDF: words fall into buckets, (1 + log tf) · (log((1 + n) / (1 + df)) + 1), L2 norm.

    Buckets that fewer than two texts of the fitted table reach are left out. Hash: MurmurHash3, as in
    scikit-learn's HashingVectorizer.
    """

    texts: int
    buckets: tuple[int, ...]
    found: tuple[int, ...]
    kind = "text"

    @classmethod
    def _constants(cls, cells: Cells) -> dict[str, Any]:
        counts = _word_counts(cells)
        found = np.bincount(counts.indices, minlength=BUCKETS)
        used = np.flatnonzero(found >= 2)
        return {
            "texts": len(cells.present),
            "buckets": tuple(used.tolist()),
            "found": tuple(found[used].tolist()),
        }

    def _block(self, cells: Cells) -> Block:
        counts: Any = sp.csr_array(_word_counts(cells)[:, list(self.buckets)])
        idf = np.log((1 + self.texts) / (1 + np.array(self.found, dtype=float))) + 1
        counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
        length = np.sqrt(counts.multiply(counts).sum(axis=1))
        counts.data /= np.repeat(np.maximum(length, 1e-12), np.diff(counts.indptr))
        return cast("sp.csr_array", counts.astype(np.float32))

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"{self.name} #{bucket}" for bucket in self.buckets)

    @property
    def words(self) -> str:
        return f"words in {len(self.buckets):,} buckets"


def _word_counts(cells: Cells) -> Any:
    """How often every bucket is hit by the words of a text (N, BUCKETS)."""
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(
        n_features=BUCKETS, token_pattern=r"(?u)\w\w+", alternate_sign=False, norm=None
    )
    counts: Any = sp.csr_array(vectorizer.transform([text or "" for text in cells.texts]))
    counts.sum_duplicates()
    return counts


@kinds.add("vector")
@dataclass(frozen=True)
class Vector(Column):
    """A ready-made vector: every coordinate less its mean, all divided by one deviation."""

    mean: tuple[float, ...]
    deviation: float
    kind = "vector"

    @classmethod
    def _constants(cls, cells: Cells) -> dict[str, Any]:
        rows = cells.vectors()[~cells.missing]
        mean = rows.mean(0) if len(rows) else np.zeros(rows.shape[1])
        return {"mean": tuple(mean.tolist()), "deviation": float((rows - mean).std()) or 1.0}

    def _block(self, cells: Cells) -> Block:
        rows = cells.vectors(len(self.mean))
        block: Block = np.nan_to_num((rows - np.array(self.mean)) / self.deviation).astype(np.float32)
        return block

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}[{place}]" for place in range(len(self.mean)))

    @property
    def words(self) -> str:
        return f"{len(self.mean)} numbers each"
