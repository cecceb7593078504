"""Pictures as SVG: inside the page, where its style paints them, or as a file of their own."""

from __future__ import annotations

from functools import singledispatch

from sanegnn.reporting.looks import FONT, LOOKS, style, variables
from sanegnn.reporting.markup import Element, Raw, element, number
from sanegnn.reporting.scene import Box, Disc, Mark, Path, Picture, Words


def drawn(picture: Picture) -> Element:
    """The picture as an element; its marks tell more by a <title>."""
    size = f"0 0 {number(picture.width)} {number(picture.height)}"
    label = f"{picture.title}. {picture.words}."
    attributes = {"viewBox": size, "role": "img", "aria-label": label, "class": "figure"}
    return Element("svg", attributes, tuple(_mark(mark) for mark in picture.marks))


def standalone(picture: Picture) -> str:
    """An SVG file, in the light colours."""
    found = drawn(picture)
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": picture.width,
        "height": picture.height,
        **found.attributes,
        "style": f"{variables(dark=False)};font-family:{FONT}",
    }
    rules = element("style", Raw("".join(style("svg"))))
    ground = element("rect", width="100%", height="100%", fill="var(--page)")
    title = element("title", picture.title)
    return f"{Element('svg', attributes, (title, rules, ground, *found.children))}\n"


def _mark(mark: Mark) -> Element:
    plain = element("title", mark.tip) if mark.tip else None
    found = painted(mark)
    shown = {"class": f"{mark.look} c-{mark.colour}" if _has_main(mark.look) else mark.look}
    if mark.strength < 1:
        shown["fill-opacity"] = number(mark.strength)
    return Element(found.tag, {**found.attributes, **shown}, (*found.children, plain))


def _has_main(look: str) -> bool:
    return "main" in (LOOKS[look].fill, LOOKS[look].stroke)


@singledispatch
def painted(mark: Mark) -> Element:
    """The element of a mark, without its look."""
    raise TypeError(f"no hand for {type(mark).__name__}")


@painted.register
def _(mark: Box) -> Element:
    corner = mark.radius or None
    return element("rect", x=mark.x, y=mark.y, width=mark.width, height=mark.height, rx=corner)


@painted.register
def _(mark: Disc) -> Element:
    return element("circle", cx=mark.x, cy=mark.y, r=mark.radius)


@painted.register
def _(mark: Path) -> Element:
    steps = "L".join(f"{number(x)} {number(y)}" for x, y in mark.points)
    return element("path", d=f"M{steps}{'Z' if mark.closed else ''}")


@painted.register
def _(mark: Words) -> Element:
    turn = f"rotate(-90 {number(mark.x)} {number(mark.y)})" if mark.turned else None
    anchor = None if mark.anchor == "start" else mark.anchor
    return element("text", mark.text, x=mark.x, y=mark.y, text_anchor=anchor, transform=turn)
