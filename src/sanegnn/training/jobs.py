"""One training as a job that any worker can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import load, save
from torch import nn

from sanegnn.errors import RunFolder, TrainingFailed
from sanegnn.journal import write_atomic
from sanegnn.nets import Net
from sanegnn.seeds import derive
from sanegnn.settings import Setting, Training
from sanegnn.space import Architecture
from sanegnn.tasks import Ready, SearchTask
from sanegnn.training.loop import train_net


@dataclass(frozen=True)
class Job:
    """Train this architecture with this setting from this seed; keep the weights in `file`.

    `start` names parts of the net, by the beginning of their weights' names, and the file with the weights
    that each takes over.
    """

    architecture: Architecture
    setting: Setting
    training: Training
    seed: int
    device: str = "cpu"
    floors: Mapping[int, float] | None = None
    file: Path | None = None
    start: Mapping[str, Path] = field(default_factory=dict)

    def net(self, ready: Ready) -> nn.Module:
        """The net before its training."""
        sizes = ready.num_features, ready.num_outputs
        net = Net(self.architecture, self.setting, *sizes, derive(self.seed, "net"), ready.head)
        return net.to(torch.device(self.device))


@dataclass(frozen=True)
class Outcome:
    """How a job ended; a training that went astray has no score and says why."""

    validation: float | None
    epochs: int = 0
    seconds: float = 0.0
    parameters: int = 0
    pruned: bool = False
    rungs: dict[int, float] = field(default_factory=dict)
    why: str = ""


def do(task: SearchTask, job: Job) -> Outcome:
    """Train the net of a job."""
    ready = task.ready(job.setting.scaling, job.device)
    net = job.net(ready)
    take_over(net, job.start)
    return fitted(net, ready, job)


def fitted(net: nn.Module, ready: Ready, job: Job) -> Outcome:
    """Train a net as the job says, and write the weights of its best epoch."""
    try:
        trained = train_net(net, ready, job.setting, job.training, derive(job.seed, "train"), job.floors)
    except TrainingFailed as failed:
        return Outcome(None, why=str(failed))
    if job.file is not None:
        write_atomic(
            job.file, save({name: value.cpu().contiguous() for name, value in trained.state.items()})
        )
    parameters = sum(parameter.numel() for parameter in net.parameters())
    return Outcome(
        trained.validation, trained.epochs, trained.seconds, parameters, trained.pruned, trained.rungs
    )


def take_over(net: nn.Module, start: Mapping[str, Path]) -> None:
    """Put weights from files into the net, one by one where name and shape agree."""
    files = {file: load(_read(file)) for file in set(start.values())}
    own = net.state_dict()
    taken = {
        name: value
        for part, file in start.items()
        for name, value in files[file].items()
        if name.startswith(part) and name in own and own[name].shape == value.shape
    }
    net.load_state_dict({**own, **taken})


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise RunFolder(f"cannot read the weights {file} ({error}): start over with --fresh") from error


def restored(job: Job, ready: Ready) -> nn.Module:
    """The net of a job with the weights that it wrote."""
    if job.file is None:
        raise ValueError("the job kept no weights")
    net = job.net(ready)
    net.load_state_dict(load(job.file.read_bytes()))
    return net.eval()
