"""The report on several runs beside each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from sanegnn.reporting.drawings import architecture as chain
from sanegnn.reporting.drawings import efficiency, ranking
from sanegnn.reporting.drawings.ranking import Standing
from sanegnn.reporting.intervals import around_mean, reach
from sanegnn.reporting.page import Answer, Cell, Exhibit, Page, Section, Wide
from sanegnn.reporting.scene import Picture
from sanegnn.reporting.story import Story
from sanegnn.reporting.tables import Table
from sanegnn.runs import Run

DRAWN = 4
"""Architectures that are drawn."""
Group = list[Story]


def page(runs: Sequence[Run]) -> Page:
    """Scores, efforts, architectures and settings of the runs."""
    stories = [Story(run) for run in runs]
    told = [*_scores(stories), _efforts(stories), _architectures(stories), _settings(stories)]
    title = f"{len(runs)} runs"
    kicker = ", ".join(story.run.name for story in stories)
    return Page(title, kicker, _answer(stories), [section for section in told if section is not None])


def _scored(story: Story) -> list[float]:
    """What a run is judged by: test scores, else validation scores."""
    return story.tests or [one for one in story.result.get("validations", ()) if math.isfinite(one)]


def _alike(stories: Sequence[Story]) -> dict[tuple[str, ...], Group]:
    """Runs whose scores may be laid beside each other: of the same data, split, metric and part."""
    groups: dict[tuple[str, ...], Group] = {}
    for story in stories:
        if _scored(story):
            part = "test" if story.tests else "validation"
            key = (story.dataset, str(story.run.about["data"]), story.split, story.metric, part)
            groups.setdefault(key, []).append(story)
    ordered = {key: sorted(own, key=lambda one: -fmean(_scored(one))) for key, own in groups.items()}
    return dict(sorted(ordered.items(), key=lambda item: -len(item[1])))


def _answer(stories: Sequence[Story]) -> Answer:
    groups = _alike(stories)
    if not groups:
        return Answer("unfinished", "", "no run has a score yet", [])
    (dataset, _, split, metric, part), own = next(iter(groups.items()))
    best, scores = own[0], _scored(own[0])
    half = reach(scores)
    spread = f"± {half:.4f}" if math.isfinite(half) else ""
    label = f"{part} {metric} of {best.run.name} on {dataset}, split {split}, the best of {len(own)} there"
    words = list(_words(own)) if len(own) > 1 else []
    if len(groups) > 1:
        words.append(
            "Runs on other data, splits or parts stand by themselves: their scores cannot be compared."
        )
    return Answer(f"{fmean(scores):.4f}", spread, label, words)


def _words(own: Group) -> Iterator[str]:
    """The lead of the first over the second, with the noise of training."""
    first, second = _scored(own[0]), _scored(own[1])
    lead = fmean(first) - fmean(second)
    text = f"{own[0].run.name} leads {own[1].run.name} by {100 * lead:.2f} points"
    noise = math.hypot(*(reach(scores) for scores in (first, second)))
    if math.isnan(noise):
        yield f"{text}; a single training tells no noise."
    else:
        tail = "a tie" if lead <= noise else "more than the noise of training"
        yield f"{text} ± {100 * noise:.2f} (95%, the noise of training alone): {tail}."


def _scores(stories: Sequence[Story]) -> Iterator[Section]:
    for place, ((dataset, _, split, metric, part), own) in enumerate(_alike(stories).items()):
        rows = [Standing(one.run.name, *around_mean(_scored(one)), _scored(one), "s0") for one in own]
        title = f"{dataset}, split {split}"
        name = f"scores-{place}"
        picture = ranking.draw(rows, name, title, f"{part} {metric}")
        caption = "Small dots are single trainings, bars the 95% interval of their mean (Student's t)."
        yield Section(name, title, [], [Exhibit(picture, caption), Wide(_table(name, title, own))])


def _table(name: str, title: str, own: Group) -> Table:
    heads = ("run", "command", "architecture", "validation", "test", "saved model", "trainings", "seconds")
    rows = [_row(story) for story in own]
    return Table(name, title, heads, rows, ("", "", "", ".4f", ".4f", ".4f", "", ",.0f"))


def _row(story: Story) -> tuple[Any, ...]:
    validations = story.result.get("validations", ())
    scores = (fmean(validations) if validations else None, fmean(story.tests) if story.tests else None)
    many = len(story.tests) or len(validations)
    names = (story.run.name, story.command, str(story.architecture or ""))
    return (*names, *scores, story.together, many, story.result.get("seconds"))


def _efforts(stories: Sequence[Story]) -> Section | None:
    found = [_racer(story, place) for place, story in enumerate(stories)]
    racers = [racer for racer in found if racer is not None]
    if len(racers) < 2:
        return None
    picture = efficiency.race(racers, "efficiency", "validation score, the best so far")
    caption = "Seconds of work, added up over all processes."
    return Section("efficiency", "What it cost", [], [Exhibit(picture, caption)])


def _racer(story: Story, place: int) -> efficiency.Racer | None:
    best, curve = -math.inf, []
    for one in story.efforts:
        if one.validation > best:
            best = one.validation
            curve.append((one.seconds, best))
    if not curve:
        return None
    return efficiency.Racer(story.run.name, "search", curve, story.efforts[-1].seconds, place)


def _architectures(stories: Sequence[Story]) -> Section | None:
    found = {str(story.architecture): story for story in stories if story.architecture}
    cells: list[Cell] = []
    for place, (text, story) in enumerate(list(found.items())[:DRAWN]):
        assert story.architecture is not None
        plain = chain.draw(story.architecture)
        picture = Picture(
            f"architecture-{place}", story.run.name, plain.words, plain.width, plain.height, plain.marks
        )
        cells.append(Exhibit(picture, text))
    return Section("architectures", "What was found", [], cells) if cells else None


def _settings(stories: Sequence[Story]) -> Section | None:
    """What differs between the settings of the runs."""
    flat = [dict(_flat(story.run.settings)) for story in stories]
    names = list(dict.fromkeys(name for table in flat for name in table))
    differ = [name for name in names if len({repr(table.get(name)) for table in flat}) > 1]
    if not differ:
        return None
    heads = ("setting", *(story.run.name for story in stories))
    rows = [(name, *(str(table.get(name, "")) for table in flat)) for name in differ]
    return Section(
        "settings",
        "What was asked differently",
        [],
        [Wide(Table("settings", "Settings that differ", heads, rows))],
    )


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
