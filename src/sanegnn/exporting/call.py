"""One description of a net, from which it is built and from which its source is written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import torch

from sanegnn import plain

WIDE = 88
INDENT = 4


@dataclass(frozen=True)
class Call:
    """`name(*args, **named)`, where the name is a class of `sanegnn.plain` or one of `torch.nn`."""

    name: str
    args: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()

    def build(self) -> Any:
        """What the call gives."""
        named = {name: _built(value) for name, value in self.named}
        return _found(self.name)(*map(_built, self.args), **named)

    def source(self, column: int = 0, before: int = 0) -> str:
        """The call as a formatter writes it, at that indentation and behind so many characters."""
        return _bracketed(f"{self.name}(", _items(self), ")", column, before)

    @property
    def names(self) -> set[str]:
        """Every class that is called."""
        inner = [*self.args, *(value for _, value in self.named)]
        return {self.name}.union(*map(_names, inner))


def call(name: str, *args: Any, **named: Any) -> Call:
    """A call; arguments that are None are left to their default."""
    return Call(name, args, tuple((key, value) for key, value in named.items() if value is not None))


@cache
def _found(name: str) -> Any:
    """The class of that name."""
    if name.startswith("nn."):
        return getattr(torch.nn, name.removeprefix("nn."))
    modules = [import_module(f"sanegnn.plain.{module}") for module in plain.MODULES]
    return next(getattr(module, name) for module in modules if hasattr(module, name))


def _built(value: Any) -> Any:
    if isinstance(value, Call):
        return value.build()
    return [_built(one) for one in value] if isinstance(value, tuple) else value


def _names(value: Any) -> set[str]:
    if isinstance(value, Call):
        return value.names
    return set().union(*map(_names, value)) if isinstance(value, tuple) else set()


def _items(call: Call) -> list[tuple[str, Any]]:
    """What stands between the brackets: the text before a value, and the value."""
    return [("", value) for value in call.args] + [(f"{name}=", value) for name, value in call.named]


def _bracketed(begin: str, items: list[tuple[str, Any]], end: str, column: int, before: int) -> str:
    """All in one line where it fits, otherwise an item a line."""
    flat = begin + ", ".join(name + _flat(value) for name, value in items) + end
    if column + before + len(flat) <= WIDE:
        return flat
    inner = column + INDENT
    lines = [f"{' ' * inner}{name}{_written(value, inner, len(name) + 1)}," for name, value in items]
    return "\n".join([begin, *lines, " " * column + end])


def _flat(value: Any) -> str:
    if isinstance(value, Call):
        return f"{value.name}({', '.join(name + _flat(one) for name, one in _items(value))})"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_flat, value))}]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _written(value: Any, column: int, before: int) -> str:
    if isinstance(value, Call):
        return value.source(column, before)
    if isinstance(value, tuple):
        return _bracketed("[", [("", one) for one in value], "]", column, before)
    return _flat(value)
