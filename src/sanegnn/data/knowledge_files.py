"""Two knowledge graphs from a folder in the layout of GCN-Align's data.

    ent_ids_1 ent_ids_2                  number, name of every entity
    triples_1 triples_2                  numbers of head, relation and tail
    ref_ent_ids, or ill_ent_ids          numbers of the linked entities, first and second graph
    sup_ent_ids                          more links, as JAPE's folders part them; may be missing
    training_attrs_1 training_attrs_2    name of an entity, then its attributes; may be missing

Columns are parted by tabs. A relation with the same number in both graphs is the same relation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sanegnn.data.base import Ids
from sanegnn.data.knowledge import KnowledgePair
from sanegnn.data.labels import count
from sanegnn.errors import BadGraph

NEEDED = ("ent_ids_1", "ent_ids_2", "triples_1", "triples_2")
LINKS = ("ill_ent_ids", "ref_ent_ids")
MORE_LINKS = "sup_ent_ids"
ATTRIBUTES = ("training_attrs_1", "training_attrs_2")
Places = Mapping[int, int]
"""From an entity's number to its place."""


def is_pair(folder: Path) -> bool:
    """Whether a folder holds two knowledge graphs, or was meant to."""
    return any((folder / name).is_file() for name in NEEDED)


def read_pair(folder: Path, name: str | None = None) -> KnowledgePair:
    """The pair in a folder; whatever does not fit is told with its file and line."""
    missing = [one for one in NEEDED if not (folder / one).is_file()]
    if missing:
        raise BadGraph(
            f"{folder} has no file {missing[0]}: a pair of knowledge graphs needs {', '.join(NEEDED)} and "
            f"{' or '.join(LINKS)}"
        )
    first, names = _entities(folder / "ent_ids_1", 0)
    second, others = _entities(folder / "ent_ids_2", len(first))
    notes: list[str] = []
    triples, relations = _triples(folder, (first, second), notes)
    links = _links(folder, first, second)
    entities = np.array([*names, *others])
    attributes, known = _attributes(folder, (names, others), notes)
    return KnowledgePair(
        name or folder.name, entities, len(first), triples, relations, attributes, known, links,
        notes=tuple(notes),
    )  # fmt: skip


def dbp15k(name: str, root: Path) -> KnowledgePair:
    """The DBP15K pair of a name such as dbp15k-zh-en, in `<root>/DBP15K/zh_en`."""
    folder = root / "DBP15K" / name.removeprefix("dbp15k-").replace("-", "_")
    if not is_pair(folder):
        raise BadGraph(f"{name} is not in {folder}: put the files of GCN-Align's data folder there")
    return read_pair(folder, name)


