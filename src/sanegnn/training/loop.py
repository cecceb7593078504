"""The one training loop: Adam on the training part, early stopping by the validation score."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from sanegnn.errors import TrainingFailed
from sanegnn.seeds import Noise, derive
from sanegnn.settings import Setting, Training
from sanegnn.tasks import Figured, Ready

RUNGS = (15, 30, 60, 120, 240)
"""The epochs at which a tuning trial may be stopped for being behind."""


@dataclass(frozen=True)
class Trained:
    """How a training went; `state` are the weights of its best epoch by validation."""

    validation: float
    epochs: int
    seconds: float
    state: dict[str, Tensor] = field(repr=False)
    pruned: bool = False
    rungs: dict[int, float] = field(default_factory=dict)


@dataclass
class Best:
    """The best epoch so far: by validation score, then by validation loss."""

    score: float = -math.inf
    loss: float = math.inf
    epoch: int = 0
    state: dict[str, Tensor] = field(default_factory=dict)

    def see(self, score: float, loss: float, epoch: int, net: nn.Module) -> None:
        """Keep the epoch if it is better."""
        if math.isfinite(loss) and (score, -loss) > (self.score, -self.loss):
            self.score, self.loss, self.epoch = score, loss, epoch
            self.state = {name: value.detach().clone() for name, value in net.state_dict().items()}


def train_net(
    net: nn.Module,
    ready: Ready,
    setting: Setting,
    training: Training,
    seed: int,
    floors: Mapping[int, float] | None = None,
) -> Trained:
    """Train `net` and leave the weights of its best epoch in it.

    `floors` are validation scores to have reached by certain epochs; whoever is below stops there.
    """
    began, best = time.perf_counter(), Best()
    adam = torch.optim.Adam(net.parameters(), lr=setting.lr, weight_decay=setting.weight_decay, fused=True)
    rungs: dict[int, float] = {}
    pruned, epoch = False, 0
    for epoch in range(1, training.epochs + 1):
        learn(net, ready, adam, Noise(derive(seed, "epoch", epoch)))
        score, loss = evaluate(net, ready, "val")
        best.see(score, loss, epoch, net)
        if epoch in RUNGS:
            rungs[epoch] = best.score
            pruned = best.score < (floors or {}).get(epoch, -math.inf)
        if pruned or epoch - best.epoch >= training.patience:
            break
    if not best.state:
        raise TrainingFailed(
            f"no epoch of {epoch} gave a finite loss: lower the learning rate {setting.lr:g}"
        )
    net.load_state_dict(best.state)
    return Trained(best.score, epoch, time.perf_counter() - began, best.state, pruned, rungs)


def learn(net: nn.Module, ready: Ready, adam: torch.optim.Optimizer, noise: Noise) -> float:
    """One epoch over the training batches; gives the mean loss."""
    net.train()
    losses = []
    for place, batch in enumerate(ready.batches("train", noise)):
        loss = ready.loss(net(batch.inputs, noise.at(place)), batch)
        descend(loss, adam)
        losses.append(loss.detach())
    return float(torch.stack(losses).mean())


def descend(loss: Tensor, adam: torch.optim.Optimizer) -> None:
    """A step down the loss, if a weight has a part in it: with all skips zero and no linear head none has."""
    adam.zero_grad()
    if loss.requires_grad:
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()


@torch.no_grad()
def evaluate(net: nn.Module, ready: Ready, part: str) -> tuple[float, float]:
    """The score and the mean loss of a part, without noise; a net that went astray scores -inf."""
    net.eval()
    batches = ready.batches(part)
    outputs = [net(batch.inputs) for batch in batches]
    losses = [ready.loss(output, batch) for output, batch in zip(outputs, batches, strict=True)]
    loss = float(torch.stack(losses).mean())
    return (ready.score(outputs, part) if math.isfinite(loss) else -math.inf), loss


@torch.no_grad()
def figures(net: nn.Module, ready: Ready, part: str) -> dict[str, float]:
    """What the task tells of a part beside the score; nothing as a rule."""
    if not isinstance(ready, Figured):
        return {}
    net.eval()
    return dict(ready.figures([net(batch.inputs) for batch in ready.batches(part)], part))
