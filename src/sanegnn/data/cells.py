"""One column of a table, whatever it came from: its cells as text, numbers, times or vectors.

A cell that cannot be read as what its column is raises `Misfit` with its row; the reader of the table
knows the file and the line of that row.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?")
"""What stands for no value in a text cell; in a column of ids only the empty cell does."""
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?[iI]nf(inity)?$"
TRUE, FALSE = ("true", "yes", "t", "y", "1", "1.0"), ("false", "no", "f", "n", "0", "0.0")
TIMES = (
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
)

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class Misfit(Exception):
    """A cell that is not what its column is."""

    def __init__(self, row: int, words: str) -> None:
        super().__init__(words)
        self.row, self.words = row, words


class Cells:
    """The cells of a column (N,), each of them text, a number, a truth, a time, a list, or missing."""

    def __init__(self, array: Any, missing: tuple[str, ...] = MISSING) -> None:
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        self.array = _plain(array)
        if self.is_text:
            trimmed = pc.utf8_trim_whitespace(self.array)
            gone = pc.is_in(trimmed, value_set=pa.array(missing, trimmed.type))
            self.array = pc.if_else(gone, None, trimmed)

    def __len__(self) -> int:
        return len(self.array)

    @property
    def is_text(self) -> bool:
        """Whether the cells came as text, so that what they hold is found by looking."""
        return bool(pa.types.is_string(self.array.type))

    @property
    def is_list(self) -> bool:
        """Whether the cells came as lists."""
        return bool(pa.types.is_list(self.array.type))

    @property
    def is_time(self) -> bool:
        """Whether the cells came as dates or times."""
        return bool(pa.types.is_timestamp(self.array.type))

    @cached_property
    def missing(self) -> Mask:
        """Where there is no value (N,)."""
        mask: Mask = pc.is_null(self.array).to_numpy(zero_copy_only=False)
        return mask

    @cached_property
    def present(self) -> Any:
        """The cells that have a value."""
        return self.array.drop_null()

    @cached_property
    def texts(self) -> list[str | None]:
        """Every cell as text; whole numbers without a fraction, None where missing."""
        if self.is_text:
            return list(self.array.to_pylist())
        return [None if cell is None else _text(cell) for cell in self.array.to_pylist()]

    @cached_property
    def values(self) -> list[str]:
        """Every value once, as text."""
        found = self.present.to_pylist() if self.is_list else pc.unique(self.present).to_pylist()
        return list(dict.fromkeys(map(_text, found)))

    @property
    def distinct(self) -> int:
        """How many values there are."""
        return len(self.values)

    @cached_property
    def like_numbers(self) -> Mask:
        """Of the cells that have a value: which are numbers."""
        if not self.is_text:
            return np.full(len(self.present), not (self.is_time or self.is_list))
        mask: Mask = pc.match_substring_regex(self.present, NUMBER).to_numpy(zero_copy_only=False)
        return mask

    def numbers(self) -> Floats:
        """Every cell as a number, NaN where missing (N,)."""
        if self.is_time or self.is_list:
            raise Misfit(0, f"{_shown(self.array[0])} is not a number")
        array = self.array
        if self.is_text:
            self._refuse(~self.like_numbers, "is not a number")
            array = pc.replace_substring_regex(array, r"^\+", "")
        values: Floats = pc.cast(array, pa.float64()).to_numpy(zero_copy_only=False)
        self._refuse(~np.isfinite(values[~self.missing]), "is not finite")
        return values

    def truths(self) -> Floats:
        """Every cell as 1 or 0, NaN where missing (N,)."""
        if self.is_list:
            raise Misfit(0, f"{_shown(self.array[0])} is neither true nor false")
        encoded = self.array.dictionary_encode()
        words = [_text(value) for value in encoded.dictionary.to_pylist()]
        places = pc.fill_null(encoded.indices, len(words)).to_numpy(zero_copy_only=False)
        strange = [place for place, word in enumerate(words) if word.lower() not in (*TRUE, *FALSE)]
        if strange:
            row = int(np.flatnonzero(places == strange[0])[0])
            raise Misfit(row, f"{words[strange[0]]!r} is neither true nor false")
        truths = [1.0 if word.lower() in TRUE else 0.0 for word in words]
        found: Floats = np.array([*truths, np.nan])[places]
        return found

    def times(self, form: str) -> Floats:
        """Every cell in seconds since 1970, NaN where missing (N,); `form` is how texts are written."""
        array = self.array
        if self.is_text:
            array = pc.strptime(array, format=form, unit="s", error_is_null=True)
            self._refuse(_nulls(array)[~self.missing], f"is not a date written as {form}")
        elif not self.is_time:
            raise Misfit(0, f"{_shown(self.array[0])} is not a date")
        seconds = pc.cast(pc.cast(array, pa.timestamp("s"), safe=False), pa.int64())
        values: Floats = pc.cast(seconds, pa.float64()).to_numpy(zero_copy_only=False)
        return values

    def form(self) -> str | None:
        """How dates are written here, or None where they are not dates."""
        if self.is_time:
            return TIMES[0]
        if not self.is_text or not len(self.present) or not len(self.present[0].as_py()) >= len("1.1.2000"):
            return None
        for form in TIMES:
            if not _nulls(pc.strptime(self.present, format=form, unit="s", error_is_null=True)).any():
                return form
        return None

    def vectors(self, width: int | None = None) -> Floats:
        """Every cell as a row of numbers, NaN where missing (N, width)."""
        cells = self.array.to_pylist()
        parsed = [_vector(cell) for cell in cells]
        width = width or next((len(row) for row in parsed if row is not None), 0)
        for place, (cell, row) in enumerate(zip(cells, parsed, strict=True)):
            if cell is not None and (row is None or len(row) != width):
                raise Misfit(place, f"{_shown(cell)} is not a vector of {width} numbers")
        blank = [np.nan] * width
        return np.array([blank if row is None else row for row in parsed], dtype=float).reshape(-1, width)

    def _refuse(self, wrong: Mask, why: str) -> None:
        """Raise for the first of the cells with a value that is `wrong`."""
        places = np.flatnonzero(wrong)
        if len(places):
            row = int(np.flatnonzero(~self.missing)[places[0]])
            others = int(len(wrong) - len(places))
            more = f", as {others:,} other cells are" if others and why.startswith("is not a number") else ""
            raise Misfit(row, f"{_shown(self.array[row])} {why}{more}")


def _plain(array: Any) -> Any:
    """The array in one of the few types that `Cells` knows."""
    kind = array.type
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_nan(array), None, array)
    for fits, wanted in _SAME:
        if fits(kind):
            return pc.cast(array, wanted, safe=False)
    if pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind):
        return pc.cast(array, pa.list_(pa.float64()))
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return array
    raise Misfit(0, f"cells of type {kind} are not understood; make text or numbers of them, or ignore them")


_SAME = (
    (pa.types.is_large_string, pa.string()),
    (pa.types.is_string_view, pa.string()),
    (pa.types.is_string, pa.string()),
    (pa.types.is_decimal, pa.float64()),
    (pa.types.is_null, pa.string()),
    (pa.types.is_date, pa.timestamp("s")),
    (pa.types.is_timestamp, pa.timestamp("s")),
)


def _nulls(array: Any) -> Mask:
    mask: Mask = pc.is_null(array).to_numpy(zero_copy_only=False)
    return mask


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _shown(cell: Any) -> str:
    """A cell as an error quotes it."""
    value = cell.as_py() if hasattr(cell, "as_py") else cell
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _vector(cell: Any) -> list[float] | None:
    """The numbers of a list, or of a text such as "[1, 2]", "1 2" or "1;2"; None where it is none."""
    if not isinstance(cell, str):
        bad = cell is None or any(value is None or not np.isfinite(value) for value in cell)
        return None if bad else list(cell)
    inner = cell[1:-1] if cell[:1] + cell[-1:] in ("[]", "()") else cell
    if "," in inner and inner is cell:
        return None
    try:
        numbers = [float(part) for part in inner.replace(",", " ").replace(";", " ").split()]
    except ValueError:
        return None
    return numbers if len(numbers) > 1 and np.isfinite(numbers).all() else None


def like_vectors(cells: Cells) -> bool:
    """Whether every cell with a value is a vector, all of one width."""
    if cells.is_list:
        return True
    if not cells.is_text or not len(cells.present) or _vector(cells.present[0].as_py()) is None:
        return False
    try:
        cells.vectors()
    except Misfit:
        return False
    return True
