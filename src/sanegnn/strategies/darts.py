"""SANE's Algorithm 1: alphas descend the validation loss, weights the training loss, in turn.

    repeat T times
        alpha <- Adam(∇_α L_val(w - ξ ∇_w L_tra(w, α), α))       Eq. 8
        w     <- Adam(∇_w L_tra(w, α))
    derive the strongest operation of every slot

With probability `epsilon` an epoch explores instead: it draws one operation for every slot and trains
the weights of that path alone. At epsilon = 1 no alpha ever moves, and the search is random search with
weight sharing: paths are drawn and the best by the supernet's validation score are returned.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from sanegnn.records import Epoch
from sanegnn.seeds import derive
from sanegnn.settings import ACTIVATIONS, SCALINGS, Among, Knobs, Setting, Within, knob
from sanegnn.space import SearchSpace
from sanegnn.strategies.base import Proposal, Quest, Strategy, strategies
from sanegnn.strategies.course import Course
from sanegnn.strategies.log import Log
from sanegnn.tasks import SearchTask


@dataclass(frozen=True)
class Algorithm1(Knobs):
    """The knobs of Algorithm 1; the defaults are the paper's."""

    epochs: Annotated[int, knob("T, the epochs of the supernet"), Within(1)] = 200
    hidden: Annotated[int, knob("width of the supernet's hidden states"), Within(1, 4096)] = 32
    heads: Annotated[int, knob("attention heads of the supernet"), Within(1, 64)] = 1
    activation: Annotated[str, knob("function after every layer"), Among(ACTIVATIONS)] = "elu"
    scaling: Annotated[str, knob("scaling of the input features"), Among(SCALINGS)] = "unit"
    input_dropout: Annotated[float, knob("share of stored input entries dropped"), Within(0, 0.99)] = 0.5
    dropout: Annotated[float, knob("share of hidden entries dropped"), Within(0, 0.99)] = 0.6
    lr: Annotated[float, knob("Adam's learning rate for w"), Within(1e-7, 1)] = 0.005
    weight_decay: Annotated[float, knob("L2 penalty on w"), Within(0, 1)] = 2e-4
    alpha_lr: Annotated[float, knob("Adam's learning rate for alpha"), Within(1e-7, 10)] = 3e-4
    alpha_weight_decay: Annotated[float, knob("L2 penalty on alpha"), Within(0, 1)] = 1e-3
    xi: Annotated[float, knob("inner step of Eq. 8; 0 is first order"), Within(0, 10)] = 0.0
    epsilon: Annotated[float, knob("share of epochs that explore a random path"), Within(0, 1)] = 0.0
    top: Annotated[int, knob("k, the architectures derived from a restart"), Within(1, 100)] = 1

    @property
    def setting(self) -> Setting:
        """The supernet's own hyper-parameters."""
        shared = ("hidden", "heads", "activation", "scaling", "input_dropout", "dropout")
        return Setting(
            **{name: getattr(self, name) for name in shared}, lr=self.lr, weight_decay=self.weight_decay
        )


@strategies.add("paper", source="Zhao, Yao, Tu: SANE, ICDE 2021, Algorithm 1")
class Paper(Strategy[Algorithm1]):
    """The paper's search, unchanged."""

    knobs = Algorithm1

    def steps(self, space: SearchSpace) -> int:
        """T epochs."""
        return self.settings.epochs

    def search(self, quest: Quest) -> Iterator[Proposal]:
        """The restarts side by side, each a supernet of its own seed."""
        jobs = [
            Restart(place, derive(quest.seed, "restart", place), quest.space, quest.device, quest.folder)
            for place in range(quest.restarts)
        ]
        for proposals in quest.workers.map(partial(run, settings=self.settings), jobs, quest.task):
            yield from proposals


@dataclass(frozen=True)
class Restart:
    """One supernet to train."""

    place: int
    seed: int
    space: SearchSpace
    device: str
    folder: Path | None

    def file(self, ending: str) -> Path | None:
        """Where this restart keeps its epochs or its state."""
        return self.folder and self.folder / f"restart-{self.place}.{ending}"


def run(task: SearchTask, restart: Restart, settings: Algorithm1) -> list[Proposal]:
    """Algorithm 1, gone on with from the last saved epoch, and the architectures it derives."""
    began = time.perf_counter()
    ready = task.ready(settings.scaling, restart.device)
    course = Course(restart.space, ready, settings, restart.seed)
    with Log.of(restart.file("jsonl"), restart.file("state"), course) as log:
        while course.epoch < settings.epochs:
            told = course.step()
            log.keep(Epoch(restart.place, course.epoch, **told, alphas=course.alpha_table()))
    seconds = time.perf_counter() - began + log.seconds_before
    return [
        Proposal(architecture, score, restart.place, restart.seed, seconds)
        for architecture, score in course.derive(settings.top)
    ]
