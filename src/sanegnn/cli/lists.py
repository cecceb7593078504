"""`datasets`, `ops`, `space`, `runs` and `doctor`: the commands that only look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, TABLES_GIVEN, Given, Shown, chosen, flat
from sanegnn.settings import DataChoice, Machine, RunChoice, Setting, Value
from sanegnn.space import Architecture

if TYPE_CHECKING:
    from sanegnn.data.base import Source
    from sanegnn.data.columns import Column

MANY = 8
"""From so many columns of one kind on, side by side, one row tells of all."""

DEEP = 6
"""Stacks of more layers are told by their number."""


def datasets(*, output: Shown = OUTPUT) -> None:
    """The datasets that have a name."""
    from sanegnn.data import datasets as registered

    rows = []
    for name in registered:
        known = registered[name]
        numbers = known.numbers._asdict() if known.numbers else {}
        sizes = {key: numbers.get(key) for key in ("nodes", "edges", "features", "classes")}
        rows.append({"name": name, "title": known.title, **sizes, "metric": known.metric})
    show.rows(output, "datasets", rows)


def ops(*, output: Shown = OUTPUT) -> None:
    """The operations that an architecture is made of."""
    from sanegnn.ops import layer_ops, node_ops, pool_ops, skip_ops
    from sanegnn.space import Family, presets, space

    rows = [
        {"kind": registry.kind, "name": name, "source": registry.entry(name).source}
        for registry in (node_ops, skip_ops, layer_ops, pool_ops)
        for name in registry
    ]
    searched = [space(name, 1).node_ops for name in presets]
    families = {one.name: one.form for one in searched if isinstance(one, Family)}
    for name, entry in node_ops.families.items():
        kind = f"family of {node_ops.kind}s"
        rows.append({"kind": kind, "name": families.get(name, name), "source": entry.source})
    show.rows(output, "ops", rows)


def baselines(
    dataset: Annotated[str, Parameter(help="the dataset that the published sizes are for")] = "cora",
    /,
    *,
    output: Shown = OUTPUT,
) -> None:
    """The networks that people designed, with their published settings."""
    from sanegnn.baselines import designs

    rows = []
    for name in designs:
        design, source = designs[name](dataset), designs.entry(name).source
        for one in design.variants:
            text = str(one) if output.json else _short(one)
            setting = design.setting.table() if output.json else _turned(design.setting)
            rows.append({"name": name, "architecture": text, "setting": setting, "source": source})
    show.rows(output, "baselines", rows)


def _short(architecture: Architecture) -> str:
    """The text of an architecture, or the number of its layers where that is too long to read."""
    deep = architecture.depth > DEEP and len(set(architecture.nodes)) == 1
    return f"{architecture.depth} × {architecture.nodes[0]}" if deep else str(architecture)


def _turned(setting: Setting) -> dict[str, Value]:
    """The knobs of a setting that do not stand at their default, and the width."""
    usual = Setting().table()
    return {
        knob: value for knob, value in setting.table().items() if knob == "hidden" or value != usual[knob]
    }


def space(
    name: Annotated[str, Parameter(help="a search space by name")] = "paper",
    /,
    *,
    depth: Annotated[int, Parameter(help="K, the number of layers")] = 3,
    output: Shown = OUTPUT,
) -> None:
    """A search space: its choices and its size."""
    from sanegnn.space import space as named

    chosen = named(name, depth)
    rows = [{"slot": slot.key, "choices": slot.choices} for slot in chosen.slots]
    if output.json:
        return show.as_json({"space": name, "depth": depth, "slots": rows, "size": chosen.size})
    show.rows(output, "slots", rows)
    return show.say(f"{chosen.size:,} architectures")


def runs(
    *,
    folder: Annotated[Path, Parameter(help="where the run folders are")] = Path(RunChoice().folder),
    output: Shown = OUTPUT,
) -> None:
    """The runs of a folder, with what they found."""
    from sanegnn.listing import listing

    show.rows(output, "runs", [asdict(row) for row in listing(folder)])


def doctor(
    dataset: Annotated[str | None, Parameter(help="a dataset by name, an .npz file or a folder")] = None,
    /,
    *,
    tables: Given = TABLES_GIVEN,
    data: Annotated[DataChoice, flat("Data")] = DataChoice(),
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    output: Shown = OUTPUT,
) -> None:
    """What a careful colleague would say about a graph."""
    from sanegnn.data.opening import opened
    from sanegnn.data.rounds import look_over
    from sanegnn.tasks import kind_of

    found = opened(chosen(dataset, tables), data, machine)
    kind_of(found, data.task)
    findings = [asdict(finding) for finding in look_over(found, data)]
    source = getattr(found, "source", None)
    columns = _columns(source) if source else []
    if output.json:
        return show.as_json({"columns": columns, "findings": findings} if columns else {"findings": findings})
    if columns:
        show.rows(output, "columns", columns)
        show.say("")
    return show.rows(output, "findings", findings)


def _columns(source: Source) -> list[dict[str, Any]]:
    """What the columns of a table were taken for; neighbours of one kind share a row where there are many."""
    fitted = source.preprocessing
    rows = [{"column": name, "taken for": role, "features": 0} for name, role in fitted.others]
    rows = [{**row, "missing": None, "told": ""} for row in rows]
    groups = groupby(fitted.columns, key=lambda column: column.kind)
    for kind, alike in ((kind, list(group)) for kind, group in groups):
        if len(alike) > MANY:
            name = f"{alike[0].name} … {alike[-1].name}"
            told = f"{len(alike):,} columns"
            rows.append(_row(name, kind, alike, told))
        else:
            rows += [_row(column.name, kind, [column], column.words) for column in alike]
    return rows


def _row(name: str, kind: str, columns: Sequence[Column], told: str) -> dict[str, Any]:
    features = sum(len(column.names) for column in columns)
    missing = sum(column.missing for column in columns)
    return {"column": name, "taken for": kind, "features": features, "missing": missing, "told": told}
