"""The report on a comparison."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from sanegnn.comparison import Leaderboard, Row, Told, everyone
from sanegnn.comparison.tables import HEADS, cells
from sanegnn.comparison.words import words
from sanegnn.reporting import efficiency
from sanegnn.reporting.drawings import architecture as chain
from sanegnn.reporting.drawings import efficiency as drawing
from sanegnn.reporting.drawings import ranking
from sanegnn.reporting.drawings.ranking import Standing
from sanegnn.reporting.intervals import around_mean, reach
from sanegnn.reporting.markup import sentence
from sanegnn.reporting.page import Answer, Cell, Exhibit, Page, Section, Wide
from sanegnn.reporting.sections import graph
from sanegnn.reporting.story import Story
from sanegnn.reporting.tables import Table
from sanegnn.runs import Run
from sanegnn.space import Architecture

FORMS = ("", "", *(".2f",) * 4, "+.2f", ".2f", ".4f", "", ".1f", ".1f", ".1f", ",.0f", ",.0f")
KINDS = {"search": "s1", "human": "s0"}


def page(run: Run) -> Page:
    """The whole page."""
    told = everyone(run.path)
    board = leaderboard(run, told)
    told_of = [_standings(board), _time(told, board), _found(board), graph.repeat(Story(run), _asked(board))]
    sections = [section for section in told_of if section is not None]
    splits = f"{len(board.splits)} split{'s' * (len(board.splits) != 1)}"
    return Page(
        f"{board.dataset}: {run.name}",
        f"sanegnn compare on {board.dataset}, {splits}",
        _answer(board, told, run),
        sections,
    )


def leaderboard(run: Run, told: Sequence[Told]) -> Leaderboard:
    """The rows as far as the lanes are done; metric and notes as the comparison left them."""
    kept = _kept(run.path / "leaderboard.json")
    splits = sorted({lane.split for lane in told}, key=lambda name: (len(name), name))
    metric = str(kept.get("metric") or run.settings.get("race", {}).get("metric") or "score")
    return Leaderboard.of(run.name, str(run.about["dataset"]), metric, splits, told)


def _asked(board: Leaderboard) -> list[str]:
    """Contenders and splits, which are no settings of a comparison."""
    names = ",".join(row.contender for row in board.rows)
    return ["--contenders", names, "--splits", ",".join(board.splits)]


def _kept(path: Path) -> dict[str, object]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _answer(board: Leaderboard, told: Sequence[Told], run: Run) -> Answer:
    scored = _scored(board)
    said = _said(board) if scored else []
    running = sum(not lane.done for lane in told)
    facts = [("contenders", str(len(board.rows))), ("splits", ", ".join(board.splits)), ("run", run.name)]
    if running:
        facts.insert(0, ("still running", f"{running} of {len(told)} lanes"))
    if not scored:
        return Answer("unfinished", "", "no contender has a test score yet", said, facts)
    first, half = scored[0], reach(_noise(scored[0]))
    spread = f"± {half:.4f}" if math.isfinite(half) else ""
    label = f"test {board.metric} of {first.contender}, the first of {len(scored)}, with its 95% interval"
    return Answer(f"{first.test:.4f}", spread, label, said[:4], facts)


def _said(board: Leaderboard) -> list[str]:
    return [sentence(one, [row.contender for row in board.rows]) for one in words(board)]


def _scored(board: Leaderboard) -> list[Row]:
    return [row for row in board.rows if row.tests]


def _noise(row: Row) -> list[float]:
    """The means of the splits, or the trainings of a single one."""
    means = [fmean(scores) for scores in row.tests.values()]
    return means if len(means) > 1 else list(next(iter(row.tests.values())))


def _standings(board: Leaderboard) -> Section | None:
    rows = _scored(board)
    if not rows:
        return None
    over = "splits" if len(board.splits) > 1 else "trainings on the one split"
    caption = (
        f"Small dots are single {over}, bars the 95% interval of their mean (Student's t). Orange searches,"
        " blue was designed by people. Splits are shared, so the paired differences in the table say more"
        " than bars that overlap."
    )
    picture = ranking.draw(list(_bars(rows)), "leaderboard", "The leaderboard", f"test {board.metric}")
    rows_of = [list(cells(row, board).values()) for row in rows]
    table = Table(
        "leaderboard", "All numbers, scores in points of a hundred", list(HEADS.values()), rows_of, FORMS
    )
    said = _said(board)[4:]
    return Section("leaderboard", "Who won over whom", said, [Exhibit(picture, caption), Wide(table)])


def _bars(rows: Sequence[Row]) -> Iterator[Standing]:
    for row in rows:
        single = _noise(row)
        mean, low, high = around_mean(single)
        yield Standing(
            row.contender, mean, low, high, single, KINDS.get(row.kind, "s2"), "tie" if row.tied else ""
        )


def _time(told: Sequence[Told], board: Leaderboard) -> Section | None:
    found = efficiency.lines(told)
    cells_of: list[Cell] = []
    captions = {
        "validation": "The best so far by validation, the mean over splits. Human designs are dashed.",
        "test": "The test score of that same net, computed after the race; nothing was chosen by it.",
    }
    for part, caption in captions.items():
        racers = [
            drawing.Racer(one.name, one.kind, getattr(one, part), one.end, place)
            for place, one in enumerate(found)
            if getattr(one, part)
        ]
        if racers:
            picture = drawing.race(racers, f"efficiency-{part}", f"{part} {board.metric}")
            rows = [(one.name, seconds, score) for one in racers for seconds, score in one.curve]
            heads = ("contender", "seconds", f"{part} {board.metric}")
            table = Table(f"efficiency-{part}", "The curves", heads, rows, ("", ",.1f", ".4f"))
            cells_of.append(Exhibit(picture, caption, table))
    return Section("efficiency", "What it cost", [], cells_of) if cells_of else None


def _found(board: Leaderboard) -> Section | None:
    """The architectures that the contenders ended with, the best searcher's drawn."""
    scored = _scored(board)
    rows = [(row.contender, split, text) for row in scored for split, text in row.architectures.items()]
    cells_of: list[Cell] = [
        Table("architectures", "What each ended with", ("contender", "split", "net"), rows)
    ]
    best = next((row for row in scored if row.kind == "search"), None)
    text = next(iter(best.architectures.values()), "") if best else ""
    if best and text:
        try:
            picture = chain.draw(Architecture.parse(text))
        except ValueError:
            picture = None
        if picture:
            cells_of.insert(0, Exhibit(picture, f"{text}, found by {best.contender}, the best searcher."))
    return Section("found", "What was found", [], cells_of) if rows else None
