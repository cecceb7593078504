"""What all searches on one supernet have in common: its training, its journal, its restarts.

The weights w belong to all architectures of the space. A strategy of this family says with its own
`SupernetCourse` what an epoch does to them and what is derived in the end; an epoch depends on the state
before it and on its number alone.

Where a part has several batches, every step of the weights takes the next training batch, and every step of
the alphas the next validation batch. An epoch has a step of each for every training batch.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor

from sanegnn.nets import Choice, Supernet, mixable
from sanegnn.records import Epoch
from sanegnn.seeds import Noise, derive
from sanegnn.settings import ACTIVATIONS, SCALINGS, Among, Knobs, Setting, Within, knob
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.base import Proposal, Quest, Strategy
from sanegnn.strategies.log import Log
from sanegnn.tasks import Ready, SearchTask
from sanegnn.training.loop import descend

Mix = Mapping[str, Choice]
"""What stands in every slot, by its key."""


@dataclass(frozen=True)
class SupernetKnobs(Knobs):
    """The supernet and the training of its weights; the defaults are the paper's."""

    epochs: Annotated[int, knob("T, the epochs of the supernet"), Within(1)] = 200
    hidden: Annotated[int, knob("width of the supernet's hidden states"), Within(1, 4096)] = 32
    heads: Annotated[int, knob("attention heads of the supernet"), Within(1, 64)] = 1
    activation: Annotated[str, knob("function after every layer"), Among(ACTIVATIONS)] = "elu"
    scaling: Annotated[str, knob("scaling of the input features"), Among(SCALINGS)] = "unit"
    input_dropout: Annotated[float, knob("share of stored input entries dropped"), Within(0, 0.99)] = 0.5
    dropout: Annotated[float, knob("share of hidden entries dropped"), Within(0, 0.99)] = 0.6
    lr: Annotated[float, knob("Adam's learning rate for w"), Within(1e-7, 1)] = 0.005
    weight_decay: Annotated[float, knob("L2 penalty on w"), Within(0, 1)] = 2e-4
    top: Annotated[int, knob("k, the architectures derived from a restart"), Within(1, 100)] = 1

    @property
    def setting(self) -> Setting:
        """The supernet's own hyper-parameters."""
        shared = ("hidden", "heads", "activation", "scaling", "input_dropout", "dropout")
        return Setting(
            **{name: getattr(self, name) for name in shared}, lr=self.lr, weight_decay=self.weight_decay
        )


S = TypeVar("S", bound=SupernetKnobs)


class SupernetCourse(ABC, Generic[S]):
    """The state of a search after `epoch` epochs; the same seed gives the same course."""

    def __init__(self, space: SearchSpace, ready: Ready, settings: S, seed: int) -> None:
        self.space, self.ready, self.settings, self.seed = space, ready, settings, seed
        sizes = (ready.num_features, ready.num_outputs)
        self.net = Supernet(space, settings.setting, *sizes, seed, ready.head)
        self.net.to(ready.batches("val")[0].inputs.graph.device)
        self.weights = list(self.net.parameters())
        self.w_adam = torch.optim.Adam(
            self.weights, lr=settings.lr, weight_decay=settings.weight_decay, fused=True
        )
        self.epoch, self.taken = 0, 0
        self.steps = len(ready.batches("train"))

    @abstractmethod
    def step(self) -> dict[str, float]:
        """One epoch; gives its training loss, its validation loss and score."""

    @abstractmethod
    def derive(self, top: int) -> list[tuple[Architecture, float]]:
        """The architectures that the search ends with, at most `top`, each with a score."""

    @property
    def done(self) -> bool:
        """Whether no epoch is to follow."""
        return self.epoch >= self.settings.epochs

    @property
    def noise(self) -> Noise:
        """The noise of this epoch."""
        return Noise(derive(self.seed, "noise", self.epoch))

    def learn(self, mix: Mix, noise: Noise) -> float:
        """Move the weights down the loss of this mix on the next training batch."""
        loss = self._training(mix, noise)
        descend(loss, self.w_adam)
        self.taken += 1
        return float(loss.detach())

    def _training(self, mix: Mix, noise: Noise) -> Tensor:
        """The loss on the next training batch; `taken` were taken so far."""
        self.net.train()
        lap, place = divmod(self.taken, self.steps)
        batch = self.ready.batches("train", Noise(derive(self.seed, "pass", lap)))[place]
        return self.ready.loss(self.net(batch.inputs, mix, noise.at(place)), batch)

    def _outputs(self, mix: Mix, places: Iterable[int]) -> tuple[dict[int, Tensor], Tensor]:
        """The outputs for some of the validation batches, and their mean loss."""
        self.net.eval()
        batches = self.ready.batches("val")
        outputs = {place: self.net(batches[place].inputs, mix) for place in places}
        losses = [self.ready.loss(output, batches[place]) for place, output in outputs.items()]
        return outputs, torch.stack(losses).mean()

    def _score(self, outputs: Mapping[int, Tensor], loss: float) -> float:
        """The score of outputs for all validation batches; of a net that went astray -inf."""
        ordered = [outputs[place].detach() for place in sorted(outputs)]
        return self.ready.score(ordered, "val") if math.isfinite(loss) else -math.inf

    @torch.no_grad()
    def validate(self, mix: Mix) -> tuple[float, float]:
        """The validation score and loss of a path, or of a mixture."""
        outputs, loss = self._outputs(mix, range(len(self.ready.batches("val"))))
        return self._score(outputs, float(loss)), float(loss)

    def alpha_table(self) -> dict[str, list[float]]:
        """How much every operation is preferred, by slot key, as records keep it."""
        return {}

    def state(self) -> dict[str, Any]:
        """All that the next epoch depends on; noise follows from seed and epoch."""
        moved = {"net": self.net.state_dict(), "adam": self.w_adam.state_dict()}
        return {"epoch": self.epoch, "taken": self.taken, **moved}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""
        self.epoch, self.taken = state["epoch"], state["taken"]
        self.net.load_state_dict(state["net"])
        self.w_adam.load_state_dict(state["adam"])


