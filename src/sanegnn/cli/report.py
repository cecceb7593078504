"""`report`: the page of a run, of a comparison or of several runs, and its figures and tables as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, Shown


def report(
    *runs: Annotated[Path, Parameter(help="run folders; several are laid beside each other")],
    to: Annotated[
        Path | None,
        Parameter(name=("--output", "-o"), help="the HTML file; otherwise report.html in the run's folder"),
    ] = None,
    figures: Annotated[Path | None, Parameter(help="a folder for every figure as a file")] = None,
    format: Annotated[Literal["svg", "png", "pdf"], Parameter(help="of these figures")] = "svg",
    tables: Annotated[
        Path | None, Parameter(help="a folder for every table as CSV, Markdown and LaTeX")
    ] = None,
    output: Shown = OUTPUT,
) -> None:
    """Draw the report of a run, a comparison or several runs."""
    from sanegnn.reporting.report import report as draw

    path = draw(*runs, to=to, figures=figures, tables=tables, format=format)
    if output.json:
        show.as_json({"report": str(path), "figures": _told(figures), "tables": _told(tables)})
    else:
        show.say(str(path))


def _told(folder: Path | None) -> str | None:
    return None if folder is None else str(folder)
