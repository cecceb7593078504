"""Contenders by the names of the command line.

    gat-jk              a human design
    random              a strategy over the paper's space
    random@mlp          a strategy over another space
    human search all    every design, every searcher, both

A registered contender goes by its own name, and counts among the searchers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sanegnn.baselines.contender import Contender, contenders
from sanegnn.baselines.designed import Designed, Named
from sanegnn.baselines.human import designs
from sanegnn.baselines.searching import Searching
from sanegnn.errors import BadSetting, UnknownName
from sanegnn.settings import Knobs, Race, Search
from sanegnn.space import space
from sanegnn.strategies import strategies

RANDOM = "random"
HOME = Search().space
"""The space of a strategy that names none."""


def parted(texts: Sequence[str]) -> tuple[str, ...]:
    """The words of several texts, each of which commas may part."""
    return tuple(word for text in texts for word in (part.strip() for part in text.split(",")) if word)


def field(texts: Sequence[str]) -> tuple[str, ...]:
    """The names of a field, groups spelt out, each name once; the unknown one is refused."""
    groups = {"human": tuple(designs), "search": (*strategies, *contenders)}
    groups["all"] = (*groups["human"], *groups["search"])
    names = [name for word in parted(texts) for name in groups.get(word, (_plain(word),))]
    if not names:
        raise BadSetting("no contender was named: try --contenders gcn,gat,random,paper")
    for name in names:
        _refuse_unknown(name, groups)
    return tuple(dict.fromkeys(names))


def _plain(word: str) -> str:
    return word.removesuffix(f"@{HOME}")


def _refuse_unknown(name: str, groups: Mapping[str, Sequence[str]]) -> None:
    strategy, at, _ = name.partition("@")
    if strategy not in strategies and (at or name not in (*designs, *contenders)):
        raise UnknownName.of("contender", name, (*groups, *groups["all"]))


def missing_random(names: Sequence[str]) -> tuple[str, ...]:
    """Random search over every space that a strategy of the field searches, where it is not in the field."""
    spaces = dict.fromkeys(name.partition("@")[2] for name in names if name.partition("@")[0] in strategies)
    wanted = [f"{RANDOM}@{where}" if where else RANDOM for where in spaces]
    if any(name in contenders for name in names):
        wanted.append(RANDOM)
    return tuple(name for name in dict.fromkeys(wanted) if name not in names)


def own_knobs(name: str, knobs: Mapping[str, Knobs]) -> dict[str, Knobs]:
    """The table of a contender's own knobs, if it has such."""
    own = name.partition("@")[0]
    if own in strategies:
        return {own: knobs.get(own) or strategies[own].knobs()}
    return {own: knobs.get(own) or contenders[own].knobs()} if own in contenders else {}


def contender(name: str, race: Race, knobs: Mapping[str, Knobs]) -> Contender[Any]:
    """The contender of that name."""
    strategy, _, where = name.partition("@")
    if name in designs:
        return Designed(Named(name))
    (own,) = own_knobs(name, knobs).values()
    if strategy in strategies:
        kind = strategies[strategy]
        search = Search(strategy, where or HOME, race.depth, race.restarts or kind.restarts)
        kind.check(space(search.space, search.depth))
        return Searching(search, own)
    return contenders[name](own)
