"""A Python file of parts of `sanegnn.plain`: only what is used, in the order in which it is needed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sanegnn import plain

HOME = "sanegnn.plain"


@dataclass(frozen=True)
class Part:
    """A class or a function with the names that it uses, and the imports that bring them."""

    name: str
    text: str
    uses: frozenset[str]
    imports: tuple[ast.stmt, ...]


@cache
def parts() -> dict[str, Part]:
    """Every class and function of `sanegnn.plain`, each behind those that it uses."""
    found: dict[str, Part] = {}
    for module in plain.MODULES:
        text = files(plain).joinpath(f"{module}.py").read_text(encoding="utf-8")
        tree = ast.parse(text)
        imports = tuple(node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found[node.name] = Part(node.name, _text(text, node), _names(node), imports)
    return found


def _text(module: str, node: ast.ClassDef | ast.FunctionDef) -> str:
    """The lines of a class or function, decorators too."""
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return "\n".join(module.splitlines()[first - 1 : node.end_lineno])


def _names(tree: ast.AST) -> frozenset[str]:
    """Every name that is read somewhere in the tree."""
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def needed(names: Iterable[str]) -> list[Part]:
    """The parts of these names and all that they use, in the order of the modules."""
    known, wanted = parts(), [name for name in names if name in parts()]
    kept: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in kept:
            kept.add(name)
            wanted += [used for used in known[name].uses if used in known]
    return [part for name, part in known.items() if name in kept]


def together(about: str, chosen: Sequence[Part], own: str) -> str:
    """The file: what it is about, imports, the parts, and `own` code behind them."""
    body = [*(part.text for part in chosen), own]
    used = frozenset().union(*(part.uses for part in chosen), _names(ast.parse(own)))
    lines = _imports([node for part in chosen for node in part.imports], used)
    return "\n\n\n".join([f"{about}\n\n{lines}", *body]) + "\n"


def _imports(nodes: Iterable[ast.stmt], used: frozenset[str]) -> str:
    """The import statements for the names that are used, sorted as formatters sort them."""
    plainly: set[tuple[str, str]] = set()
    members: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            plainly |= {(one.name, _written(one)) for one in node.names if (one.asname or one.name) in used}
        if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith(HOME):
            taken = {_written(one) for one in node.names if (one.asname or one.name) in used}
            members.setdefault(node.module or "", set()).update(taken)
    groups: dict[int, list[tuple[bool, str, str]]] = {0: [(True, "", "from __future__ import annotations")]}
    for module, text in plainly:
        groups.setdefault(_group(module), []).append((False, module, f"import {text}"))
    for module, taken in members.items():
        if taken and module != "__future__":
            names = ", ".join(sorted(taken, key=_isorted))
            groups.setdefault(_group(module), []).append((True, module, f"from {module} import {names}"))
    blocks = ["\n".join(line for *_, line in sorted(groups[key])) for key in sorted(groups)]
    return "\n\n".join(blocks)


def _written(name: ast.alias) -> str:
    return f"{name.name} as {name.asname}" if name.asname else name.name


def _group(module: str) -> int:
    """The standard library before all others."""
    import sys

    return 1 if module.partition(".")[0] in sys.stdlib_module_names else 2


def _isorted(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, name
