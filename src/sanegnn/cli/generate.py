"""`generate`: data from a seed, written in the layout of a known dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, Shown
from sanegnn.errors import UnknownName


def generate(
    kind: Annotated[str, Parameter(help="what is made: ppi-like")],
    folder: Annotated[Path, Parameter(help="where the raw files are written")],
    /,
    *,
    seed: Annotated[int, Parameter(help="every random number follows from it")] = 0,
    scale: Annotated[float, Parameter(help="nodes, as a share of the original's")] = 0.1,
    output: Shown = OUTPUT,
) -> None:
    """Write generated data in the layout of a known dataset."""
    from sanegnn.data.ppilike import ppi_like, write_ppi

    if kind != "ppi-like":
        raise UnknownName.of("generator", kind, ["ppi-like"])
    parts = ppi_like(seed, scale)
    write_ppi(folder, parts)
    graphs = [one for part in parts.values() for one in part]
    nodes, edges = (
        sum(sizes) for sizes in zip(*((len(one.x), one.edges.shape[1]) for one in graphs), strict=True)
    )
    if output.json:
        return show.as_json({"folder": str(folder), "graphs": len(graphs), "nodes": nodes, "edges": edges})
    return show.say(f"{len(graphs)} graphs in {folder}: {nodes:,} nodes, {edges:,} undirected edges")
