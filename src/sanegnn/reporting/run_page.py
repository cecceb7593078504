"""The report on one run."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from sanegnn.listing import known
from sanegnn.reporting.intervals import reach, wilson
from sanegnn.reporting.markup import sentence
from sanegnn.reporting.page import Answer, Page
from sanegnn.reporting.sections import SECTIONS
from sanegnn.reporting.story import Story
from sanegnn.runs import Run


def page(run: Run) -> Page:
    """The whole page."""
    story = Story(run)
    found = [told for tell in SECTIONS if (told := tell(story)) is not None]
    kicker = f"sanegnn {run.about['command']} on {story.dataset}, split {story.split}"
    return Page(f"{story.dataset}: {run.name}", kicker, answer(story), found)


def answer(story: Story) -> Answer:
    """The score first: of the test where it was opened, else of validation."""
    if story.tests:
        return _tested(story)
    scores = list(story.result.get("validations", ()))
    if scores:
        label = f"validation {story.metric}; the test set is sealed"
        return Answer(*_number(scores), label, list(_sentences(story)), list(_facts(story)))
    have = known(story.run)
    number = "unfinished" if have.validation is None else f"{have.validation:.4f}"
    label = "not finished; the best validation score so far" if have.validation else "not finished"
    return Answer(number, "", label, list(_sentences(story)), list(_facts(story)))


def _number(scores: list[float]) -> tuple[str, str]:
    half = reach(scores)
    return f"{fmean(scores):.4f}", f"± {half:.4f}" if half == half else ""


def _tested(story: Story) -> Answer:
    many = len(story.tests)
    tail = f", the mean of {many} trainings with its 95% interval" if many > 1 else ", one training"
    return Answer(
        *_number(story.tests), f"test {story.metric}{tail}", list(_sentences(story)), list(_facts(story))
    )


def _sentences(story: Story) -> Iterator[str]:
    words = story.verdict.words if story.verdict else story.result.get("words", "")
    if words:
        yield sentence(words)
    evidence = story.evidence
    if evidence is not None and story.metric == "accuracy":
        test = evidence.of("test")
        count, hits = int(test.sum()), int(evidence.right[test].sum())
        low, high = wilson(hits, count)
        yield (
            f"The interval above is the noise of training. Other test nodes than these {count:,} would move"
            f" the score, too: judged as a draw, the saved model's lies between {low:.4f} and"
            f" {high:.4f} (95%)."
        )


def _facts(story: Story) -> Iterator[tuple[str, str]]:
    if story.architecture:
        yield "architecture", str(story.architecture)
    if story.together is not None:
        yield "saved model", f"{story.together:.4f}, all trainings averaged"
    validations = story.result.get("validations")
    if story.tests and validations:
        yield "validation", f"{fmean(validations):.4f}"
    if story.evidence is not None:
        sizes = [int(story.evidence.of(part).sum()) for part in ("train", "val", "test")]
        yield "train / validation / test", " / ".join(f"{size:,}" for size in sizes)
    if story.opened:
        at = story.opened.at.replace("T", " ").replace("+00:00", " UTC")
        yield "test opened", f"{at}, once"
    if story.result.get("seconds"):
        yield "seconds", f"{story.result['seconds']:,.0f}"
    yield "run", story.run.name
