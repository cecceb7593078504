"""The course of the alphas: of every slot the share of each operation against the epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sanegnn.reporting.axes import Frame
from sanegnn.reporting.drawings import WIDTH
from sanegnn.reporting.scales import Linear, around
from sanegnn.reporting.scene import Mark, Picture, Words

PANEL = (172.0, 84.0)
ROW, ACROSS = 146.0, 2
POINTS = 60
"""More epochs are thinned out."""
KINDS = {"node": "layer {}", "skip": "skip {}", "layer": "layer aggregator"}


@dataclass(frozen=True)
class Course:
    """One slot: its operations, their shares at each epoch shown, and which was taken."""

    key: str
    choices: Sequence[str]
    epochs: Sequence[int]
    shares: Sequence[Sequence[float]]
    taken: int

    @property
    def title(self) -> str:
        """The slot in words."""
        kind, _, layer = self.key.partition(".")
        return KINDS.get(kind, f"{kind} {{}}").format(int(layer) + 1)

    @property
    def second(self) -> int | None:
        """The runner-up at the end."""
        order = sorted(range(len(self.choices)), key=lambda place: -self.shares[-1][place])
        return next((place for place in order if place != self.taken), None)


def softmax(row: Sequence[float | None]) -> list[float]:
    """The shares of a row of alphas; an operation that was closed has none."""
    known = [alpha if alpha is not None else -math.inf for alpha in row]
    top = max(known)
    weights = [math.exp(alpha - top) if alpha > -math.inf else 0.0 for alpha in known]
    return [weight / sum(weights) for weight in weights]


def courses(
    epochs: Sequence[tuple[int, Mapping[str, Sequence[float | None]]]],
    slots: Sequence[tuple[str, Sequence[str]]],
    taken: Mapping[str, int],
) -> list[Course]:
    """The courses of all slots that have alphas."""
    thin = max(1, math.ceil(len(epochs) / POINTS))
    shown = [*epochs[:-1:thin], *epochs[-1:]]
    numbers = [epoch for epoch, _ in shown]
    return [
        Course(key, choices, numbers, [softmax(alphas[key]) for _, alphas in shown], taken[key])
        for key, choices in slots
        if all(len(alphas.get(key, ())) == len(choices) for _, alphas in shown)
    ]


def draw(found: Sequence[Course], name: str, restart: int) -> Picture:
    """A panel for every slot."""
    marks: list[Mark] = []
    for place, course in enumerate(found):
        left = 42 + (place % ACROSS) * (WIDTH / ACROSS)
        marks += _panel(course, left, 36 + place // ACROSS * ROW)
    height = 36 + math.ceil(len(found) / ACROSS) * ROW - 36
    title = f"The alphas of restart {restart + 1}"
    ends = "; ".join(
        f"{one.title}: {one.choices[one.taken]} {one.shares[-1][one.taken]:.3f}" for one in found
    )
    return Picture(name, title, f"At the end {ends}", WIDTH, height, marks)


def _panel(course: Course, left: float, top: float) -> Iterator[Mark]:
    wide, tall = PANEL
    limits = around((share for row in course.shares for share in row), least=0.002)
    last = max(course.epochs[-1], course.epochs[0] + 1)
    x = Linear(course.epochs[0], last, left, left + wide, 3)
    frame = Frame(x, Linear(max(0.0, limits[0]), min(1.0, limits[1]), top + tall, top, 4))
    yield Words(left, top - 19, course.title, look="name")
    yield Words(left, top - 6, course.choices[course.taken], look="series", colour="s0")
    yield from frame.axes(vertical=False)
    order = [place for place in range(len(course.choices)) if place not in (course.taken, course.second)]
    looks = [(place, "thin", "faint") for place in order]
    if course.second is not None:
        looks.append((course.second, "line", "s1"))
        right = left + wide
        yield Words(right, top - 6, course.choices[course.second], "end", look="series", colour="s1")
    for place, look, colour in (*looks, (course.taken, "line", "s0")):
        yield _line(course, frame, place, look, colour)


def _line(course: Course, frame: Frame, place: int, look: str, colour: str) -> Mark:
    points = [(float(epoch), row[place]) for epoch, row in zip(course.epochs, course.shares, strict=True)]
    word = ", taken" if place == course.taken else ""
    tip = f"{course.title}, {course.choices[place]}: {points[-1][1]:.4f} at the end{word}"
    return frame.line(points, look=look, colour=colour, tip=tip)
