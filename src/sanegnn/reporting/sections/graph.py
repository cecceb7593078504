"""The graph as the doctor sees it, and what is needed to have the same again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from sanegnn.reporting.page import Cell, Folded, Section, Wide
from sanegnn.reporting.story import Story
from sanegnn.reporting.tables import Table
from sanegnn.runs import IDENTITY, SETTINGS

GRAVE = {"error": "error", "warn": "warning", "info": ""}


def findings(story: Story) -> Section | None:
    """What the doctor says."""
    evidence = story.evidence
    if evidence is None:
        return None
    about = evidence.about
    rows = [(GRAVE.get(level, level), code, sentence) for level, code, sentence in about["findings"]]
    sizes = (
        f"{about['dataset']}: {about['nodes']:,} nodes, {about['edges']:,} edges,"
        f" {about['features']:,} features, {len(about['classes'])} classes."
    )
    table = Table("findings", "Findings", ("", "about", "what"), rows)
    return Section("graph", "The graph", [sizes], [Wide(table)])


def repeat(story: Story, more: Sequence[str] = ()) -> Section:
    """The command, the settings and the versions."""
    about = story.run.about
    rows = [(name, str(value)) for name, value in about.items() if name not in ("command", "dataset")]
    named = {"data": "checksum of the data (SHA-256)"}
    rows = [(named.get(name, name), value) for name, value in rows]
    text = (story.run.path / SETTINGS).read_text(encoding="utf-8")
    cells: list[Cell] = [
        Folded("The command", command(story, more), open=True),
        Folded(f"{SETTINGS}, all settings", text),
        Wide(Table("versions", "Versions", ("what", "value"), rows)),
    ]
    words = (
        f"With the {SETTINGS} of this run, on the same versions, the same bits come out on the CPU, with any"
        " number of workers."
    )
    return Section("repeat", "Do it again", [words], cells)


def command(story: Story, more: Sequence[str] = ()) -> str:
    """The line to type: what was asked stands in run.toml, but for data, architecture and `more`."""
    name, _, architecture = str(story.run.about[IDENTITY[0]]).partition(" ")
    words = ["sanegnn", name]
    if "tables" not in story.run.settings:
        words.append(str(story.run.about.get("given") or story.dataset))
    if architecture:
        words += ["--arch", architecture]
    return shlex.join([*words, *more, "--config", SETTINGS])
