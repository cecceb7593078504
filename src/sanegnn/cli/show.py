"""What a command leaves on stdout: a short summary for people, or one line of JSON for machines."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from rich.console import Console
from rich.table import Table

from sanegnn.cli.config import Output
from sanegnn.cli.progress import Board, clock, watching
from sanegnn.errors import SaneError
from sanegnn.events import Listener
from sanegnn.listing import known
from sanegnn.reporting.report import FILE
from sanegnn.results import Result
from sanegnn.runs import Run
from sanegnn.settings import RunChoice

KEYS = ("run", "dataset", "split", "architecture", "setting", "metric", "validation", "test", "seconds")
"""What every JSON object has, null where a command has no such thing."""
UNBOUND = 1000
"""The width of tables that no terminal cuts: every row is one line."""
LEADERS = 5
"""How many of the other candidates a summary shows."""


@contextmanager
def working(output: Output) -> Iterator[Listener]:
    """Show the progress of a job; on Ctrl-C say what is known so far and how to go on."""
    with watching(output.quiet) as (board, listen):
        try:
            yield listen
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_so_far(board)) from None


def _so_far(board: Board) -> str:
    """One line about an unfinished run."""
    if board.folder is None:
        return "stopped before anything was found"
    try:
        have = known(Run.reading(board.folder))
    except SaneError as error:
        return f"stopped; {error}"
    found = f"so far {have.architecture}" if have.architecture else "no architecture was chosen yet"
    score = f" (validation {have.validation:.4f})" if have.validation is not None else ""
    where = f"{board.stage.name} {board.done}/{board.stage.total}"
    return f"stopped at {where}: {found}{score}; the same command goes on from {board.folder}"


def result(output: Output, result: Result, run: RunChoice) -> None:
    """The end of a job."""
    if output.json:
        as_json(result.table())
        return
    lines = {
        "architecture": result.architecture,
        "setting": _words(result.setting),
        "dataset": f"{result.dataset}, split {result.split}",
        "validation": _score(result, result.validations),
        "test": _score(result, result.tests) if result.tests else "sealed",
        "saved model": f"{result.together:.4f}, the trainings averaged" if result.together else "",
        "run": f"{result.run}, {clock(result.seconds)}",
        "report": drawn(Path(run.folder) / result.run),
    }
    for name, text in filter(lambda line: line[1], lines.items()):
        say(f"{name:<12}  {text}")
    say(f"\n{result.words}")
    if result.others:
        say("")
        rows(output, "others", result.others[:LEADERS])


def drawn(folder: Path) -> str:
    """Where the report of a run is; nothing where there is none."""
    page = folder / FILE
    return str(page) if page.exists() else ""


def _score(result: Result, scores: Sequence[float]) -> str:
    """The mean, with its deviation when there are several scores."""
    spread = f" ± {stdev(scores):.4f} over {len(scores)} trainings" if len(scores) > 1 else ""
    return f"{fmean(scores):.4f}{spread}, {result.metric}"


def rows(output: Output, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of alike rows."""
    if output.json:
        as_json({name: rows})
        return
    if not rows:
        say(f"no {name}")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in rows[0]:
        numbers = all(isinstance(row[column], int | float | None) for row in rows)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_words, row.values()))
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else UNBOUND)
    with console.capture() as drawn:
        console.print(table)
    for line in drawn.get().splitlines():
        say(line.rstrip())


def as_json(table: Mapping[str, Any]) -> None:
    """One line of strict JSON."""
    say(json.dumps(_plain({**dict.fromkeys(KEYS), **table}), ensure_ascii=False, allow_nan=False))


def say(line: str) -> None:
    """One line on stdout."""
    sys.stdout.write(f"{line}\n")


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, str | int | None):
        return value
    return [_plain(item) for item in value] if isinstance(value, Iterable) else str(value)


def _words(value: Any) -> str:
    """A value as people read it."""
    for kind, words in WORDS:
        if isinstance(value, kind):
            return words(value)
    return str(value)


WORDS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (type(None), lambda _: ""),
    (bool, lambda value: "yes" if value else "no"),
    (int, lambda value: f"{value:,}"),
    (float, lambda value: f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}"),
    (Mapping, lambda table: ", ".join(f"{key} {_bare(value)}" for key, value in table.items())),
    (list | tuple, lambda values: ", ".join(map(_words, values))),
)


def _bare(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