def _lines(path: Path, columns: str) -> Iterator[tuple[str, list[str]]]:
    """Where a line stands and its columns; `columns` names those that must be there."""
    wanted = len(columns.split(", "))
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                cells = line.rstrip("\r\n").split("\t")
                if len(cells) != wanted:
                    raise BadGraph(
                        f"{path}, line {number}: {len(cells)} columns, but it must have {wanted}: {columns}, "
                        "parted by tabs"
                    )
                yield f"{path}, line {number}", cells
    except OSError as error:
        raise BadGraph(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadGraph(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _numbers(path: Path, columns: str) -> Iterator[tuple[str, list[int]]]:
    """The same of a file of whole numbers."""
    for where, cells in _lines(path, columns):
        try:
            yield where, [int(cell) for cell in cells]
        except ValueError:
            wrong = next(cell for cell in cells if not cell.strip().lstrip("-").isdigit())
            raise BadGraph(f"{where}: {wrong!r} is not a whole number; it must hold {columns}") from None


def _entities(path: Path, begin: int) -> tuple[dict[int, int], list[str]]:
    """The places of the entities of one graph by their numbers, and their names."""
    places: dict[int, int] = {}
    names: dict[str, str] = {}
    for where, (text, name) in _lines(path, "number, name"):
        if not text.strip().isdigit():
            raise BadGraph(f"{where}: {text!r} is not a whole number; it must hold number, name")
        if int(text) in places:
            raise BadGraph(f"{where}: entity {int(text)} is there already; give every entity its own number")
        if name in names:
            raise BadGraph(f"{where}: {name!r} is the entity of {names[name]} already; name each but once")
        places[int(text)], names[name] = begin + len(places), where
    if not places:
        raise BadGraph(f"{path} is empty: it must hold number, name of every entity")
    return places, list(names)


def _place(number: int, places: Places, where: str, file: str) -> int:
    if number not in places:
        raise BadGraph(f"{where}: entity {number} is not in {file}; add it there, or drop the line")
    return places[number]


def _triples(folder: Path, places: tuple[Places, Places], notes: list[str]) -> tuple[Ids, Any]:
    """Heads, relations and tails (3, T) by place, and the relations' numbers."""
    found: dict[tuple[int, int, int], None] = {}
    lines = 0
    for graph, known in enumerate(places, start=1):
        path, begin = folder / f"triples_{graph}", len(found)
        for where, (head, relation, tail) in _numbers(path, "head, relation, tail"):
            ends = [_place(end, known, where, f"ent_ids_{graph}") for end in (head, tail)]
            found[ends[0], relation, ends[1]] = None
            lines += 1
        if len(found) == begin:
            raise BadGraph(f"{path} is empty: without triples there is no structure to align by")
    if twice := lines - len(found):
        notes.append(f"{count(twice, 'repeated triple')} dropped")
    triples = np.array(list(found), dtype=np.int64).T
    relations, triples[1] = np.unique(triples[1], return_inverse=True)
    return triples, relations


def _links(folder: Path, first: Places, second: Places) -> Ids:
    """Linked places (2, L), one to one."""
    name = next((one for one in LINKS if (folder / one).is_file()), None)
    if name is None:
        raise BadGraph(f"{folder} has neither {' nor '.join(LINKS)}: some links are needed to learn from")
    seen: dict[int, str] = {}
    links = []
    for file in (name, MORE_LINKS):
        if not (folder / file).is_file():
            continue
        for where, (left, right) in _numbers(folder / file, "entity of graph 1, entity of graph 2"):
            link = (_place(left, first, where, "ent_ids_1"), _place(right, second, where, "ent_ids_2"))
            for number, place in zip((left, right), link, strict=True):
                if place in seen:
                    raise BadGraph(
                        f"{where}: entity {number} is linked already, in {seen[place]}; links are one to one"
                    )
                seen[place] = where
            links.append(link)
    return np.array(links, dtype=np.int64).reshape(-1, 2).T


def _attributes(
    folder: Path, names: tuple[list[str], list[str]], notes: list[str]
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Which entity has which attribute, the most frequent attribute first."""
    entities = len(names[0]) + len(names[1])
    held: dict[tuple[int, str], None] = {}
    unknown, begin = 0, 0
    for file, own in zip(ATTRIBUTES, names, strict=True):
        places = {name: begin + place for place, name in enumerate(own)}
        begin += len(own)
        for name, *attributes in _attribute_lines(folder / file):
            unknown += name not in places
            held.update(dict.fromkeys((places[name], one) for one in attributes if name in places and one))
    if unknown:
        notes.append(f"attributes of {unknown:,} unknown entities left out")
    order = [name for name, _ in Counter(name for _, name in held).most_common()]
    column = {name: place for place, name in enumerate(order)}
    rows = np.array([entity for entity, _ in held], dtype=np.int64)
    columns = np.array([column[name] for _, name in held], dtype=np.int64)
    ones = np.ones(len(held), dtype=np.float32)
    return sp.csr_array((ones, (rows, columns)), shape=(entities, len(order))), tuple(order)


def _attribute_lines(path: Path) -> Iterator[list[str]]:
    if not path.is_file():
        return
    try:
        with path.open(encoding="utf-8-sig") as file:
            for line in file:
                yield line.rstrip("\r\n").split("\t")
    except (OSError, UnicodeDecodeError) as error:
        raise BadGraph(f"cannot read {path}: {error}") from error
