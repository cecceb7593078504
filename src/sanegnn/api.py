"""The functions of sanegnn: each wires the parts of one command.

    sanegnn.fit("cora")                    design, tune, train and judge
    sanegnn.search("cora")                 the architecture alone
    sanegnn.tune("cora", "gcn,gcn")        a setting for one architecture
    sanegnn.train("cora", "gcn,gcn")       the score of one architecture with one setting
    sanegnn.truth("cora")                  the scores of many, to judge searches by
    sanegnn.compare("cora")                searchers and human designs on the same splits and budgets

`data` is the name of a dataset, the path of an .npz file, `Tables`, a PyG `Data` or anything else that
`GraphData.of` reads; `sanegnn.read` makes a graph of frames. `knobs` are those of strategies and tasks, by
name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sanegnn import comparing
from sanegnn.bringing import Brought, bring, named_space
from sanegnn.census import census, resting
from sanegnn.comparison import Leaderboard
from sanegnn.errors import TrainingFailed
from sanegnn.events import Listener, Stage, Step, silent
from sanegnn.ops import layer_ops, node_ops, pool_ops, skip_ops
from sanegnn.records import Verdict
from sanegnn.results import Result
from sanegnn.session import Command, Session, conduct
from sanegnn.settings import (
    DataChoice,
    Field,
    Knobs,
    Machine,
    Race,
    Repeats,
    RunChoice,
    Sample,
    Search,
    Seed,
    Selection,
    Setting,
    Training,
    Tuning,
)
from sanegnn.space import Architecture
from sanegnn.strategies import strategies
from sanegnn.tasks import refuse_unfit
from sanegnn.training.select import Choice, Finalist, Report, choose, rounds, tournament
from sanegnn.training.select import tune as tune_study
from sanegnn.training.tune import Study, Tried
from sanegnn.witness import testify

ArchitectureLike = Architecture | str


def fit(
    data: Any = "digits",
    *,
    choice: DataChoice = DataChoice(),
    search: Search = Search(),
    knobs: Mapping[str, Knobs] | None = None,
    selection: Selection = Selection(),
    training: Training = Training(),
    seed: Seed = Seed(),
    run: RunChoice = RunChoice(),
    machine: Machine = Machine(),
    on_event: Listener = silent,
) -> Result:
    """Search architectures, tune them beside the plain designs, retrain the best, judge the winner.

    Searching, tuning and choosing see no test label. The test set is opened once, for the winner.
    """
    brought = bring(data, choice, machine, knobs)
    search = brought.prefers(search)
    strategy = brought.begins(_knobs(search, brought, knobs))

    def work(session: Session) -> Result:
        found = session.search(search, strategy)
        candidates = list(dict.fromkeys([*found, *session.task.designs(search.depth or 1)]))
        studies = session.studies(candidates, brought.begins(Setting()))
        ranked = tournament(session.bench, studies, selection, _reporter(session, studies, selection))
        pairs = [(architecture, tried.setting) for architecture, tried in ranked]
        picked = choose(session.retrain(pairs, selection.repeats))
        words = verdict(picked, found, session.task.metric)
        session.keep_once(_record(picked, words))
        tests = session.open_test("fit", picked.winner)
        session.save(picked.winner, {"validation": picked.winner.scores, "test": tests})
        testify(session)
        return session.result(picked.winner, tests, words, _leaderboard(studies))

    settings = {"search": search, search.strategy: strategy, "selection": selection}
    command = Command("fit", brought, training, seed, settings)
    return conduct(command, run, machine, on_event, work)


def search(
    data: Any = "digits",
    *,
    choice: DataChoice = DataChoice(),
    search: Search = Search(),
    knobs: Mapping[str, Knobs] | None = None,
    setting: Setting = Setting(),
    training: Training = Training(),
    seed: Seed = Seed(),
    run: RunChoice = RunChoice(),
    machine: Machine = Machine(),
    on_event: Listener = silent,
) -> Result:
    """Search, then train every architecture found once with one setting; the best by validation is given.

    The test set stays sealed.
    """
    brought = bring(data, choice, machine, knobs)
    search = brought.prefers(search)
    setting = brought.begins(setting)
    strategy = brought.begins(_knobs(search, brought, knobs))

    def work(session: Session) -> Result:
        found = session.search(search, strategy)
        picked = choose(session.retrain([(architecture, setting) for architecture in found], 1))
        words = f"the best of {len(found)} found by {search.strategy}, each trained once"
        return session.result(picked.winner, (), words)

    settings = {"search": search, search.strategy: strategy, "setting": setting}
    command = Command("search", brought, training, seed, settings)
    return conduct(command, run, machine, on_event, work)


def tune(
    data: Any,
    architecture: ArchitectureLike,
    *,
    choice: DataChoice = DataChoice(),
    knobs: Mapping[str, Knobs] | None = None,
    setting: Setting = Setting(),
    tuning: Tuning = Tuning(),
    training: Training = Training(),
    seed: Seed = Seed(),
    run: RunChoice = RunChoice(),
    machine: Machine = Machine(),
    on_event: Listener = silent,
) -> Result:
    """Find a setting for one architecture by its validation score; the test set stays sealed."""
    parsed = known(architecture)
    brought = bring(data, choice, machine, knobs)
    setting = brought.begins(setting)
    refuse_unfit(type(brought.task), str(parsed), parsed.pool is not None)

    def work(session: Session) -> Result:
        (study,) = session.studies([parsed], setting)
        report = _counter(session, "tune", tuning.trials, len(study.trials))
        best = tune_study(session.bench, study, tuning, report)
        if best.validation is None:
            raise TrainingFailed(f"none of {tuning.trials} settings trained {parsed}: {best.why}")
        words = f"the best of {tuning.trials} settings"
        return session.result(Finalist(parsed, best.setting, (best.validation,)), (), words)

    settings = {"setting": setting, "tuning": tuning}
    command = Command("tune", brought, training, seed, settings, parsed)
    return conduct(command, run, machine, on_event, work)


def train(
    data: Any,
    architecture: ArchitectureLike,
    *,
    choice: DataChoice = DataChoice(),
    knobs: Mapping[str, Knobs] | None = None,
    setting: Setting = Setting(),
    repeats: Repeats = Repeats(),
    training: Training = Training(),
    seed: Seed = Seed(),
    run: RunChoice = RunChoice(),
    machine: Machine = Machine(),
    on_event: Listener = silent,
) -> Result:
    """Train one architecture with one setting from several seeds and score them all on the test set."""
    parsed = known(architecture)
    brought = bring(data, choice, machine, knobs)
    setting = brought.begins(setting)
    refuse_unfit(type(brought.task), str(parsed), parsed.pool is not None)

    def work(session: Session) -> Result:
        (finalist,) = session.retrain([(parsed, setting)], repeats.repeats)
        tests = session.open_test("train", finalist)
        session.save(finalist, {"validation": finalist.scores, "test": tests})
        testify(session)
        return session.result(finalist, tests, f"{repeats.repeats} trainings from scratch")

    settings = {"setting": setting, "repeats": repeats}
    command = Command("train", brought, training, seed, settings, parsed)
    return conduct(command, run, machine, on_event, work)


def truth(
    data: Any = "digits",
    *,
    choice: DataChoice = DataChoice(),
    sample: Sample = Sample(),
    knobs: Mapping[str, Knobs] | None = None,
    setting: Setting = Setting(),
    training: Training = Training(),
    seed: Seed = Seed(),
    run: RunChoice = RunChoice(),
    machine: Machine = Machine(),
    on_event: Listener = silent,
) -> Result:
    """Train architectures drawn at random, so that the ranking of any strategy can be judged by theirs.

    The run keeps the scores in `truth.jsonl`, which `sanegnn.ranking` reads. The test set stays sealed.
    """
    brought = bring(data, choice, machine, knobs)
    sample = brought.prefers(sample)
    setting = brought.begins(setting)
    named_space(sample)

    def work(session: Session) -> Result:
        found = census(session, sample, setting)
        found.write(session.run.file("truth.jsonl"))
        return resting(session, found, setting)

    settings = {"sample": sample, "setting": setting}
    command = Command("truth", brought, training, seed, settings)
    return conduct(command, run, machine, on_event, work)


def compare(
    data: Any = "digits",
    *,
    field: Field = Field(),
    race: Race = Race(),
    knobs: Mapping[str, Knobs] | None = None,
    training: Training = Training(),
    seed: Seed = Seed(),
    run: RunChoice = RunChoice(),
    machine: Machine = Machine(),
    on_event: Listener = silent,
) -> Leaderboard:
    """Let contenders race on the same splits, with the same budgets, and lay their test scores side by side.

    No contender sees a test label: its nets are scored after its race, once for every split.
    """
    asked = comparing.Asked(data, field, race, knobs or {}, training, seed, machine)
    return comparing.hold(asked, run, on_event)


def known(architecture: ArchitectureLike) -> Architecture:
    """The architecture of a text, all of whose operations are registered."""
    parsed = Architecture.parse(architecture) if isinstance(architecture, str) else architecture
    for registry, names in (
        (node_ops, parsed.nodes),
        (skip_ops, parsed.skips),
        (layer_ops, (parsed.layer,) if parsed.layer else ()),
        (pool_ops, (parsed.pool,) if parsed.pool else ()),
    ):
        for name in names:
            registry.entry(name)
    return parsed


def verdict(picked: Choice, found: list[Architecture], metric: str) -> str:
    """What won over what, by how much and how surely, in words."""
    first = _design(picked.winner, found)
    if picked.second is None:
        return f"{first} is the only finalist"
    second, points, error = _design(picked.second, found), 100 * picked.margin, 100 * picked.error
    if picked.margin == 0:
        return f"{first} and {second} have the same mean validation {metric}: a tie"
    tail = "; within two standard errors: a tie" if picked.tied else ""
    return f"{first} leads {second} by {points:.2f} ± {error:.2f} points of validation {metric}{tail}"


def _design(finalist: Finalist, found: list[Architecture]) -> str:
    kind = "searched" if finalist.architecture in found else "plain"
    return f"the {kind} design {finalist.architecture}"


def _knobs(search: Search, brought: Brought, knobs: Mapping[str, Knobs] | None) -> Knobs:
    """The knobs of the strategy; a strategy or space that does not fit is refused here, before any work."""
    strategy, searched = strategies[search.strategy], named_space(search)
    strategy.check(searched)
    refuse_unfit(type(brought.task), f"space {searched.name!r}", bool(searched.pool_ops))
    return (knobs or {}).get(search.strategy) or strategy.knobs()


def _record(picked: Choice, words: str) -> Verdict:
    winner, second = picked.winner, picked.second
    runner_up = str(second.architecture) if second else ""
    what = (str(winner.architecture), winner.setting.table())
    return Verdict(*what, winner.mean, winner.error, runner_up, picked.margin, picked.error, words)


def _reporter(session: Session, studies: list[Study], selection: Selection) -> Report:
    total = sum(alive * trials for alive, _, trials in rounds(len(studies), selection))
    return _counter(session, "tune", total, sum(len(study.trials) for study in studies))


def _counter(session: Session, stage: str, total: int, done: int) -> Report:
    """A report that keeps trials and counts them."""
    session.tell(Stage(stage, total, done))
    seen = {"done": done, "best": -math.inf}

    def report(study: Study, tried: Tried) -> None:
        session.keep_trial(study, tried)
        seen["done"] += 1
        seen["best"] = max(seen["best"], tried.worth)
        session.tell(Step(stage, int(seen["done"]), str(study.architecture), seen["best"]))

    return report


def _leaderboard(studies: list[Study]) -> list[dict[str, Any]]:
    rows = [
        {"architecture": str(study.architecture), "trials": len(study.trials), "best": study.best.validation}
        for study in studies
    ]
    return sorted(rows, key=lambda row: -math.inf if row["best"] is None else row["best"], reverse=True)
