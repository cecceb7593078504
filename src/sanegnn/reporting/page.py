"""A report as a value, and as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources

from sanegnn.reporting import tables
from sanegnn.reporting.looks import FONT, style, variables
from sanegnn.reporting.markup import Child, Element, Raw, element
from sanegnn.reporting.scene import Picture
from sanegnn.reporting.svg import drawn
from sanegnn.reporting.tables import Table

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What a browser may load for the page: nothing but what stands in it."""


@dataclass(frozen=True)
class Exhibit:
    """A figure with its caption, and its numbers, which unfold."""

    picture: Picture
    caption: str
    numbers: Table | None = None


@dataclass(frozen=True)
class Wide:
    """A table that takes the whole width."""

    table: Table


@dataclass(frozen=True)
class Folded:
    """Text to be copied, below a line that unfolds it; open at once where it is short."""

    title: str
    text: str
    open: bool = False


Cell = Exhibit | Table | Wide | Folded


@dataclass(frozen=True)
class Section:
    """A part of the report."""

    key: str
    title: str
    words: Sequence[str]
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Answer:
    """What the reader came for: a number with its noise, what it is, and what follows."""

    number: str
    spread: str
    label: str
    words: Sequence[str]
    facts: Sequence[tuple[str, str]] = field(default=())


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    kicker: str
    answer: Answer
    sections: Sequence[Section]

    @property
    def pictures(self) -> list[Picture]:
        """Every figure."""
        return [cell.picture for cell in self._cells() if isinstance(cell, Exhibit)]

    @property
    def tables(self) -> list[Table]:
        """Every table, those behind figures too."""
        found = [_table(cell) for cell in self._cells()]
        return [table for table in found if table is not None]

    def _cells(self) -> Iterator[Cell]:
        for section in self.sections:
            yield from section.cells


def _table(cell: Cell) -> Table | None:
    if isinstance(cell, Exhibit):
        return cell.numbers
    if isinstance(cell, Wide):
        return cell.table
    return cell if isinstance(cell, Table) else None


def html(page: Page) -> str:
    """The file's text."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", page.title),
        element("style", Raw(_style())),
    )
    body = element("body", _header(page), _main(page), element("script", Raw(_own("page.js"))))
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _style() -> str:
    light, dark = variables(dark=False), variables(dark=True)
    return "\n".join(
        [
            f":root{{{light};--font:{FONT}}}",
            f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}",
            *style(".figure"),
            _own("page.css"),
        ]
    )


def _own(name: str) -> str:
    return resources.files("sanegnn.reporting").joinpath(name).read_text(encoding="utf-8")


def _header(page: Page) -> Element:
    answer = page.answer
    spread = element("span", answer.spread, class_="spread") if answer.spread else None
    facts = [_fact(name, text) for name, text in answer.facts]
    links = [element("a", section.title, href=f"#{section.key}") for section in page.sections]
    return element(
        "header",
        element("p", page.kicker, class_="kicker"),
        element("h1", element("span", answer.number, class_="score"), " ", spread),
        element("p", answer.label, class_="label"),
        *(element("p", text, class_="lead") for text in answer.words),
        element("dl", *facts, class_="facts") if facts else None,
        element("nav", *links, aria_label="Parts of the report"),
    )


LONG = 18
"""Facts of more letters have a wider place."""


def _fact(name: str, text: str) -> Element:
    return element(
        "div", element("dt", name), element("dd", text), class_="long" if len(text) > LONG else None
    )


def _main(page: Page) -> Element:
    return element("main", *(_section(section) for section in page.sections))


def _section(section: Section) -> Element:
    words = [element("p", text) for text in section.words]
    cells = element("div", *(_cell(cell) for cell in section.cells), class_="cells")
    return element("section", element("h2", section.title), *words, cells, id=section.key)


def _cell(cell: Cell) -> Child:
    if isinstance(cell, Exhibit):
        return _figure(cell)
    if isinstance(cell, Folded):
        inner = element("pre", element("code", cell.text), tabindex="0")
        return element("details", element("summary", cell.title), inner, class_="wide", open=cell.open)
    if isinstance(cell, Wide):
        return element("div", tables.html(cell.table), class_="wide")
    return element("div", tables.html(cell))


def _figure(exhibit: Exhibit) -> Element:
    numbers = exhibit.numbers
    more = element("details", element("summary", "Numbers"), tables.html(numbers)) if numbers else None
    caption = element("figcaption", element("strong", exhibit.picture.title), " ", exhibit.caption)
    return element("figure", drawn(exhibit.picture), caption, more, id=f"figure-{exhibit.picture.name}")
