"""The efficiency figure: what the best by validation so far was worth, against the time it took to find.

Two panels over one logarithmic time axis: the validation score, and the test score of the same net. A line
is the mean over splits, from when the contender has a net on all of them until its race ends, where
it has a mark. Searchers are drawn through, human designs dashed.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from sanegnn.comparison import Told, best_so_far, mean_curve
from sanegnn.comparison.curves import Curve
from sanegnn.journal import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Of Okabe and Ito, told apart by every kind of colour vision; their yellow is too faint on white."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
STYLES = {"search": "-", "human": (0, (4, 2))}
WIDTHS = {"search": 2.0, "human": 1.2}
SIZE = (11.0, 4.8)
AIR = 0.02
"""The least that the score axis shows below the lowest end."""


@dataclass(frozen=True)
class Line:
    """A contender in the figure."""

    name: str
    kind: str
    validation: Curve
    test: Curve
    end: float


def lines(told: Sequence[Told]) -> list[Line]:
    """One for every contender with a net on all of its splits, the best in the end first."""
    names = dict.fromkeys(lane.contender for lane in told)
    found = [_line([lane for lane in told if lane.contender == name]) for name in names]
    return sorted((line for line in found if line.validation), key=lambda line: -line.validation[-1][1])


def _line(lanes: Sequence[Told]) -> Line:
    laps = [best_so_far(lane.race) for lane in lanes]
    validation = mean_curve([[(lap.clock, lap.validation) for lap in own] for own in laps])
    scored = [[(lap.clock, lane.test_of(lap)) for lap in own] for lane, own in zip(lanes, laps, strict=True)]
    test = mean_curve([[point for point in curve if not math.isnan(point[1])] for curve in scored])
    ends = [lane.clock("search", "tune") for lane in lanes]
    end = max([fmean(ends), *(seconds for seconds, _ in validation[-1:])])
    return Line(lanes[0].contender, lanes[0].kind, validation, test, end)


def draw(told: Sequence[Told], title: str, folder: Path) -> None:
    """`efficiency.png` and `efficiency.svg` in the folder."""
    import matplotlib as mpl

    drawn = lines(told)
    if not drawn:
        return
    with mpl.rc_context({"svg.hashsalt": "sanegnn", "font.size": 10}):
        picture = figure(drawn, title)
        for ending, metadata in (("png", {}), ("svg", {"Date": None})):
            file = io.BytesIO()
            picture.savefig(file, format=ending, dpi=150, metadata=metadata)
            write_atomic(folder / f"efficiency.{ending}", file.getvalue())


def figure(drawn: Sequence[Line], title: str) -> Figure:
    """Both panels, with one legend to their right."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=SIZE, layout="constrained")
    left, right = picture.subplots(1, 2, sharex=True)
    _panel(left, [(line, line.validation) for line in drawn], "validation score, the best so far")
    _panel(right, [(line, line.test) for line in drawn], "test score of that net")
    left.set_xscale("log")
    picture.suptitle(title)
    handles, names = left.get_legend_handles_labels()
    columns = 1 + (len(names) - 1) // 20
    picture.legend(handles, names, loc="outside right center", frameon=False, ncols=columns)
    return picture


def _panel(axes: Axes, curves: Sequence[tuple[Line, Curve]], ylabel: str) -> None:
    for (line, curve), (colour, mark) in zip(curves, looks(len(curves)), strict=True):
        ends = [*curve, *((line.end, score) for _, score in curve[-1:])]
        axes.step(
            [seconds for seconds, _ in ends],
            [score for _, score in ends],
            where="post",
            color=colour,
            linestyle=STYLES[line.kind],
            linewidth=WIDTHS[line.kind],
            marker=mark,
            markevery=[len(ends) - 1],
            markersize=6,
            label=line.name,
        )
    axes.set_ylim(_limits([curve[-1][1] for _, curve in curves if curve]))
    axes.set_xlabel("seconds of searching and tuning")
    axes.set_ylabel(ylabel)
    axes.grid(visible=True, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _limits(ends: Sequence[float]) -> tuple[float, float]:
    """From well below the lowest end to just above the highest: what comes before is cut off."""
    lowest, highest = min(ends, default=0.0), max(ends, default=1.0)
    air = max(highest - lowest, AIR)
    return lowest - air, highest + air / 6


def looks(number: int) -> Iterator[tuple[str, str]]:
    """Colours and marks; no pair comes twice among the first seventy."""
    return islice(zip(cycle(COLOURS), cycle(MARKS), strict=False), number)
