"""Colours and looks, each told once: the page's style and the printed figures are made of them.

A colour is a token with a light and a dark value. A look says how a kind of mark is painted; `main` in it
is the mark's own colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

COLOURS: dict[str, tuple[str, str]] = {
    "page": ("#ffffff", "#14171c"),
    "card": ("#f6f7f9", "#1c2027"),
    "ink": ("#1b1f27", "#e8eaee"),
    "soft": ("#565e6c", "#a9b1bf"),
    "faint": ("#a3abb8", "#5d6675"),
    "grid": ("#e3e6eb", "#2c323c"),
    "s0": ("#0072b2", "#58aee8"),
    "s1": ("#d55e00", "#f58a4b"),
    "s2": ("#009e73", "#35c49a"),
    "s3": ("#c4629b", "#e697c4"),
    "s4": ("#4aa8e0", "#9bd3f7"),
    "s5": ("#dd9500", "#f4bd4f"),
    "s6": ("#5f6775", "#c3c9d4"),
}
"""The series are after Okabe and Ito, told apart by every kind of colour vision; lighter on a dark page."""

SERIES = tuple(name for name in COLOURS if name.startswith("s") and name[1:].isdigit())
SHAPES = ("circle", "square", "triangle", "diamond", "plus")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True)
class Look:
    """How a kind of mark is painted; sizes are those of a figure 440 wide."""

    fill: str = ""
    stroke: str = ""
    width: float = 1.0
    dash: tuple[float, ...] = ()
    size: float = 0.0
    bold: bool = False

    @property
    def css(self) -> str:
        """The look as declarations."""
        said = [f"fill:{_paint(self.fill)}", f"stroke:{_paint(self.stroke)}"]
        if self.stroke:
            said.append(f"stroke-width:{self.width:g}")
        if self.dash:
            said.append(f"stroke-dasharray:{' '.join(f'{part:g}' for part in self.dash)}")
        if self.size:
            said.append(f"font-size:{self.size:g}px")
        return ";".join([*said, "font-weight:600"] if self.bold else said)


LOOKS = {
    "line": Look(stroke="main", width=2),
    "thin": Look(stroke="main", width=1.2),
    "dashed": Look(stroke="main", width=1.6, dash=(5, 3)),
    "grid": Look(stroke="grid"),
    "axis": Look(stroke="faint"),
    "rule": Look(stroke="faint", dash=(3, 3)),
    "dot": Look(fill="main", stroke="page", width=0.8),
    "speck": Look(fill="main"),
    "ring": Look(fill="page", stroke="main", width=1.6),
    "wrong": Look(fill="main", stroke="ink", width=1.6),
    "bar": Look(fill="main"),
    "cell": Look(fill="main", stroke="page"),
    "block": Look(fill="card", stroke="main", width=1.6),
    "ghost": Look(fill="page", stroke="faint", dash=(4, 3)),
    "arrow": Look(fill="main"),
    "tick": Look(fill="soft", size=11),
    "label": Look(fill="soft", size=12),
    "name": Look(fill="ink", size=12),
    "small": Look(fill="soft", size=10),
    "strong": Look(fill="ink", size=13, bold=True),
    "series": Look(fill="main", size=11, bold=True),
    "onlight": Look(fill="ink", size=11),
    "ondark": Look(fill="page", size=11, bold=True),
}
"""Every look by name, which is its class in the page, too."""


def _paint(token: str) -> str:
    return "var(--main)" if token == "main" else f"var(--{token})" if token else "none"


def series(place: int) -> str:
    """The colour of a series."""
    return SERIES[place % len(SERIES)]


def shape(place: int) -> str:
    """The shape of a series: another one when the colours begin again."""
    return SHAPES[place // len(SERIES) % len(SHAPES)]


def variables(dark: bool) -> str:
    """The colours as custom properties."""
    return ";".join(f"--{name}:{pair[dark]}" for name, pair in COLOURS.items())


def style(root: str) -> Iterator[str]:
    """The rules of all looks and colours, below the selector `root`."""
    for name, look in LOOKS.items():
        yield f"{root} .{name}{{{look.css}}}"
    for name in COLOURS:
        yield f"{root} .c-{name}{{--main:var(--{name})}}"