class Sight:
    """What the alpha steps of an epoch see: each the next validation batch, `taken` counts over epochs."""

    def __init__(self, course: SupernetCourse[Any]) -> None:
        self.course, self.many = course, len(course.ready.batches("val"))
        self.outputs: dict[int, Tensor] = {}
        self.losses: dict[int, float] = {}

    def loss(self, mix: Mix) -> Tensor:
        """The loss of this mix on the next batch; what it gave is kept for the epoch's record."""
        place = self.course.taken % self.many
        outputs, loss = self.course._outputs(mix, [place])
        self.outputs[place], self.losses[place] = outputs[place].detach(), float(loss.detach())
        return loss

    @torch.no_grad()
    def told(self, mix: Mix) -> tuple[float, float]:
        """The score and the mean loss over all batches; of those not seen, under the mix as it is now."""
        for place in set(range(self.many)) - set(self.outputs):
            outputs, loss = self.course._outputs(mix, [place])
            self.outputs[place], self.losses[place] = outputs[place], float(loss)
        mean = fmean(self.losses.values())
        return self.course._score(self.outputs, mean), mean


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


class OneSupernet(Strategy[S]):
    """A search whose restarts train one supernet each, side by side; the paper's runs have five."""

    course: ClassVar[type[SupernetCourse[Any]]]
    restarts = 5

    @classmethod
    def check(cls, space: SearchSpace) -> None:
        """A supernet must be able to hold it."""
        mixable(space)

    def steps(self, space: SearchSpace) -> int:
        """T epochs, fewer where a course ends early."""
        return self.settings.epochs

    def search(self, quest: Quest) -> Iterator[Proposal]:
        """The restarts side by side, each a supernet of its own seed."""
        jobs = [
            Restart(place, derive(quest.seed, "restart", place), quest.space, quest.device, quest.folder)
            for place in range(quest.restarts)
        ]
        for proposals in quest.workers.map(self.run, jobs, quest.task):
            yield from proposals

    def run(self, task: SearchTask, restart: Restart) -> list[Proposal]:
        """A course, gone on with from the last saved epoch, and the architectures it derives."""
        began, settings = time.perf_counter(), self.settings
        ready = task.ready(settings.scaling, restart.device)
        course = self.course(restart.space, ready, settings, restart.seed)
        with Log.of(restart.file("jsonl"), restart.file("state"), course) as log:
            while not course.done:
                told = course.step()
                log.keep(Epoch(restart.place, course.epoch, **told, alphas=course.alpha_table()))
        derived = course.derive(settings.top)
        seconds = time.perf_counter() - began + log.seconds_before
        return [
            Proposal(architecture, score, restart.place, restart.seed, seconds)
            for architecture, score in derived
        ]
