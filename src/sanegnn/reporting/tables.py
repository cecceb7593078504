"""Tables as values: once told, they are HTML, CSV, Markdown or LaTeX."""

from __future__ import annotations

import csv as commas
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sanegnn.reporting.markup import Element, element

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Rows of cells under heads; `forms` says how the numbers of a column are written, as in `.2f`."""

    name: str
    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    forms: Sequence[str] = field(default=())

    @property
    def numeric(self) -> list[bool]:
        """Which columns hold numbers."""
        columns = zip(*self.rows, strict=True) if self.rows else [() for _ in self.heads]
        return [all(not isinstance(cell, str) for cell in column) and bool(column) for column in columns]

    def shown(self) -> list[list[str]]:
        """The cells as people read them."""
        forms = [*self.forms, *[""] * (len(self.heads) - len(self.forms))]
        return [[_shown(cell, form) for cell, form in zip(row, forms, strict=True)] for row in self.rows]


def _shown(cell: Cell, form: str) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, str):
        return cell
    return f"{cell:{form}}" if form else f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"


def html(table: Table) -> Element:
    """The table in a frame that scrolls by itself where the page is too narrow."""
    sides = ["number" if numeric else None for numeric in table.numeric]
    heads = [
        element("th", head, scope="col", class_=side) for head, side in zip(table.heads, sides, strict=True)
    ]
    rows = [
        element("tr", *(element("td", cell, class_=side) for cell, side in zip(row, sides, strict=True)))
        for row in table.shown()
    ]
    inner = element(
        "table",
        element("caption", table.title),
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
    )
    return element("div", inner, class_="scroll", tabindex="0", role="region", aria_label=table.title)


def csv(table: Table) -> str:
    """Commas between full numbers; nothing where one is missing."""
    text = io.StringIO()
    writer = commas.writer(text, lineterminator="\n")
    writer.writerow(table.heads)
    for row in table.rows:
        writer.writerow(["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in row])
    return text.getvalue()


def markdown(table: Table) -> str:
    """A pipe table."""
    rule = ["---:" if numeric else "---" for numeric in table.numeric]
    heads = [_piped(head) for head in table.heads]
    rows = [[_piped(cell) for cell in row] for row in table.shown()]
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)]
    return "\n".join([f"**{_piped(table.title)}**", "", *lines, ""])


def _piped(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())


SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"},
    **{"±": r"$\pm$", "≤": r"$\leq$", "–": "--", "…": r"\ldots{}", "→": r"$\rightarrow$", "×": r"$\times$"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
}


def latex(table: Table) -> str:
    """A `tabular` in booktabs' manner."""
    sides = "".join("r" if numeric else "l" for numeric in table.numeric)
    rows = [" & ".join(map(_tex, row)) + r" \\" for row in (table.heads, *table.shown())]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_tex(table.title)}}}",
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _tex(text: str) -> str:
    return "".join(SPECIAL.get(sign, sign) for sign in " ".join(text.split()))


WRITERS: dict[str, Callable[[Table], str]] = {"csv": csv, "md": markdown, "tex": latex}
"""What writes a table, by the ending of the file."""
