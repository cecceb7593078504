"""What every operation of a design is worth: the validation score that is lost with its runner-up.

The design of a run is trained again from fresh seeds, and so is, for every slot of its search space, the
design that has the runner-up there and is otherwise the same, from the same seeds and with the same setting.
The runner-up has the next-largest alpha at the end of the search that found the design. Where there are no
alphas, it is what stands in that slot of the best other architecture that the run tried. The setting was
tuned for the design, so that a loss holds the price of leaving it; the test labels stay sealed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from sanegnn import journal
from sanegnn.data.opening import opened
from sanegnn.errors import BadGraph, BadSetting, TrainingFailed
from sanegnn.events import Listener, Stage, Step, silent
from sanegnn.records import Candidate, Derived, Done, Epoch, Record, Retrain, Trial
from sanegnn.runs import Run
from sanegnn.seeds import derive
from sanegnn.settings import DataChoice, Machine, Repeats, Seed, Setting, Tables, Training
from sanegnn.space import Architecture, SearchSpace, space
from sanegnn.tasks import SearchTask, task_of, tasks
from sanegnn.training.jobs import Job, do
from sanegnn.work import workers


@dataclass(frozen=True)
class Replaced:
    """A slot with its operation, the runner-up and why it is one, and what replacing costs.

    `loss` is the mean difference of the validation scores, paired by seed, `error` its standard error.
    """

    slot: str
    op: str
    runner_up: str
    because: str
    loss: float
    error: float

    @property
    def words(self) -> str:
        """What can be said of the loss."""
        if abs(self.loss) <= 2 * self.error:
            return "no difference measured"
        return "worse without" if self.loss > 0 else "better without"


@dataclass(frozen=True)
class Design:
    """A design with its validation score from fresh seeds, and the loss of replacing each operation."""

    run: str
    architecture: str
    metric: str
    validation: float
    repeats: int
    rows: tuple[Replaced, ...]

    def table(self) -> dict[str, Any]:
        """The design as JSON keeps it."""
        rows = [{**asdict(row), "words": row.words} for row in self.rows]
        return {**asdict(self), "rows": rows}


def explain_design(
    folder: Path | str,
    data: Any = None,
    repeats: Repeats = Repeats(3),
    machine: Machine = Machine(),
    on_event: Listener = silent,
) -> Design:
    """Train the design of a run and its neighbours; `data` is needed where the run was given an object."""
    run = Run.reading(Path(folder))
    winner, setting = _answer(run)
    searched = _space(run, winner)
    changes = list(runner_ups(run, searched, winner))
    designs = [winner, *(changed for _, changed in changes)]
    scores = _trained(run, designs, setting, _task(run, data, machine), repeats.repeats, machine, on_event)
    pairs = zip(changes, scores[1:], strict=True)
    rows = tuple(Replaced(*what, *paired(scores[0], other)) for (what, _), other in pairs)
    metric = str(run.records(Done)[-1].result["metric"])
    return Design(run.name, str(winner), metric, fmean(scores[0]), repeats.repeats, rows)


def _answer(run: Run) -> tuple[Architecture, Setting]:
    """The design of a run that is done."""
    done = run.records(Done)
    if not done or "architecture" not in done[-1].result:
        raise BadSetting(f"{run.path} has no result yet: let the run come to its end, then ask again")
    result = done[-1].result
    return Architecture.parse(result["architecture"]), Setting.of(result["setting"])


def _space(run: Run, winner: Architecture) -> SearchSpace:
    """The searched space, or that of the plain stacks, if the winner is one."""
    asked = run.settings.get("search")
    if asked is None:
        raise BadSetting(f"{run.path} searched nothing: give a run of `sanegnn fit` or `sanegnn search`")
    for name in (asked["space"], "plain"):
        known = space(name, winner.depth)
        if winner in known:
            return known
    raise BadSetting(f"{winner} is in no space whose slots could be replaced one by one")


Change = tuple[tuple[str, str, str, str], Architecture]


def runner_ups(run: Run, searched: SearchSpace, winner: Architecture) -> Iterator[Change]:
    """Slot, operation, runner-up and why, and the design with it; slots without one are passed over."""
    choice = searched.encode(winner)
    alphas, tried = _alphas(run, winner), _tried(run, searched)
    for slot in searched.slots:
        held = choice[slot.key]
        row = alphas.get(slot.key, ())
        others = [place for place in range(len(slot.choices)) if place != held]
        if len(row) == len(slot.choices) and others:
            best = max(others, key=lambda place: row[place])
            because = "next by alpha"
        else:
            taken = ((other, one[slot.key]) for other, one in tried if one[slot.key] != held)
            found = next(taken, None)
            if found is None:
                continue
            because, best = f"in {found[0]}", found[1]
        changed = searched.decode({**choice, slot.key: best})
        yield (slot.key, slot.choices[held], slot.choices[best], because), changed


def _alphas(run: Run, winner: Architecture) -> Mapping[str, Sequence[float]]:
    """The last alphas of the restart that found the winner."""
    for one in run.records(Derived):
        if one.architecture == str(winner):
            epochs = [epoch for epoch in _journal(run, one.restart) if isinstance(epoch, Epoch)]
            return epochs[-1].alphas if epochs else {}
    return {}


def _journal(run: Run, restart: int) -> list[Record]:
    path = run.path / "search" / f"restart-{restart}.jsonl"
    return journal.read(path) if path.exists() else []


def _tried(run: Run, searched: SearchSpace) -> list[tuple[str, dict[str, int]]]:
    """All architectures of the space that the run has a score of, the best first, and their choices."""
    best: dict[str, float] = {}
    files = sorted((run.path / "search").glob("restart-*.jsonl"))
    records = [*run.records(Record), *(record for file in files for record in journal.read(file))]
    for record in records:
        if isinstance(record, Trial | Retrain | Candidate) and record.validation == record.validation:
            best[record.architecture] = max(best.get(record.architecture, 0.0), record.validation)
    ranked = sorted(best, key=lambda text: -best[text])
    parsed = ((text, Architecture.parse(text)) for text in ranked)
    return [(text, searched.encode(one)) for text, one in parsed if one in searched]


def _task(run: Run, given: Any, machine: Machine) -> SearchTask:
    """The task of the run, its test labels sealed."""
    tables = run.settings.get("tables")
    choice = DataChoice.of(run.settings["data"])
    known = Tables.of(tables) if tables else run.about["dataset"]
    data = opened(known if given is None else given, choice, machine)
    if data.checksum != run.about["data"]:
        raise BadGraph(f"{data.name} is not what {run.path} was computed on: its checksum differs")
    own = {name: tasks[name].knobs.of(run.settings[name]) for name in tasks if name in run.settings}
    return task_of(data, choice, own).without_test()


def _trained(
    run: Run,
    designs: Sequence[Architecture],
    setting: Setting,
    task: SearchTask,
    repeats: int,
    machine: Machine,
    tell: Listener,
) -> list[list[float]]:
    """The validation scores of every design, by seed."""
    seed = Seed.of(run.settings["seed"]).seed
    training = Training.of(run.settings["training"])
    seeds = [derive(seed, "explain", place) for place in range(repeats)]
    jobs = [Job(design, setting, training, seed) for design in designs for seed in seeds]
    tell(Stage("explain", len(jobs)))
    scores: list[float] = []
    many = workers(machine.workers)
    for done, (job, outcome) in enumerate(zip(jobs, many.map(do, jobs, task), strict=True), start=1):
        if outcome.validation is None:
            raise TrainingFailed(f"{job.architecture} could not be trained again: {outcome.why}")
        scores.append(outcome.validation)
        tell(Step("explain", done, str(job.architecture), max(scores)))
    return [scores[begin : begin + repeats] for begin in range(0, len(scores), repeats)]


def paired(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """The mean of the differences and its standard error, infinite for a single pair."""
    differences = [a - b for a, b in zip(one, other, strict=True)]
    error = stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else float("inf")
    return fmean(differences), error
