"""What was found, and how the search went."""

from __future__ import annotations

from sanegnn.reporting.drawings import alphas, efficiency
from sanegnn.reporting.drawings import architecture as chain
from sanegnn.reporting.page import Cell, Exhibit, Section
from sanegnn.reporting.story import Story
from sanegnn.reporting.tables import Table

SHOWN = 3
"""Restarts whose alphas are drawn."""


def architecture(story: Story) -> Section | None:
    """The drawing and the setting."""
    found = story.architecture
    if found is None:
        return None
    cells: list[Cell] = [Exhibit(chain.draw(found), f"{found}")]
    setting = story.result.get("setting", {})
    if setting:
        rows = [
            (name, f"{value:g}" if isinstance(value, float) else str(value))
            for name, value in setting.items()
        ]
        cells.append(Table("setting", "Its setting", ("knob", "value"), rows))
    said = "Each layer gathers the neighbours' states by its node aggregator."
    tail = " The layer aggregator joins the layers whose skip is kept." if found.layer else ""
    return Section("architecture", "The architecture", [said + tail], cells)


def course(story: Story) -> Section | None:
    """The alphas and the search efficiency."""
    cells: list[Cell] = []
    if len(story.efforts) > 1:
        picture = efficiency.course(story.efforts, story.metric)
        caption = (
            "Every training by the seconds of work spent until it was done; the line is the best so far."
        )
        rows = [(one.phase, one.label, one.seconds, one.validation) for one in story.efforts]
        heads = ("phase", "architecture", "seconds", f"validation {story.metric}")
        table = Table("efficiency", "All trainings", heads, rows, ("", "", ",.1f", ".4f"))
        cells.append(Exhibit(picture, caption, table))
    cells += _alphas(story)
    words = []
    if story.derived:
        seconds = sum(one.seconds for one in story.derived.values())
        strategy = next(iter(story.derived.values())).strategy
        many = f"{len(story.derived)} restart{'s' * (len(story.derived) > 1)}"
        words.append(f"The strategy {strategy} searched with {many}, in {seconds:,.0f} seconds of work.")
    return Section("search", "The search", words, cells) if cells else None


def _alphas(story: Story) -> list[Cell]:
    """The restarts, that of the chosen architecture first."""
    chosen = str(story.architecture)
    order = sorted(story.epochs, key=lambda restart: (_found(story, restart) != chosen, restart))
    drawn = [_course(story, restart) for restart in order[:SHOWN]]
    return [exhibit for exhibit in drawn if exhibit is not None]


def _found(story: Story, restart: int) -> str:
    derived = story.derived.get(restart)
    return derived.architecture if derived else ""


def _course(story: Story, restart: int) -> Cell | None:
    members, epochs = story.space, story.epochs[restart]
    if members is None:
        return None
    slots = [(slot.key, slot.choices) for slot in members.slots]
    found = alphas.courses([(one.epoch, one.alphas) for one in epochs], slots, _taken(story, restart))
    if not found:
        return None
    name = f"alphas-{restart}"
    text = _found(story, restart)
    ended = f"It ended with {text}." if text else "It goes on."
    caption = (
        "The share of every operation, softmax(α), against the epoch. Blue is taken, orange the runner-up."
        f" {ended}"
    )
    rows = [
        (one.title, choice, share, "taken" if place == one.taken else "")
        for one in found
        for place, (choice, share) in enumerate(zip(one.choices, one.shares[-1], strict=True))
    ]
    heads = ("slot", "operation", "share at the end", "")
    table = Table(name, f"Alphas of restart {restart + 1}", heads, rows, ("", "", ".4f", ""))
    return Exhibit(alphas.draw(found, name, restart), caption, table)


def _taken(story: Story, restart: int) -> dict[str, int]:
    """What the restart ended with; while it goes on, the largest alphas."""
    derived = story.derived.get(restart)
    if derived is not None and story.space is not None:
        from sanegnn.space import Architecture

        return story.space.encode(Architecture.parse(derived.architecture))
    last = story.epochs[restart][-1].alphas
    shares = {key: alphas.softmax(row) for key, row in last.items() if row}
    return {key: row.index(max(row)) for key, row in shares.items()}
