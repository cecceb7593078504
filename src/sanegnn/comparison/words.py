"""What a leaderboard says, in sentences: who is first, who ties, and whether searching was worth it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sanegnn.comparison.leaderboard import Leaderboard, Row
from sanegnn.comparison.paired import Paired, paired, smallest_p

RANDOM = "random"
SIGNIFICANT = 0.05


def words(board: Leaderboard) -> list[str]:
    """All sentences, the most important first."""
    scored = [row for row in board.rows if row.tests]
    if not scored:
        return ["no contender ended with a score", *_failures(board), *board.notes]
    said = [_first(scored, board), *_human_or_search(scored, board), *_better_than_random(scored, board)]
    return [*said, *_little_data(scored), *_failures(board), *board.notes]


def _first(rows: Sequence[Row], board: Leaderboard) -> str:
    first, rivals = rows[0], [row for row in rows[1:] if row.behind is not None]
    ties = [row for row in rivals if row.tied]
    start = f"{first.contender} has the highest mean test {board.metric}, {100 * first.test:.2f}"
    if any(len(row.tests) < len(first.tests) for row in rows):
        start += f", of those with a score on {len(first.tests)} splits"
    if not rivals:
        return f"{start}; nobody else has a score" + " on the same split" * (len(rows) > 1)
    if not ties:
        return f"{start}, and leads everyone by more than the noise"
    verb = "is a tie" if len(ties) == 1 else "are ties"
    return f"{start}; {_listed([row.contender for row in ties])} {verb} with it: {_why_tied(ties)}"


def _why_tied(ties: Sequence[Row]) -> str:
    if all(row.behind is not None and row.behind.splits > 1 for row in ties):
        return "the 95% interval of the paired difference holds zero"
    return "on one split, nothing but the noise between seeds tells how much a difference means"


def _human_or_search(rows: Sequence[Row], board: Leaderboard) -> Iterator[str]:
    human, search = (next((row for row in rows if row.kind == kind), None) for kind in ("human", "search"))
    found = paired(human.tests, search.tests) if human and search else None
    if human is None or search is None or found is None:
        return
    designer, searcher = f"the human design {human.contender}", f"the best searcher, {search.contender}"
    if found.tied:
        yield f"a tie between {designer} and {searcher}: {_apart(found, board)}"
    elif found.difference > 0:
        yield (
            f"a human design beats the search: {human.contender} leads {searcher}, by {_apart(found, board)}"
        )
    else:
        yield (
            f"the search beats the human designs: {search.contender} leads the best of them,"
            f" {human.contender}, by {_apart(found, board)}"
        )


def _better_than_random(rows: Sequence[Row], board: Leaderboard) -> Iterator[str]:
    """Every searcher against random search over its own space."""
    by_name = {row.contender: row for row in rows}
    for row in rows:
        strategy, at, space = row.contender.partition("@")
        rival = by_name.get(f"{RANDOM}{at}{space}")
        if row.kind != "search" or rival is None or strategy == RANDOM:
            continue
        found = paired(row.tests, rival.tests)
        if found is not None and found.tied:
            yield f"{row.contender} and {rival.contender} search are a tie: {_apart(found, board)}"
        elif found is not None:
            verb = "beats" if found.difference > 0 else "loses to"
            yield f"{row.contender} {verb} {rival.contender} search by {_apart(found, board)}"


def _apart(found: Paired, board: Leaderboard) -> str:
    """`0.50 ± 0.20 points of test accuracy, paired over 5 splits, p 0.0625`."""
    noise = "" if math.isnan(found.error) else f" ± {100 * found.error:.2f}"
    shown = f"{100 * abs(found.difference):.2f}{noise} points of test {board.metric}"
    if found.splits == 1:
        return f"{shown} on one split"
    return f"{shown}, paired over {found.splits} splits, p {found.p:.4f}"


def _little_data(rows: Sequence[Row]) -> Iterator[str]:
    splits = len(rows[0].tests)
    if splits == 1:
        yield "one split: the noise is that between seeds alone, and the signed-rank test says nothing"
    elif smallest_p(splits) > SIGNIFICANT:
        yield (
            f"{splits} splits: the smallest p that the signed-rank test can give is {smallest_p(splits):g},"
            f" so it cannot reach {SIGNIFICANT:g}; six splits can"
        )


def _failures(board: Leaderboard) -> Iterator[str]:
    for row in board.rows:
        for split, why in row.failed.items():
            yield f"{row.contender} on split {split}: {why}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
