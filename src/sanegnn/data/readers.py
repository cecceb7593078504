"""Tables from files and frames, with what an error needs to name file, line and column."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from sanegnn.data.cells import NUMBER, Cells, Misfit
from sanegnn.errors import BadGraph

DELIMITERS = ",\t;|"
TEXT = (".csv", ".tsv", ".tab", ".txt", ".edges", ".edgelist", ".el")
BINARY = {
    ".parquet": pyarrow.parquet.read_table,
    ".pq": pyarrow.parquet.read_table,
    ".arrow": pyarrow.feather.read_table,
    ".feather": pyarrow.feather.read_table,
}
PLAIN = (".edges", ".edgelist", ".el", ".txt")
"""Edge lists: no header, ends separated by blanks or commas, lines of # or % are comments."""


@dataclass(frozen=True)
class Table:
    """Some rows with named columns, and where they came from."""

    name: str
    data: Any
    lines: Lines | None = None

    def __len__(self) -> int:
        return int(self.data.num_rows)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.data.column_names)

    def cells(self, column: str, missing: tuple[str, ...] | None = None) -> Cells:
        """The cells of a column."""
        try:
            return Cells(self.data[column]) if missing is None else Cells(self.data[column], missing)
        except Misfit as misfit:
            raise self.error(misfit, column) from misfit

    def where(self, row: int, column: str) -> str:
        """The place of a cell in words: "nodes.csv, line 17, column 'year'"."""
        place = f"line {self.lines.of(row)}" if self.lines else f"row {row}"
        return f"{self.name}, {place}, column {column!r}"

    def error(self, misfit: Misfit, column: str) -> BadGraph:
        """The error of a cell that does not fit."""
        return BadGraph(f"{self.where(misfit.row, column)}: {misfit.words}")

    def need(self, column: str, what: str) -> str:
        """The column itself, if the table has it."""
        if column not in self.data.column_names:
            from sanegnn.errors import UnknownName

            near = UnknownName.of(f"column for {what} in {self.name}", column, self.columns)
            raise BadGraph(str(near))
        return column


@dataclass(frozen=True)
class Lines:
    """The lines of a text file, found again only when an error has to name one."""

    text: str
    delimiter: str
    header: bool

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Every record with the line it starts on, the header among them."""
        reader = csv.reader(io.StringIO(self.text, newline=""), delimiter=self.delimiter)
        before = 0
        for record in reader:
            if record:
                yield before + 1, record
            before = reader.line_num

    def of(self, row: int) -> int:
        """The line of a row of the table."""
        wanted = row + self.header
        return next((line for place, (line, _) in enumerate(self.records()) if place == wanted), 0)


def table(source: Any, what: str, encoding: str = "utf-8") -> Table:
    """The table in a file or a frame; `what` names a frame in errors."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        return _file(Path(source), encoding, what)
    if isinstance(source, pa.Table):
        return _checked(Table(f"the {what} table", source))
    return _checked(Table(f"the {what} table", _frame(source, what)))


def _frame(source: Any, what: str) -> Any:
    """The Arrow table of a frame of pandas, polars or another library that narwhals knows."""
    import narwhals as nw

    try:
        frame = nw.from_native(source)
        return frame.collect().to_arrow() if isinstance(frame, nw.LazyFrame) else frame.to_arrow()
    except TypeError as error:
        if isinstance(source, pa.RecordBatch):
            return pa.Table.from_batches([source])
        raise BadGraph(
            f"cannot read a table of {what} from {type(source).__name__} ({error}); give a file (CSV, TSV, "
            "Parquet, Arrow), a frame of pandas or polars, or an Arrow table"
        ) from error
    except pa.ArrowException as error:
        raise BadGraph(
            f"the {what} table holds a column of mixed types: {error}; make it one type"
        ) from error


def _file(path: Path, encoding: str, what: str) -> Table:
    """The table in a file, by its ending."""
    kind = path.suffix.lower()
    if kind not in (*TEXT, *BINARY):
        raise BadGraph(f"{path} ends in {kind or 'nothing'}; known: {', '.join((*TEXT, *BINARY))}")
    try:
        if kind in BINARY:
            return _checked(Table(path.name, BINARY[kind](path)))
        text = _decoded(path, encoding)
    except OSError as error:
        raise BadGraph(f"cannot read {path}: {error.strerror or error}") from error
    except pa.ArrowException as error:
        raise BadGraph(f"{path} is no {kind[1:]} file, or a damaged one: {error}") from error
    return _edge_list(path, text) if what == "edges" and kind in PLAIN else _delimited(path, text, what)


def _decoded(path: Path, encoding: str) -> str:
    """The text of a file; UTF-16 is told by its mark."""
    raw = path.read_bytes()
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise BadGraph(
            f"no encoding named {encoding!r}; known are utf-8, latin-1, cp1252 and others"
        ) from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        begin = raw.rfind(b"\n", 0, error.start) + 1
        column = (
            sum(raw.count(mark.encode(), begin, error.start) for mark in _delimiter(path, raw[:4096])) + 1
        )
        raise BadGraph(
            f"{path.name}, line {line}, column {column}: byte 0x{raw[error.start]:02x} is not {encoding};"
            " save it as UTF-8, or name its encoding with --encoding, such as latin-1"
        ) from error


