"""How the winner was chosen: finalists, candidates and trials."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sanegnn.records import Trial
from sanegnn.reporting.drawings import ranking
from sanegnn.reporting.drawings import tuning as trialled
from sanegnn.reporting.drawings.ranking import Standing
from sanegnn.reporting.importance import importances
from sanegnn.reporting.intervals import around_mean
from sanegnn.reporting.markup import sentence
from sanegnn.reporting.page import Cell, Exhibit, Section, Wide
from sanegnn.reporting.story import Story
from sanegnn.reporting.tables import Cell as TableCell
from sanegnn.reporting.tables import Table

MOST = 12
"""Finalists that are drawn."""


def candidates(story: Story) -> Section | None:
    """The finalists with their intervals, and all candidates."""
    scores = {name: own for name, own in story.retrained.items() if all(map(math.isfinite, own))}
    cells: list[Cell] = []
    if len(scores) > 1:
        cells.append(_finalists(story, scores))
    others = story.result.get("others", ())
    if others:
        cells.append(_others(others))
    if not cells:
        return None
    words = [sentence(story.verdict.words)] if story.verdict else []
    words.append("The choice looks at validation scores alone; the test was opened for the winner.")
    return Section("candidates", "What won over what", words, cells)


def _finalists(story: Story, scores: Mapping[str, list[float]]) -> Exhibit:
    chosen = str(story.architecture)
    rows = [
        Standing(name, *around_mean(own), own, "s1" if name == chosen else "s6")
        for name, own in list(scores.items())[:MOST]
    ]
    picture = ranking.draw(rows, "finalists", "The finalists", f"validation {story.metric}")
    caption = (
        "Fresh trainings from new seeds: small dots are single ones, bars the 95% interval of their mean."
    )
    heads = ("architecture", "mean", "from", "to", "trainings")
    table = Table(
        "finalists",
        "The finalists",
        heads,
        [(row.name, row.score, row.low, row.high, len(row.single)) for row in rows],
        ("", ".4f", ".4f", ".4f"),
    )
    return Exhibit(picture, caption, table)


def _others(others: list[Mapping[str, Any]]) -> Table:
    first = others[0]
    rows = [tuple(one[head] for head in first) for one in others]
    formats = tuple(".4f" if isinstance(value, float) else "" for value in first.values())
    return Table("candidates", "All candidates by their best score", tuple(first), rows, formats)


def tuning(story: Story) -> Section | None:
    """The history and what mattered."""
    if len(story.trials) < 2:
        return None
    chosen = str(story.architecture)
    tried = [
        trialled.Tried(one.validation, one.architecture == chosen, one.pruned, _words(one))
        for one in story.trials
    ]
    caption = (
        "Hollow dots were stopped early; those off the scale lie on its edge. The line is the best so far."
    )
    cells: list[Cell] = [Exhibit(trialled.history(tried, story.metric), caption)]
    shares = importances(story.trials)
    if shares:
        cells.append(_importance(shares))
    cells.append(Wide(_trials(story)))
    words = [
        f"{len(story.trials)} trials over {len({one.architecture for one in story.trials})} architectures."
    ]
    return Section("tuning", "The tuning", words, cells)


def _words(one: Trial) -> str:
    told = ", ".join(f"{name} {_short(value)}" for name, value in one.setting.items())
    return f"{one.architecture}: {told}"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _importance(shares: Mapping[str, float]) -> Exhibit:
    caption = (
        "How much of the differences between whole trials goes back to each knob, and to the architecture"
        " itself (fANOVA, on average over the others). With few trials it is a hint, no proof."
    )
    rows = [(name, share) for name, share in shares.items()]
    table = Table("importance", "Which settings mattered", ("knob", "share"), rows, ("", ".3f"))
    return Exhibit(trialled.importance(shares), caption, table)


BEST = 10
"""Trials in the table."""


def _trials(story: Story) -> Table:
    best = sorted(story.trials, key=lambda one: -one.validation)[:BEST]
    names = list(best[0].setting)
    rows: list[list[TableCell]] = [
        [one.architecture, one.validation, *(_short(one.setting.get(name)) for name in names)] for one in best
    ]
    heads = ("architecture", "validation", *names)
    return Table("trials", f"The {len(best)} best trials", heads, rows, ("", ".4f"))
