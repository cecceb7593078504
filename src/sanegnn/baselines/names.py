"""Contenders by the names of the command line.

    gat-jk              a human design
    random              a strategy over the space that the task prefers
    random@mlp          a strategy over another space
    human search all    every design, every searcher, both

A registered contender goes by its own name; one that searches counts among the searchers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sanegnn.aims import STARTS
from sanegnn.baselines.contender import Contender, contenders
from sanegnn.baselines.designed import Designed, Named
from sanegnn.baselines.human import designs
from sanegnn.baselines.pooled import FOR_NODES
from sanegnn.baselines.searching import Searching
from sanegnn.errors import BadSetting, UnknownName
from sanegnn.settings import Knobs, Race, Search
from sanegnn.space import space
from sanegnn.strategies import strategies
from sanegnn.tasks import NodeTask, Task, refuse_unfit, tasks

RANDOM = "random"


def searchers() -> tuple[str, ...]:
    """The registered contenders that look for a design of their own."""
    return tuple(name for name in contenders if contenders[name].kind == "search")


def parted(texts: Sequence[str]) -> tuple[str, ...]:
    """The words of several texts, each of which commas may part."""
    return tuple(word for text in texts for word in (part.strip() for part in text.split(",")) if word)


def field(texts: Sequence[str], task: type[Task] = NodeTask) -> tuple[str, ...]:
    """The names of a field for a task, groups spelt out, each name once; the unknown one is refused."""
    able = [name for name in searchers() if suits(name, task)]
    groups = {"human": task.rivals or FOR_NODES, "search": (*strategies, *able)}
    groups["all"] = tuple(dict.fromkeys((*groups["human"], *groups["search"])))
    home = f"@{task.space}"
    names = [name for word in parted(texts) for name in groups.get(word, (word.removesuffix(home),))]
    if not names:
        raise BadSetting("no contender was named: try --contenders gcn,gat,random,paper")
    for name in names:
        _refuse_unknown(name, groups)
        if name in contenders and not suits(name, task):
            made_for = ", ".join(contenders[name].tasks)
            raise BadSetting(f"{name} takes part in {made_for} alone: leave it out")
    return tuple(dict.fromkeys(names))


def suits(name: str, task: type[Task]) -> bool:
    """Whether a registered contender can take part in a task."""
    named = contenders[name].tasks
    return not named or any(tasks[one] is task for one in named)


def _refuse_unknown(name: str, groups: Mapping[str, Sequence[str]]) -> None:
    strategy, at, _ = name.partition("@")
    if strategy not in strategies and (at or name not in (*designs, *contenders)):
        raise UnknownName.of("contender", name, (*groups, *groups["all"]))


def missing_random(names: Sequence[str]) -> tuple[str, ...]:
    """Random search over every space that a strategy of the field searches, where it is not in the field."""
    spaces = dict.fromkeys(name.partition("@")[2] for name in names if name.partition("@")[0] in strategies)
    wanted = [f"{RANDOM}@{where}" if where else RANDOM for where in spaces]
    if any(name in searchers() for name in names):
        wanted.append(RANDOM)
    return tuple(name for name in dict.fromkeys(wanted) if name not in names)


def own_knobs(name: str, knobs: Mapping[str, Knobs]) -> dict[str, Knobs]:
    """The table of a contender's own knobs, if it has such."""
    own = name.partition("@")[0]
    if own in strategies:
        return {own: knobs.get(own) or strategies[own].knobs()}
    return {own: knobs.get(own) or contenders[own].knobs()} if own in contenders else {}


def contender(
    name: str, race: Race, knobs: Mapping[str, Knobs], task: type[Task] = NodeTask
) -> Contender[Any]:
    """The contender of that name, for a task."""
    starts = next((STARTS[one] for one in STARTS if tasks[one] is task), {})
    strategy, _, where = name.partition("@")
    if name in designs:
        for one in designs[name]("").variants:
            refuse_unfit(task, f"{name}, {one},", one.pool is not None)
        return Designed(Named(name)).begun(starts)
    (own,) = own_knobs(name, knobs).values()
    if strategy in strategies:
        kind, home, depth = strategies[strategy], where or task.space, race.depth or task.depth
        search = Search(strategy, home, depth, race.restarts or kind.restarts)
        kind.check(space(home, depth))
        refuse_unfit(task, f"space {home!r}", bool(space(home, depth).pool_ops))
        return Searching(search, own.starting(starts)).begun(starts)
    return contenders[name](own)
