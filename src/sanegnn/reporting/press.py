"""Pictures as PNG or PDF, drawn by matplotlib: a unit of the picture is a point of the paper."""

from __future__ import annotations

import io
import warnings
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from sanegnn.reporting.looks import COLOURS, LOOKS
from sanegnn.reporting.scene import Box, Disc, Mark, Path, Picture, Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 200
ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def printed(picture: Picture, ending: str) -> bytes:
    """The bytes of the picture in a format of matplotlib's."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"pdf.fonttype": 42, "font.family": "sans-serif"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a letter that no font has is drawn as a box
        sheet = Figure(figsize=(picture.width / 72, picture.height / 72))
        axes = sheet.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, picture.width)
        axes.set_ylim(picture.height, 0)
        for order, mark in enumerate(picture.marks):
            press(mark, axes, order)
        file = io.BytesIO()
        kept = {"CreationDate": None} if ending == "pdf" else None
        sheet.savefig(file, format=ending, dpi=DPI, facecolor=_colour("page", "page"), metadata=kept)
    return file.getvalue()


def _colour(token: str, own: str) -> str:
    name = own if token == "main" else token
    return COLOURS[name][0] if name else "none"


def _paint(mark: Mark, order: int) -> dict[str, Any]:
    look = LOOKS[mark.look]
    fill: Any = _colour(look.fill, mark.colour)
    return {
        "facecolor": fill if fill == "none" else (fill, mark.strength),
        "edgecolor": _colour(look.stroke, mark.colour),
        "linewidth": look.width if look.stroke else 0.0,
        "linestyle": (0, tuple(part / look.width for part in look.dash)) if look.dash else "-",
        "zorder": order,
        "clip_on": False,
    }


@singledispatch
def press(mark: Mark, axes: Axes, order: int) -> None:  # noqa: ARG001
    """Put a mark on the paper, above those before it."""
    raise TypeError(f"no hand for {type(mark).__name__}")


@press.register(Box)
def _(mark: Box, axes: Axes, order: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    rounded = f"round,pad=0,rounding_size={mark.radius}" if mark.radius else "square,pad=0"
    corner = (mark.x, mark.y)
    axes.add_patch(FancyBboxPatch(corner, mark.width, mark.height, rounded, **_paint(mark, order)))


@press.register(Disc)
def _(mark: Disc, axes: Axes, order: int) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((mark.x, mark.y), mark.radius, **_paint(mark, order)))


@press.register(Path)
def _(mark: Path, axes: Axes, order: int) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    points = [*mark.points, mark.points[0]] if mark.closed else list(mark.points)
    axes.add_patch(PathPatch(Outline(points, closed=mark.closed), **_paint(mark, order)))


@press.register(Words)
def _(mark: Words, axes: Axes, order: int) -> None:
    look = LOOKS[mark.look]
    axes.text(
        mark.x,
        mark.y,
        mark.text,
        color=_colour(look.fill, mark.colour),
        fontsize=0.92 * look.size,
        fontweight="bold" if look.bold else "normal",
        ha=ANCHORS[mark.anchor],
        va="baseline",
        rotation=90 if mark.turned else 0,
        rotation_mode="anchor",
        parse_math=False,
        zorder=order,
    )
