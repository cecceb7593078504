"""The tuning: every trial in its order, and which knobs the scores depended on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from sanegnn.reporting.axes import Frame, legend
from sanegnn.reporting.drawings import WIDTH
from sanegnn.reporting.scales import Linear, low_end, scores_around
from sanegnn.reporting.scene import Box, Mark, Picture, Words, wide

LEFT, RIGHT, TALL = 58.0, 16.0, 230.0
ROW = 27.0


@dataclass(frozen=True)
class Tried:
    """One trial: its score, whether it was of the chosen architecture or stopped early, and its words."""

    validation: float
    chosen: bool
    pruned: bool
    words: str


def history(trials: Sequence[Tried], metric: str) -> Picture:
    """Trials by their number, with the best so far."""
    entries = [("the chosen architecture", "s1", "circle")] if any(one.chosen for one in trials) else []
    marks, top = legend([*entries, ("other architectures", "s6", "circle")], LEFT, 16, WIDTH - LEFT)
    scores = [one.validation for one in trials]
    low = low_end([one.validation for one in trials if not one.pruned] or scores)
    x = Linear(0, len(trials) + 1, LEFT, WIDTH - RIGHT)
    frame = Frame(x, Linear(*scores_around(max(one, low) for one in scores), top + TALL, top))
    marks += frame.axes("trial", f"validation {metric}", vertical=False)
    best = list(enumerate(accumulate(scores, max), start=1))
    marks.append(frame.steps(best, look="thin", tip=f"the best so far: {best[-1][1]:.4f} in the end"))
    for place, one in sorted(enumerate(trials, start=1), key=lambda item: item[1].chosen):
        marks.append(_dot(frame, place, one))
    words = f"{len(trials)} trials; the best has {best[-1][1]:.4f}"
    return Picture("tuning", "The tuning, trial by trial", words, WIDTH, top + TALL + 46, marks)


def _dot(frame: Frame, place: int, one: Tried) -> Mark:
    look = "ring" if one.pruned else "dot"
    tip = f"trial {place}: {one.validation:.4f}{', stopped early' if one.pruned else ''}; {one.words}"
    return frame.dot(place, one.validation, look=look, colour="s1" if one.chosen else "s6", tip=tip)


def importance(shares: Mapping[str, float]) -> Picture:
    """A bar for every knob, the most important first."""
    left = 24 + max(wide(name) for name in shares)
    x = Linear(0, max(shares.values()) or 1.0, left, WIDTH - 56)
    marks: list[Mark] = []
    for place, (name, share) in enumerate(shares.items()):
        y = 12 + place * ROW
        tip = f"{name}: {share:.1%}"
        marks += [
            Words(left - 8, y + 12, name, "end", look="name"),
            Box(left, y, max(1.0, x.at(share) - left), 16, 2, look="bar", colour="s0", tip=tip),
            Words(x.at(share) + 6, y + 12, f"{share:.0%}", look="tick"),
        ]
    first = next(iter(shares))
    words = f"{first} accounts for {shares[first]:.0%} of the differences between trials"
    return Picture("importance", "Which settings mattered", words, WIDTH, 12 + ROW * len(shares), marks)
