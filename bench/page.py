"""The part of a page between two markers, written anew."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"


def replace(name: str, text: str, page: Path = PAGE) -> None:
    """Put the text between `<!-- name -->` and `<!-- /name -->`."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    whole = page.read_text(encoding="utf-8")
    if begin not in whole or end not in whole:
        raise ValueError(f"{page} has no place for {name}: it needs the lines {begin} and {end}")
    head, _, rest = whole.partition(begin)
    tail = rest.partition(end)[2]
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")