def _delimiter(path: Path, head: bytes | str) -> str:
    """The delimiter: a tab in TSV, else the one that the first line has most of."""
    if path.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    first = (head.decode(errors="replace") if isinstance(head, bytes) else head).split("\n", 1)[0]
    return max(DELIMITERS, key=first.count)


def _delimited(path: Path, text: str, what: str) -> Table:
    """A text file with a header; an edge file whose header is all numbers has none."""
    delimiter = _delimiter(path, text)
    first = next(csv.reader(io.StringIO(text), delimiter=delimiter), [])
    if not text.strip() or not first:
        raise BadGraph(f"{path} is empty; its first line must name the columns")
    bare = what == "edges" and all(_is_number(name) for name in first)
    names = ["source", "target", "weight", *first][: len(first)] if bare else [name.strip() for name in first]
    _refuse_twins(path.name, names)
    lines = Lines(text, delimiter, header=not bare)
    return Table(path.name, _parsed(path, text, names, lines), lines)


def _parsed(path: Path, text: str, names: Sequence[str], lines: Lines) -> Any:
    """The cells of a text file, all of them as text."""
    kinds = dict.fromkeys(names, pa.string())
    try:
        return pyarrow.csv.read_csv(
            io.BytesIO(text.encode()),
            pyarrow.csv.ReadOptions(column_names=list(names), skip_rows_after_names=int(lines.header)),
            pyarrow.csv.ParseOptions(delimiter=lines.delimiter, newlines_in_values='"' in text),
            pyarrow.csv.ConvertOptions(column_types=kinds, strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        for line, record in lines.records():
            if len(record) != len(names):
                place = f"{path.name}, line {line}, column {min(len(record), len(names)) + 1}"
                told = f"the line has {len(record)} cells, but there are {len(names)} columns"
                raise BadGraph(f"{place}: {told}") from error
        raise BadGraph(f"cannot read {path}: {error}") from error


def _edge_list(path: Path, text: str) -> Table:
    """Two ids a line and perhaps a weight; kept as CSV, line for line."""
    rows: list[list[str]] = []
    places: list[int] = []
    for line, words in enumerate(text.splitlines(), start=1):
        bare = words.split("#", 1)[0].split("%", 1)[0].replace(",", " ").replace(";", " ").split()
        if not bare:
            continue
        if not 2 <= len(bare) <= 3:
            raise BadGraph(
                f"{path.name}, line {line}, column 1: {words.strip()!r} is not two ids and perhaps a weight"
            )
        if rows and len(bare) != len(rows[0]):
            raise BadGraph(
                f"{path.name}, line {line}, column {len(bare)}: earlier lines have {len(rows[0])} values"
            )
        rows.append(bare)
        places.append(line)
    if not rows:
        raise BadGraph(f"{path} holds no edge")
    names = ["source", "target", "weight"][: len(rows[0])]
    if any(name in rows[0][0].lower() for name in ("source", "src", "from")):
        rows, places = rows[1:], places[1:]
    columns = {name: pa.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    return Table(path.name, pa.table(columns), Places(text, " ", header=False, places=tuple(places)))


@dataclass(frozen=True)
class Places(Lines):
    """The lines of an edge list, which leaves out comments."""

    places: tuple[int, ...] = ()

    def of(self, row: int) -> int:
        return self.places[row]


def _is_number(text: str) -> bool:
    return bool(pc.match_substring_regex(pa.array([text.strip()]), NUMBER)[0].as_py())


def _checked(found: Table) -> Table:
    _refuse_twins(found.name, found.columns)
    return found


def _refuse_twins(name: str, columns: Sequence[str]) -> None:
    twin = next((column for place, column in enumerate(columns) if column in columns[:place]), None)
    if twin is not None:
        raise BadGraph(f"{name}, line 1, column {twin!r}: two columns have this name; rename one")


@dataclass(frozen=True)
class Stack(Table):
    """Several tables of the same things, one below the other."""

    parts: tuple[Table, ...] = ()

    def where(self, row: int, column: str) -> str:
        for part in self.parts:
            if row < len(part):
                return part.where(row, column)
            row -= len(part)
        return self.name


def stacked(tables: Sequence[Table]) -> Table:
    """Several tables as one; a column that one of them lacks is missing there."""
    if len(tables) == 1:
        return tables[0]
    try:
        data = pa.concat_tables([part.data for part in tables], promote_options="permissive")
    except pa.ArrowException as error:
        names = " and ".join(part.name for part in tables)
        raise BadGraph(f"{names} hold a column as different types: {error}") from error
    return Stack(", ".join(part.name for part in tables), data, None, tuple(tables))
