"""Reports as files: the page of a run or of several, its figures and its tables, from records alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sanegnn.errors import BadSetting
from sanegnn.journal import disk, write_atomic
from sanegnn.reporting import board_page, press, run_page, runs_page, svg
from sanegnn.reporting.page import Page, html
from sanegnn.reporting.scene import Picture
from sanegnn.reporting.tables import WRITERS
from sanegnn.runs import Run

FILE = "report.html"
PAGES: dict[str, Callable[[Run], Page]] = {"compare": board_page.page}
"""What draws the page of a command; that of a single run where it is not told."""
FORMATS: dict[str, Callable[[Picture], bytes]] = {
    "svg": lambda picture: svg.standalone(picture).encode(),
    "png": lambda picture: press.printed(picture, "png"),
    "pdf": lambda picture: press.printed(picture, "pdf"),
}


def page_of(folders: Sequence[Path]) -> Page:
    """The page of one run, or of several beside each other."""
    if not folders:
        raise BadSetting("no run to report on: give one or more run folders, as `sanegnn runs` lists them")
    runs = [Run.reading(folder) for folder in folders]
    if len(runs) > 1:
        return runs_page.page(runs)
    return PAGES.get(str(runs[0].about["command"]), run_page.page)(runs[0])


def report(
    *runs: Path | str,
    to: Path | str | None = None,
    figures: Path | str | None = None,
    tables: Path | str | None = None,
    format: str = "svg",
) -> Path:
    """Draw the report of a run, a comparison or several runs from their records; the path of the page.

    Args:
        runs: run folders.
        to: the HTML file; otherwise `report.html` in the folder of the run, or here for several.
        figures: a folder that every figure is written into.
        tables: a folder that every table is written into, as CSV, Markdown and LaTeX.
        format: of the figures: svg, png or pdf.
    """
    folders = [Path(run) for run in runs]
    page = page_of(folders)
    if figures is not None:
        write_figures(page, Path(figures), format)
    if tables is not None:
        write_tables(page, Path(tables))
    own = folders[0] / FILE if len(folders) == 1 else Path(FILE)
    return _put(Path(to) if to is not None else own, html(page).encode())


def write_figures(page: Page, folder: Path, format: str) -> list[Path]:
    """Every figure as a file."""
    if format not in FORMATS:
        raise BadSetting(f"no figures as {format!r}: known formats are {', '.join(FORMATS)}")
    return [_put(folder / f"{picture.name}.{format}", FORMATS[format](picture)) for picture in page.pictures]


def write_tables(page: Page, folder: Path) -> list[Path]:
    """Every table as CSV, Markdown and LaTeX."""
    return [
        _put(folder / f"{table.name}.{ending}", writer(table).encode())
        for table in page.tables
        for ending, writer in WRITERS.items()
    ]


def _put(path: Path, data: bytes) -> Path:
    with disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, data)
    path.chmod(0o644)
    return path
