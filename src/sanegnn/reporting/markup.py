"""HTML and SVG as values: elements that print themselves, with every name and text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What neither HTML nor XML can hold."""
VOID = {"br", "hr", "meta"}


class Raw(str):
    """Text that is markup already: our own style and script."""


@dataclass(frozen=True)
class Element:
    """A tag with its attributes and what is inside; None is left out, True has no value."""

    tag: str
    attributes: dict[str, Any] = field(default_factory=dict)
    children: tuple[Child, ...] = ()

    def __str__(self) -> str:
        return "".join(_pieces(self))


Child = Element | str | None


def element(tag: str, *children: Child, **attributes: Any) -> Element:
    """`element("p", "text", class_="lead", aria_label="so")`: underscores are hyphens, a last one goes."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return Element(tag, named, children)


def text_of(text: object) -> str:
    """A text as both languages can hold it, escaped."""
    return escape(NO_TEXT.sub("\ufffd", str(text)))


def _pieces(child: Child) -> Iterator[str]:
    if child is None:
        return
    if isinstance(child, Raw):
        yield str(child)
    elif isinstance(child, Element):
        yield f"<{child.tag}{''.join(map(_attribute, child.attributes.items()))}>"
        for inner in child.children:
            yield from _pieces(inner)
        if child.tag not in VOID:
            yield f"</{child.tag}>"
    else:
        yield text_of(child)


def _attribute(item: tuple[str, Any]) -> str:
    name, value = item
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    return f' {name}="{number(value) if isinstance(value, float) else text_of(value)}"'


def sentence(text: str, names: Iterable[str] = ()) -> str:
    """The text with a capital and a full stop; a name at its beginning stays as it is."""
    capital = text if text.startswith(tuple(names)) else text[:1].upper() + text[1:]
    return capital if capital.endswith(".") else f"{capital}."


def number(value: float) -> str:
    """A coordinate: at most two decimals, no zeros at the end."""
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-0", "0" if abs(value) < 0.005 else "-0")
