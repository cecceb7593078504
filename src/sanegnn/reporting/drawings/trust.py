"""How far the model can be trusted: confidence against what is right, and on which nodes it is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sanegnn.reporting.axes import Frame, legend
from sanegnn.reporting.drawings import WIDTH
from sanegnn.reporting.judged import Share
from sanegnn.reporting.scales import Linear, Named
from sanegnn.reporting.scene import Mark, Picture, Words

LEFT, RIGHT, TALL = 58.0, 18.0, 250.0


def calibration(calm: Sequence[Share], raw: Sequence[Share], gap: float) -> Picture:
    """The share that is right against the confidence; on the diagonal a model means what it says."""
    entries = [("calibrated, with 95% interval", "s0", "circle"), ("as trained", "s1", "diamond")]
    marks, top = legend(entries, LEFT, 16, WIDTH - LEFT)
    least = min(value for one in (*calm, *raw) for value in (one.middle, one.low))
    low = max(0.0, min(0.9, int(least * 10) / 10))
    frame = Frame(Linear(low, 1, LEFT, WIDTH - RIGHT), Linear(low, 1, top + TALL, top))
    marks += frame.axes("confidence", "share that is right")
    marks.append(frame.line([(low, low), (1, 1)], look="rule"))
    marks += [
        frame.dot(one.middle, one.right, 4, "diamond", look="ring", colour="s1", tip=_tip("as trained", one))
        for one in raw
    ]
    marks.append(frame.line([(one.middle, one.right) for one in calm], look="thin", colour="s0"))
    for one in calm:
        marks.append(frame.upright(one.middle, one.low, one.high, look="thin", colour="s0"))
        marks.append(frame.dot(one.middle, one.right, 4, colour="s0", tip=_tip("calibrated", one)))
    words = f"On average confidence and share that is right differ by {100 * gap:.1f} points"
    return Picture("calibration", "Calibration", words, WIDTH, top + TALL + 46, marks)


def _tip(name: str, one: Share) -> str:
    return f"{name}: {one.count} nodes at confidence {one.middle:.3f}, {one.right:.1%} right"


def slices(shares: Sequence[Share], name: str, title: str, across: str) -> Picture:
    """The share that is right in every group of nodes, with the number of nodes below."""
    top = 10.0
    low = max(0.0, int(min(one.low for one in shares) * 10) / 10)
    x = Named([one.name for one in shares], LEFT, WIDTH - RIGHT)
    frame = Frame(x, Linear(low, 1, top + TALL, top))
    marks = [*frame.axes(vertical=False), *_counts(frame, shares, across)]
    for place, one in enumerate(shares):
        said = f"{one.name}: {one.right:.1%} of {one.count:,} right"
        tip = f"{said}, 95% interval {one.low:.1%} to {one.high:.1%}"
        marks.append(frame.upright(place, one.low, one.high, colour="s0", tip=tip))
        marks.append(frame.dot(place, one.right, 5, colour="s0", tip=tip))
    words = "; ".join(f"{one.name}: {one.right:.1%} of {one.count}" for one in shares)
    return Picture(name, title, words, WIDTH, top + TALL + 62, marks)


def _counts(frame: Frame, shares: Sequence[Share], across: str) -> Iterator[Mark]:
    bottom = frame.y.ends[0]
    for place, one in enumerate(shares):
        yield Words(frame.x.at(place), bottom + 31, f"n {one.count:,}", "middle", look="small")
    yield Words(sum(frame.x.ends) / 2, bottom + 52, across, "middle", look="label")
    yield Words(16, (bottom + frame.y.ends[1]) / 2, "share that is right", "middle", True, look="label")
