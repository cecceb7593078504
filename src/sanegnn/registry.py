"""A table of named things that are registered beside their code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from sanegnn.errors import UnknownName

T = TypeVar("T")


@dataclass(frozen=True)
class Entry(Generic[T]):
    """One registered thing, with the work it comes from."""

    name: str
    value: T
    source: str


class Registry(Generic[T]):
    """Names to things of one kind; iterates over the names in the order of their registration.

    A family is registered once and makes its member `family:this:that` of the parts of that name.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Entry[T]] = {}
        self.families: dict[str, Entry[Callable[..., T]]] = {}

    def add(self, name: str, source: str = "") -> Callable[[T], T]:
        """Register what the decorator stands above; a taken name is refused."""
        if name in self._entries:
            raise ValueError(f"a {self.kind} named {name!r} is registered already")

        def keep(value: T) -> T:
            self._entries[name] = Entry(name, value, source)
            return value

        return keep

    def add_family(self, name: str, source: str = "") -> Callable[[Callable[..., T]], Callable[..., T]]:
        """Register a function from the parts of a member's name to the member; a taken name is refused."""
        if name in self.families:
            raise ValueError(f"a family of {self.kind}s named {name!r} is registered already")

        def keep(make: Callable[..., T]) -> Callable[..., T]:
            self.families[name] = Entry(name, make, source)
            return make

        return keep

    def entry(self, name: str) -> Entry[T]:
        """The entry of that name, or the error that suggests the near one."""
        family, *parts = name.split(":")
        if parts:
            if family not in self.families:
                raise UnknownName.of(f"family of {self.kind}s", family, self.families)
            made = self.families[family]
            return Entry(name, made.value(*parts), made.source)
        if name not in self._entries:
            raise UnknownName.of(self.kind, name, self._entries)
        return self._entries[name]

    def __getitem__(self, name: str) -> T:
        return self.entry(name).value

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)
