"""From the columns of a table of nodes to features: typed by looking once, encoded alike ever after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from sanegnn.data.cells import FALSE, TRUE, Cells, Misfit, like_vectors
from sanegnn.data.columns import Block, Column, column_of, kinds
from sanegnn.data.labels import count
from sanegnn.data.readers import Table
from sanegnn.errors import BadGraph, UnknownName
from sanegnn.settings import Columns

ID_NAMES = ("id", "node_id", "nodeid", "node", "index", "key")
PART_WORDS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    **dict.fromkeys(("test", "testing"), "test"),
}
MOST = 0.9
"""From this share of numbers on, the other cells of a column are mistakes and not categories."""
CATEGORIES = 256


@dataclass(frozen=True)
class Preprocessing:
    """What was fitted on the tables of a graph, and what another graph's tables are read by.

    Args:
        columns: the columns that features are made of, with their constants, in the order of the features.
        others: the other columns and what they are taken for.
        id: the column of the ids, None where the rows' numbers are the ids.
        classes: the names of the classes.
        asked: the columns that the user named.
    """

    columns: tuple[Column, ...]
    others: tuple[tuple[str, str], ...]
    id: str | None
    classes: tuple[str, ...]
    asked: Columns

    @classmethod
    def fit(cls, table: Table, asked: Columns, split: str | None = None) -> Self:
        """Look at every column of a table of nodes."""
        id_column = _id_column(table, asked)
        wanted = _asked_kinds(table, asked)
        roles = {column: _role(table, column, asked, id_column, split, wanted) for column in table.columns}
        columns = tuple(_fitted(table, column, kind) for column, kind in roles.items() if kind in kinds)
        others = tuple((column, role) for column, role in roles.items() if role not in kinds)
        return cls(columns, others, id_column, _classes(table, asked.label), asked)

    def role(self, role: str) -> list[str]:
        """The columns that are taken for this."""
        return [column for column, taken in self.others if taken == role]

    def encode(self, table: Table, notes: list[str]) -> Any:
        """The features of a table of nodes (N, F), None where no column holds any."""
        blocks: list[Block] = []
        there = set(table.columns)
        for column in self.columns:
            if column.name in there:
                cells = table.cells(column.name)
            else:
                notes.append(f"{table.name} has no column {column.name!r}: it is missing for every node")
                cells = Cells(_nothing(len(table)))
            try:
                blocks += column.encode(cells)
            except Misfit as misfit:
                raise table.error(misfit, column.name) from misfit
            if new := column.unmet(cells):
                notes.append(f"{count(new, 'cell')} of column {column.name!r} in none of its categories")
            if column.name in there and (gaps := int(cells.missing.sum())):
                notes.append(f"{count(gaps, 'missing value')} in column {column.name!r}")
        return _joined(blocks) if blocks else None

    @property
    def names(self) -> tuple[str, ...]:
        """A name for every feature."""
        return tuple(name for column in self.columns for name in column.names)

    def table(self) -> dict[str, Any]:
        """The preprocessing as JSON keeps it."""
        return {
            "columns": [column.table() for column in self.columns],
            "others": [list(pair) for pair in self.others],
            "id": self.id,
            "classes": list(self.classes),
            "asked": self.asked.table(),
        }

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The preprocessing that `table` was made from."""
        columns = tuple(column_of(column) for column in table["columns"])
        others = tuple((name, role) for name, role in table["others"])
        return cls(columns, others, table["id"], tuple(table["classes"]), Columns.of(table["asked"]))


def _nothing(rows: int) -> Any:
    import pyarrow as pa

    return pa.nulls(rows, pa.string())


def _joined(blocks: list[Block]) -> Any:
    """The blocks side by side; sparse when few entries are not zero."""
    stored = sum(block.nnz if sp.issparse(block) else np.count_nonzero(block) for block in blocks)
    entries = sum(block.shape[0] * block.shape[1] for block in blocks)
    if stored < 0.2 * entries:
        return sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks]))
    dense = [block if isinstance(block, np.ndarray) else block.toarray() for block in blocks]
    return np.concatenate(dense, axis=1)


def _fitted(table: Table, name: str, kind: str) -> Column:
    try:
        return kinds[kind].fit(name, table.cells(name))
    except Misfit as misfit:
        raise table.error(misfit, name) from misfit


