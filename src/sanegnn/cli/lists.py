"""`datasets`, `ops`, `space`, `runs` and `doctor`: the commands that only look."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, Shown, flat
from sanegnn.settings import DataChoice, Machine, RunChoice, Search


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
    from sanegnn.ops import layer_ops, node_ops, skip_ops

    rows = [
        {"kind": registry.kind, "name": name, "source": registry.entry(name).source}
        for registry in (node_ops, skip_ops, layer_ops)
        for name in registry
    ]
    show.rows(output, "ops", rows)


def space(
    name: Annotated[str, Parameter(help="a search space by name")] = Search().space,
    /,
    *,
    depth: Annotated[int, Parameter(help="K, the number of layers")] = Search().depth,
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
    dataset: Annotated[str, Parameter(help="a dataset by name")],
    /,
    *,
    data: Annotated[DataChoice, flat("Data")] = DataChoice(),
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    output: Shown = OUTPUT,
) -> None:
    """What a careful colleague would say about a graph."""
    from sanegnn.data import load, resolve
    from sanegnn.data.doctor import examine

    graph = load(dataset, machine.data_root)
    graph = graph.undirected() if data.undirected else graph
    findings = examine(graph, resolve(graph, data.split))
    show.rows(output, "findings", [asdict(finding) for finding in findings])
