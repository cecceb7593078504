"""`compare`: contenders on the same splits with the same budgets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sanegnn import api
from sanegnn.baselines import contenders
from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, TABLES_GIVEN, Given, Output, Shown, by_name, chosen, flat, own_options
from sanegnn.cli.design import Dataset
from sanegnn.cli.own import AIMS, Aims
from sanegnn.comparison.leaderboard import Leaderboard
from sanegnn.comparison.tables import shown
from sanegnn.comparison.words import words
from sanegnn.settings import Field, Machine, Race, RunChoice, Seed, Training
from sanegnn.strategies import strategies

if TYPE_CHECKING:
    Rivals = Any
else:
    Rivals = own_options(
        {name: known[name].knobs for known in (strategies, contenders) for name in known}, "Contender"
    )

RIVALS = Rivals()


def compare(
    dataset: Dataset = None,
    /,
    *,
    tables: Given = TABLES_GIVEN,
    field: Annotated[Field, flat("Field")] = Field(),
    race: Annotated[Race, flat("Race")] = Race(),
    training: Annotated[Training, flat("Training")] = Training(),
    seed: Annotated[Seed, flat("Run")] = Seed(),
    run: Annotated[RunChoice, flat("Run")] = RunChoice(),
    machine: Annotated[Machine, flat("Machine")] = Machine(),
    rivals: Annotated[Rivals, Parameter(name="*")] = RIVALS,
    aims: Aims = AIMS,
    output: Shown = OUTPUT,
) -> None:
    """Let searchers and human designs race, and lay their test scores side by side."""
    with show.working(output) as listen:
        board = api.compare(
            chosen(dataset, tables),
            field=field,
            race=race,
            knobs={**by_name(rivals), **by_name(aims)},
            training=training,
            seed=seed,
            run=run,
            machine=machine,
            on_event=listen,
        )
    _result(output, board, run)


def _result(output: Output, board: Leaderboard, run: RunChoice) -> None:
    """The table and its sentences, or one line of JSON."""
    if output.json:
        return show.as_json(board.table())
    show.say(f"{board.dataset}, test {board.metric} over {len(board.splits)} splits, run {board.run}\n")
    show.rows(output, "contenders", [shown(row, board) for row in board.rows])
    for sentence in ["", *words(board)]:
        show.say(sentence)
    page = show.drawn(Path(run.folder) / board.run)
    return show.say(f"\nreport {page}") if page else None