def _asked_kinds(table: Table, asked: Columns) -> dict[str, str]:
    """The kinds that the user gave, by column."""
    found = {}
    for pair in asked.kinds:
        name, equals, kind = pair.rpartition("=")
        if not equals:
            raise BadGraph(f"kinds holds {pair!r}; write it as column=kind, such as year=category")
        if kind != "split" and kind not in kinds:
            raise UnknownName.of("kind of column", kind, (*kinds, "split"))
        found[table.need(name, "kinds")] = kind
    for name in (*asked.features, *asked.ignore):
        table.need(name, "features" if name in asked.features else "ignore")
    return found


def _id_column(table: Table, asked: Columns) -> str | None:
    """The column of the ids: the one asked for, one named so, or one that ends in _id and has no repeats."""
    if asked.id is not None:
        return table.need(asked.id, "id")
    lower = {column.lower(): column for column in reversed(table.columns) if column != asked.label}
    named = next((lower[name] for name in ID_NAMES if name in lower), None)
    if named is not None:
        return named
    endings = [name for key, name in lower.items() if key.endswith("_id")]
    unique = [name for name in endings if table.cells(name).distinct == len(table)]
    return unique[-1] if unique else None


def _role(
    table: Table,
    column: str,
    asked: Columns,
    id_column: str | None,
    split: str | None,
    wanted: dict[str, str],
) -> str:
    """What a column is taken for: a kind of features, or something else."""
    named = {asked.label: "label", split: "split", id_column: "id"}
    if column in named:
        return named[column]
    if column in asked.ignore or (asked.features and column not in asked.features):
        return "ignored"
    if column in wanted:
        return wanted[column]
    if not column:
        return "without a name"
    try:
        return look(column, table.cells(column))
    except Misfit as misfit:
        raise table.error(misfit, column) from misfit


def look(name: str, cells: Cells) -> str:
    """The kind of a column by its cells; what cannot be learned from is called by what it is."""
    if not len(cells.present):
        return "empty"
    if cells.is_list:
        return "vector"
    if cells.distinct == 1 and not cells.missing.any():
        return "constant"
    words = {text.lower() for text in cells.values} if cells.distinct <= len(PART_WORDS) else set()
    if words and words <= {*TRUE, *FALSE}:
        return "boolean"
    if words and words <= {*PART_WORDS, "none", "unlabelled", "unlabeled"} and len(words & {*PART_WORDS}) > 1:
        return "split"
    return _look_at_numbers(name, cells) or _look_at_words(cells)


def _look_at_numbers(name: str, cells: Cells) -> str | None:
    numbers = cells.like_numbers
    if numbers.all() and not cells.is_time:
        return "identifier" if _counts_rows(cells) else "number"
    if numbers.mean() >= MOST:
        row = int(np.flatnonzero(~cells.missing)[np.flatnonzero(~numbers)[0]])
        raise Misfit(
            row,
            f"{cells.texts[row]!r} is not a number, as {int(numbers.sum()):,} other cells are; mend it, "
            f"or say --kinds {name}=category or --ignore {name}",
        )
    return None


def _counts_rows(cells: Cells) -> bool:
    """Whether the numbers are those of the rows, from 0 or from 1."""
    values = cells.numbers()
    rows = np.arange(len(values))
    return len(values) > 2 and any(np.array_equal(values, rows + start) for start in (0, 1))


def _look_at_words(cells: Cells) -> str:
    """Dates, vectors, categories that recur, or free text."""
    if cells.form() is not None:
        return "date"
    if like_vectors(cells):
        return "vector"
    present = [text for text in cells.texts if text is not None]
    several = np.mean([len(text.split()) for text in present]) >= 2
    if cells.distinct <= min(CATEGORIES, max(2, len(present) / (5 if several else 2))):
        return "category"
    if several:
        return "text"
    return "identifier" if cells.distinct > 0.9 * len(present) else "text"


def _classes(table: Table, label: str | None) -> tuple[str, ...]:
    """The names of the classes: numbers in their order, words in theirs."""
    if label is None:
        return ()
    cells = table.cells(table.need(label, "label"))
    if cells.is_list or cells.is_time:
        raise BadGraph(f"{table.where(0, label)}: a label must be a word or a whole number")
    names = {text for text in cells.texts if text is not None}
    if not names:
        raise BadGraph(f"{table.where(0, label)}: no node has a label")
    if len(cells.present) and cells.like_numbers.all():
        values = cells.numbers()
        broken = np.flatnonzero(~np.isnan(values) & (values != np.trunc(values)))
        if len(broken):
            words = f"{values[broken[0]]:g} is no class; classes are words or whole numbers"
            raise BadGraph(f"{table.where(int(broken[0]), label)}: {words}")
        return tuple(sorted(names, key=float))
    return tuple(sorted(names))
