"""One restart of Algorithm 1: a supernet's weights and alphas, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from sanegnn.nets import Choice, Supernet
from sanegnn.seeds import Noise, derive, generator
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.hypergradient import hypergradient
from sanegnn.tasks import Ready

if TYPE_CHECKING:
    from sanegnn.strategies.darts import Algorithm1

SAMPLES = 200
"""The paths that are drawn and scored when no alpha has been learned (epsilon = 1)."""


class Course:
    """The state of a search after `epoch` epochs; the same seed gives the same course."""

    def __init__(self, space: SearchSpace, ready: Ready, settings: Algorithm1, seed: int) -> None:
        self.space, self.ready, self.settings, self.seed = space, ready, settings, seed
        self.net = Supernet(space, settings.setting, ready.num_features, ready.num_outputs, seed)
        self.net.to(ready.batches("train")[0].target.device)
        self.weights = list(self.net.parameters())
        self.alpha = {slot.key: self._first_alpha(slot.key, len(slot.choices)) for slot in space.slots}
        self.w_adam = torch.optim.Adam(
            self.weights, lr=settings.lr, weight_decay=settings.weight_decay, fused=True
        )
        self.alpha_adam = torch.optim.Adam(
            list(self.alpha.values()),
            lr=settings.alpha_lr,
            betas=(0.5, 0.999),
            weight_decay=settings.alpha_weight_decay,
        )
        self.epoch = 0

    def _first_alpha(self, key: str, choices: int) -> Tensor:
        start = 1e-3 * generator(self.seed, "alpha", key).standard_normal(choices)
        device = self.weights[0].device
        return torch.tensor(start, dtype=self.weights[0].dtype, device=device, requires_grad=True)

    def mix(self) -> dict[str, Choice]:
        """softmax(alpha) for every slot (Eq. 2)."""
        return {slot.key: torch.softmax(self.alpha[slot.key], dim=0) for slot in self.space.slots}

    def step(self) -> dict[str, float]:
        """One epoch: the alpha step, then the weight step; or one step on a random path."""
        self.epoch += 1
        rng = generator(self.seed, "explore", self.epoch)
        noise = Noise(derive(self.seed, "noise", self.epoch))
        if rng.random() < self.settings.epsilon:
            path = self.space.encode(self.space.sample(rng))
            score, val_loss = self.validate(path)
            train_loss = self.weight_step(path, noise)
        else:
            score, val_loss = self.alpha_step(noise)
            train_loss = self.weight_step(None, noise)
        return {"train_loss": train_loss, "val_loss": val_loss, "val_score": score}

    def alpha_step(self, noise: Noise) -> tuple[float, float]:
        """Move the alphas down the validation loss; gives the mixture's score and loss."""
        seen: dict[str, float] = {}

        def validation() -> Tensor:
            loss, score = self._validation(self.mix())
            seen.setdefault("loss", float(loss.detach()))
            seen.setdefault("score", score)
            return loss

        def training() -> Tensor:
            return self._training(self.mix(), noise)

        alphas = list(self.alpha.values())
        gradients = hypergradient(alphas, self.weights, validation, training, self.settings.xi)
        for alpha, gradient in zip(alphas, gradients, strict=True):
            alpha.grad = gradient
        self.alpha_adam.step()
        return seen["score"], seen["loss"]

    def weight_step(self, path: Mapping[str, Choice] | None, noise: Noise) -> float:
        """Move the weights down the training loss of the mixture, or of one path."""
        mix = path or {
            key: choice.detach() for key, choice in self.mix().items() if isinstance(choice, Tensor)
        }
        self.w_adam.zero_grad()
        loss = self._training(mix, noise)
        loss.backward()  # type: ignore[no-untyped-call]
        self.w_adam.step()
        return float(loss.detach())

    def _training(self, mix: Mapping[str, Choice], noise: Noise) -> Tensor:
        self.net.train()
        losses = [
            self.ready.loss(self.net(batch.inputs, mix, noise.at(place)), batch)
            for place, batch in enumerate(self.ready.batches("train"))
        ]
        return torch.stack(losses).mean()

    def _validation(self, mix: Mapping[str, Choice]) -> tuple[Tensor, float]:
        self.net.eval()
        batches = self.ready.batches("val")
        outputs = [self.net(batch.inputs, mix) for batch in batches]
        losses = [self.ready.loss(output, batch) for output, batch in zip(outputs, batches, strict=True)]
        loss = torch.stack(losses).mean()
        sound = math.isfinite(float(loss.detach()))
        return loss, self.ready.score([output.detach() for output in outputs], "val") if sound else -math.inf

    @torch.no_grad()
    def validate(self, mix: Mapping[str, Choice] | None = None) -> tuple[float, float]:
        """The validation score and loss of a path, or of the mixture."""
        loss, score = self._validation(mix or self.mix())
        return score, float(loss)

    def derive(self, top: int) -> list[tuple[Architecture, float]]:
        """The strongest architectures, each with the supernet's own validation score."""
        if self.settings.epsilon == 1:
            return self._best_of_drawn(top)
        score, _ = self.validate()
        return [(architecture, score) for architecture in strongest(self.space, self.alpha_table(), top)]

    def _best_of_drawn(self, top: int) -> list[tuple[Architecture, float]]:
        rng = generator(self.seed, "draw")
        drawn = dict.fromkeys(self.space.sample(rng) for _ in range(SAMPLES))
        scored = [(path, self.validate(self.space.encode(path))[0]) for path in drawn]
        return sorted(scored, key=lambda pair: -pair[1])[:top]

    def alpha_table(self) -> dict[str, list[float]]:
        """Every alpha row by slot key, as records keep it."""
        return {key: row.detach().tolist() for key, row in self.alpha.items()}

    def state(self) -> dict[str, Any]:
        """All that the next epoch depends on; noise follows from seed and epoch."""
        return {
            "epoch": self.epoch,
            "net": self.net.state_dict(),
            "alpha": {key: row.detach() for key, row in self.alpha.items()},
            "adam": self.w_adam.state_dict(),
            "alpha_adam": self.alpha_adam.state_dict(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""
        self.epoch = state["epoch"]
        self.net.load_state_dict(state["net"])
        with torch.no_grad():
            for key, row in self.alpha.items():
                row.copy_(state["alpha"][key])
        self.w_adam.load_state_dict(state["adam"])
        self.alpha_adam.load_state_dict(state["alpha_adam"])


def strongest(space: SearchSpace, alphas: Mapping[str, list[float]], top: int) -> list[Architecture]:
    """The `top` architectures with the largest product of softmax(alpha), the first being the argmax."""
    beam: list[tuple[float, dict[str, int]]] = [(0.0, {})]
    for slot in space.slots:
        row = alphas[slot.key]
        grown = [
            (total + value, {**taken, slot.key: place})
            for total, taken in beam
            for place, value in enumerate(row)
        ]
        beam = sorted(grown, key=lambda pair: -pair[0])[:top]
    return [space.decode(taken) for _, taken in beam]
