"""`compare`: contenders on the same splits with the same budgets."""

from __future__ import annotations

from dataclasses import field, fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sanegnn import api
from sanegnn.baselines import contenders
from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, TABLES_GIVEN, Given, Output, Shown, chosen, flat
from sanegnn.cli.design import Dataset
from sanegnn.comparison.leaderboard import Leaderboard
from sanegnn.comparison.tables import shown
from sanegnn.comparison.words import words
from sanegnn.settings import Field, Knobs, Machine, Race, RunChoice, Seed, Training
from sanegnn.strategies import strategies

OWN: dict[str, type[Knobs]] = {
    **{name: strategies[name].knobs for name in strategies},
    **{name: contenders[name].knobs for name in contenders},
}
"""The knobs of everyone who has some, by name."""

if TYPE_CHECKING:
    Rivals = Any
else:
    Rivals = make_dataclass(
        "Rivals",
        [
            (name, Annotated[knobs, Parameter(group=f"Contender {name}")], field(default_factory=knobs))
            for name, knobs in OWN.items()
        ],
        frozen=True,
        namespace={"__module__": __name__},
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
    strategies: Annotated[Rivals, Parameter(name="*")] = RIVALS,
    output: Shown = OUTPUT,
) -> None:
    """Let searchers and human designs race, and lay their test scores side by side."""
    with show.working(output) as listen:
        board = api.compare(
            chosen(dataset, tables),
            field=field,
            race=race,
            knobs={one.name: getattr(strategies, one.name) for one in fields(strategies)},
            training=training,
            seed=seed,
            run=run,
            machine=machine,
            on_event=listen,
        )
    _result(output, board)


def _result(output: Output, board: Leaderboard) -> None:
    """The table and its sentences, or one line of JSON."""
    if output.json:
        return show.as_json(board.table())
    show.say(f"{board.dataset}, test {board.metric} over {len(board.splits)} splits, run {board.run}\n")
    show.rows(output, "contenders", [shown(row, board) for row in board.rows])
    for sentence in ["", *words(board)]:
        show.say(sentence)
    return None
