"""Measuring a space: many of its architectures, drawn at random, each trained several times.

Every training is a record, so that a census that was cut off goes on where it was.
"""

from __future__ import annotations

import math
from statistics import median

from sanegnn.bringing import named_space
from sanegnn.events import Stage, Step
from sanegnn.ranking import GroundTruth
from sanegnn.records import Measured
from sanegnn.results import Result
from sanegnn.runs import versions
from sanegnn.seeds import derive, generator
from sanegnn.session import Session
from sanegnn.settings import Sample, Setting
from sanegnn.space import Architecture, SearchSpace
from sanegnn.training.jobs import Job, Outcome
from sanegnn.training.select import Finalist

Key = tuple[str, int]
"""An architecture's text and which of its trainings is meant."""


def drawn(members: SearchSpace, count: int, seed: int) -> list[Architecture]:
    """`count` members, none twice; fewer where the space has no more. The same for every dataset."""
    rng, found = generator(seed, "truth"), dict[Architecture, None]()
    while len(found) < min(count, members.size):
        found.setdefault(members.sample(rng))
    return list(found)


def census(session: Session, sample: Sample, setting: Setting) -> GroundTruth:
    """The scores of the sample: every architecture once, then again from the next seed."""
    architectures = drawn(named_space(sample), sample.architectures, session.bench.seed)
    jobs = {
        (str(architecture), place): _job(session, architecture, setting, place)
        for place in range(sample.seeds)
        for architecture in architectures
    }
    known = _measure(session, jobs)
    scores = {
        architecture: tuple(known[str(architecture), place] for place in range(sample.seeds))
        for architecture in architectures
    }
    return GroundTruth(_about(session, setting), scores)


def _job(session: Session, architecture: Architecture, setting: Setting, place: int) -> Job:
    bench = session.bench
    seed = derive(bench.seed, "truth", str(architecture), place)
    return Job(architecture, setting, bench.training, seed, bench.device)


def _measure(session: Session, jobs: dict[Key, Job]) -> dict[Key, float]:
    """The scores of all jobs; those without a record are done now."""
    known = {(one.architecture, one.place): _score(one) for one in session.run.records(Measured)}
    missing = [key for key in jobs if key not in known]
    session.tell(Stage("truth", len(jobs), len(known)))
    for key, outcome in zip(missing, session.bench.train([jobs[key] for key in missing]), strict=True):
        one = _record(key, jobs[key], outcome)
        session.run.append(one)
        known[key] = _score(one)
        session.tell(Step("truth", len(known), key[0], max(known.values())))
    return known


def _record(key: Key, job: Job, outcome: Outcome) -> Measured:
    text, place = key
    validation = math.nan if outcome.validation is None else outcome.validation
    seconds, parameters = outcome.seconds, outcome.parameters
    return Measured(text, place, job.seed, validation, outcome.epochs, seconds, parameters, outcome.why)


def _score(one: Measured) -> float:
    return 0.0 if math.isnan(one.validation) else one.validation


def _about(session: Session, setting: Setting) -> dict[str, object]:
    """What the first line of the kept file says."""
    task, bench = session.task, session.bench
    records = session.run.records(Measured)
    return {
        "dataset": task.name,
        "data": session.data.checksum,
        "split": task.split,
        "metric": task.metric,
        "setting": setting.table(),
        "training": bench.training.table(),
        "seed": bench.seed,
        "seconds": round(sum(one.seconds for one in records), 1),
        "versions": versions(),
    }


def resting(session: Session, truth: GroundTruth, setting: Setting) -> Result:
    """The best architecture of the sample, with the spread and the noise ceiling in words."""
    means = truth.means
    ranked = sorted(means, key=lambda architecture: -means[architecture])
    sure = f"Kendall tau between seeds {truth.ceiling:.2f}" if not math.isnan(truth.ceiling) else "one seed"
    middle, worst = median(means.values()), min(means.values())
    words = (
        f"{len(means)} architectures: best {truth.best:.4f}, median {middle:.4f}, worst {worst:.4f}; {sure}"
    )
    rows = [{"architecture": str(one), "validation": means[one]} for one in ranked]
    return session.result(Finalist(ranked[0], setting, truth.scores[ranked[0]]), (), words, rows)
