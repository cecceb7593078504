"""Family: operations that are told by their components, which join into one name.

    graphnas:gat:sum:elu:8:64       family, attention, aggregator, activation, heads, width

An operation with a plain name is the case of one component and no family before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sanegnn.errors import BadArchitecture, UnknownName

Components = tuple[tuple[str, tuple[str, ...]], ...]
"""Kinds of components, each with its choices."""


@dataclass(frozen=True)
class Family:
    """The operations that take one choice of every component."""

    name: str
    components: Components

    @classmethod
    def plain(cls, kind: str, names: tuple[str, ...]) -> Family:
        """The operations of one kind that have a plain name."""
        return cls("", ((kind, names),))

    @property
    def form(self) -> str:
        """The name of a member with the kinds in place of the choices."""
        return self.join(f"<{kind}>" for kind, _ in self.components)

    def join(self, picks: Iterable[str]) -> str:
        """The name of the member with these choices."""
        return ":".join([self.name, *picks] if self.name else picks)

    def split(self, member: str) -> dict[str, str]:
        """Kind to choice; the inverse of `join`."""
        first, *parts = member.split(":")
        if self.name and first != self.name:
            raise BadArchitecture(f"{member!r} is not of this space: its operations read {self.form}")
        return self.read(parts if self.name else [member])

    def read(self, picks: Iterable[str]) -> dict[str, str]:
        """Kind to choice, for choices in the order of the components."""
        given = tuple(picks)
        if len(given) != len(self.components):
            raise BadArchitecture(f"{self.join(given)!r} does not read {self.form}")
        for (kind, choices), pick in zip(self.components, given, strict=True):
            if pick not in choices:
                what = f"of {self.name!r}" if self.name else "operation of this space"
                raise UnknownName.of(f"{kind} {what}", pick, choices)
        return {kind: pick for (kind, _), pick in zip(self.components, given, strict=True)}
