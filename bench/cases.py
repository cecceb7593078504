"""The comparisons by name, each a function that measures one row."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

from bench import child, pairs
from bench.rows import Row
from bench.timing import Action, Plan, alternate, fenced, on
from sanegnn.settings import Setting
from sanegnn.space import Architecture
from sanegnn.strategies.darts import Algorithm1

STOCK = "supernet of stock PyG layers"
STOCK_NET = "stock PyG net"
TITLES = {"planted": "a generated graph", "cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}


@dataclass(frozen=True)
class Case:
    """One row to be measured; `quick` ones are part of the short run."""

    name: str
    measure: Callable[[Plan], Row]
    quick: bool = False


def cases() -> Iterator[Case]:
    """All of them, in the order of the page."""
    yield from _searches()
    yield Case("search/two-threads/pubmed", partial(two_threads, "pubmed"))
    yield Case("memory/200k", partial(memory, "200k", 200_000, ""), quick=True)
    yield Case("memory/4M", partial(memory, "4M", 4_000_000, "8"))
    for name in child.DERIVED:
        for hidden in (64, 256):
            for data in ("cora", "pubmed"):
                quick = (hidden, data) == (64, "cora")
                yield Case(f"train/{name}/{hidden}/{data}", partial(training, name, hidden, data), quick)
    for kind in EDGE_ACTIONS:
        for edges in ("1e4", "1e5", "1e6", "1e7"):
            quick = (kind, edges) == ("layer", "1e5")
            yield Case(f"edge/{kind}/{edges}", partial(per_edge, kind, edges), quick)
    yield Case("compile/first-run", first_run, quick=True)


def _searches() -> Iterator[Case]:
    for data in TITLES:
        bar = "" if data == "planted" else "4"
        yield Case(f"search/{data}", partial(search, data, bar), data in ("planted", "cora"))
    yield Case("search/no-input-dropout/cora", search_without_input_dropout)


def search(data: str, bar: str, plan: Plan) -> Row:
    """A search epoch."""
    ours, theirs = _timed(*pairs.searches(pairs.dataset(data), Algorithm1()), plan)
    return Row(f"search/{data}", ours, theirs, "ms", 1, f"search epoch, {TITLES[data]}", STOCK, bar)


def search_without_input_dropout(plan: Plan) -> Row:
    """The same where the stock supernet is spared the dropout of a dense feature matrix."""
    ours, theirs = _timed(*pairs.searches(pairs.dataset("cora"), Algorithm1(input_dropout=0.0)), plan)
    what = "search epoch without dropout of the features, Cora"
    return Row("search/no-input-dropout/cora", ours, theirs, "ms", 1, what, STOCK)


def two_threads(data: str, plan: Plan) -> Row:
    """A search epoch on two threads and on one."""
    course = pairs.course(pairs.dataset(data), Algorithm1())
    ours, theirs = _timed(on(2, course.step), on(1, course.step), plan)
    bar = "1.6" if data == "pubmed" else ""
    what = f"search epoch on two threads, {TITLES[data]}"
    return Row(f"search/two-threads/{data}", ours, theirs, "ms", 2, what, "itself on one thread", bar)


def memory(label: str, edges: int, bar: str, _: Plan) -> Row:
    """The extra memory of a search epoch at its peak, each side in a process of its own."""
    ours, theirs = (child.ask("memory", side, str(edges)) for side in ("ours", "theirs"))
    if "bytes" not in ours:
        raise MemoryError(f"a search epoch over {edges:,} edges does not fit in {_gb(ours['lacks'])}")
    fits = "bytes" in theirs
    note = "" if fits else f"theirs does not fit in {_gb(0.8 * theirs['lacks'])}"
    what = (
        f"peak extra memory of a search epoch, {edges // pairs.DEGREE:,} nodes, {edges:,} edges, 32 features"
    )
    other = theirs["bytes"] / 1e6 if fits else None
    return Row(f"memory/{label}", ours["bytes"] / 1e6, other, "MB", 1, what, STOCK, bar, note)


def training(name: str, hidden: int, data: str, plan: Plan) -> Row:
    """A training epoch of a derived net."""
    architecture, setting = Architecture.parse(child.DERIVED[name]), Setting(hidden=hidden)
    ours, theirs = _timed(*pairs.trainings(pairs.dataset(data), architecture, setting), plan)
    what = f"training epoch of {name.upper()}, hidden {hidden}, {TITLES[data]}"
    return Row(f"train/{name}/{hidden}/{data}", ours, theirs, "ms", 1, what, STOCK_NET, "3")


def _layer(edges: int) -> tuple[Action, int]:
    graph = pairs.generated(edges).ready("raw", "cpu").inputs.graph
    return pairs.layer(graph, 32), graph.num_edges


def _epoch(edges: int) -> tuple[Action, int]:
    task = pairs.generated(edges)
    return pairs.course(task, Algorithm1()).step, task.edges.shape[1]


EDGE_ACTIONS: dict[str, Callable[[int], tuple[Action, int]]] = {"layer": _layer, "epoch": _epoch}
EDGE_TITLES = {"layer": "forward and backward of a mixed layer", "epoch": "search epoch"}


@cache
def _smallest(kind: str) -> tuple[Action, int]:
    return EDGE_ACTIONS[kind](10_000)


def per_edge(kind: str, edges: str, plan: Plan) -> Row:
    """Time over the number of directed edges, beside that of the smallest graph."""
    (small, few), (large, many) = _smallest(kind), EDGE_ACTIONS[kind](int(float(edges)))
    ours, theirs = _timed(large, small, plan)
    what = (
        f"{EDGE_TITLES[kind]}, hidden 32, {edges} directed edges, mean degree {pairs.DEGREE}: time per edge"
    )
    numbers = (1e6 * ours / many, 1e6 * theirs / few)
    return Row(f"edge/{kind}/{edges}", *numbers, "ns", 1, what, "itself at 1e4 edges", "0.67")


def first_run(_: Plan) -> Row:
    """What the first run takes longer than the second: the compilation."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (child.ask("first", NUMBA_CACHE_DIR=folder)["seconds"] for _ in range(2))
    note = f"then {warm:.2f} s with the cache"
    what = "compilation in a first run: search and derived nets"
    return Row("compile/first-run", cold - warm, None, "s", 1, what, "–", "under 15 s", note)


def _timed(ours: Action, theirs: Action, plan: Plan) -> tuple[float, float]:
    """The median milliseconds of both."""
    with fenced():
        first, second = alternate(ours, theirs, plan)
    return 1e3 * first, 1e3 * second


def _gb(size: float) -> str:
    return f"{size / 1e9:.1f} GB"
