"""`export` and `explain`: what becomes of a trained model, and why it says what it says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, TABLES_GIVEN, Given, Shown, chosen, flat
from sanegnn.errors import BadSetting
from sanegnn.settings import DataChoice, Machine, Repeats

if TYPE_CHECKING:
    from sanegnn.explaining import Design, Explanation

ModelPath = Annotated[Path, Parameter(help="the folder runs/<name>/model, or the run's own")]


def export(
    model: ModelPath,
    /,
    *,
    to: Annotated[str, Parameter(help="code, onnx or torch")] = "code",
    folder: Annotated[
        Path | None, Parameter(name=("--output", "-o"), help="folder of the files; export/ in the run's own")
    ] = None,
    output: Shown = OUTPUT,
) -> None:
    """Write a trained model as Python source, as ONNX or as a program of torch.export, and check it."""
    from sanegnn import uses

    done = uses.export(model, to, folder)
    if output.json:
        return show.as_json(done.table())
    for file in done.files:
        show.say(file)
    return show.say(f"largest difference {done.difference:.1e} (allowed {done.within:.0e}) on {done.graphs}")


def explain(
    model: ModelPath,
    dataset: Annotated[str | None, Parameter(help="a dataset by name, or an .npz file")] = None,
    /,
    *,
    node: Annotated[str | None, Parameter(help="id of the node whose prediction is explained")] = None,
    top: Annotated[int, Parameter(help="edges, nodes and features shown")] = 10,
    tables: Given = TABLES_GIVEN,
    repeats: Annotated[Repeats, flat("Training")] = Repeats(3),
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    output: Shown = OUTPUT,
) -> None:
    """Say why a node is predicted so; without --node, what every operation of a run's design is worth."""
    from sanegnn import uses
    from sanegnn.data.opening import opened

    given = chosen(dataset, tables, default="")
    if node is None:
        with show.working(output) as listen:
            design = uses.explain(model, given or None, repeats=repeats, machine=machine, on_event=listen)
        return _design(output, design)
    if not given:
        raise BadSetting("nothing to explain in: give --nodes and --edges, or a dataset by name")
    data = given if tables.nodes or tables.edges else opened(given, DataChoice(), machine)
    return _node(output, uses.explain(model, data, node=node, top=top))


def _node(output: Shown, found: Explanation) -> None:
    """The explanation of a node as lines and tables."""
    if output.json:
        return show.as_json(found.table())
    show.say(f"node              {found.node}")
    show.say(f"predicted         {found.predicted}, p {found.probability:.4f}")
    show.say(f"without features  p {found.without_features:.4f}")
    show.say(f"without messages  p {found.without_edges:.4f}")
    for name, rows in (("edges", found.edges), ("nodes", found.nodes), ("features", found.features)):
        show.say("")
        show.rows(output, name, [vars(row) for row in rows])
    return None


def _design(output: Shown, found: Design) -> None:
    """The explanation of a design as lines and a table."""
    if output.json:
        return show.as_json(found.table())
    show.say(f"{found.architecture}")
    show.say(f"validation {found.metric} {found.validation:.4f} over {found.repeats} fresh seeds\n")
    return show.rows(output, "slots", found.table()["rows"])
