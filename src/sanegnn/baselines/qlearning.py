"""Deep Q-learning over states that are rows of a feature matrix.

    y       = r + γ Q'(s', argmax_a' Q(s', a'))        without the second term at the end of an episode
    L(θ)    = mean (y - Q(s, a; θ))²                   over transitions drawn from the memory D
    θ'     <- θ                                        every so many steps

Mnih et al.: Human-level control through deep reinforcement learning, Nature 2015, with the target of
van Hasselt, Guez, Silver: Double Q-learning, AAAI 2016.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from sanegnn.kernels import Features, project
from sanegnn.ops import initialise, linear, weight
from sanegnn.seeds import derive, generator
from sanegnn.settings import Knobs, Within, knob

WIDTHS = (32, 64, 128, 64, 32)
"""The hidden layers of Policy-GNN's Q."""


class QNet(nn.Module):
    """Q(s, ·; θ): a perceptron with tanh between its layers; its first product is sparse where X is."""

    def __init__(self, num_features: int, actions: int, seed: int = 0) -> None:
        super().__init__()
        self.stem = weight(num_features, WIDTHS[0])
        sizes = tuple(zip(WIDTHS, (*WIDTHS[1:], actions), strict=True))
        self.weights = nn.ParameterList(weight(after, before) for before, after in sizes)
        self.biases = nn.ParameterList(weight(width) for width in (*WIDTHS, actions))
        initialise(self, seed)

    def forward(self, features: Features, rows: Tensor | None = None) -> Tensor:
        """The values of all actions in the states of these rows, (R, actions); of all rows without them."""
        x = project(features, self.stem)
        x = (x if rows is None else x.index_select(0, rows)) + self.biases[0]
        for matrix, bias in zip(self.weights, list(self.biases)[1:], strict=True):
            x = linear(torch.tanh(x), matrix, bias)
        return x


@dataclass(frozen=True)
class Learning(Knobs):
    """How Q is learned; the defaults are those of Policy-GNN's released code, but for `renew`, there 1000."""

    discount: Annotated[float, knob("γ, what the next state counts"), Within(0, 1)] = 0.95
    q_lr: Annotated[float, knob("learning rate of Q"), Within(1e-7, 1)] = 5e-4
    capacity: Annotated[int, knob("transitions that the memory D holds"), Within(1)] = 10_000
    minibatch: Annotated[int, knob("transitions in a step of Q"), Within(1)] = 128
    renew: Annotated[int, knob("steps between two copies of Q to the target Q'"), Within(1)] = 50
    epsilon_start: Annotated[float, knob("share of random actions at first"), Within(0, 1)] = 1.0
    epsilon_end: Annotated[float, knob("share of random actions after the decay"), Within(0, 1)] = 0.2


class Transitions(NamedTuple):
    """What was seen: states and the states after them as rows, actions from 0, rewards, 1 at an end."""

    state: Tensor
    action: Tensor
    reward: Tensor
    after: Tensor
    ended: Tensor

    def at(self, places: Tensor) -> Transitions:
        """Some of them."""
        return Transitions(*(part[places] for part in self))


class QLearner:
    """Q, its target and the memory; the same seed and the same transitions give the same Q."""

    def __init__(self, states: Features, actions: int, settings: Learning, seed: int) -> None:
        self.states, self.actions, self.settings, self.seed = states, actions, settings, seed
        self.q = QNet(states.shape[1], actions, derive(seed, "q")).to(states.device)
        self.target = QNet(states.shape[1], actions).to(states.device)
        self.target.load_state_dict(self.q.state_dict())
        self.adam = torch.optim.Adam(self.q.parameters(), lr=settings.q_lr, fused=True)
        whole, real = torch.zeros(0, dtype=torch.int64), torch.zeros(0)
        nothing = Transitions(whole, whole, real, whole, real)
        self.memory = Transitions(*(part.to(states.device) for part in nothing))
        self.acted = self.learned = 0

    @torch.no_grad()
    def act(self, rows: Tensor, epsilon: float) -> Tensor:
        """The greedy actions in these states, a share `epsilon` of them replaced by random ones."""
        self.acted += 1
        rng = generator(self.seed, "act", self.acted)
        drawn = torch.from_numpy(rng.integers(self.actions, size=len(rows))).to(rows.device)
        explores = torch.from_numpy(rng.random(len(rows)) < epsilon).to(rows.device)
        return torch.where(explores, drawn, self.q(self.states, rows).argmax(dim=1))

    def remember(self, seen: Transitions) -> None:
        """Keep transitions; the oldest beyond the capacity are forgotten."""
        joined = (torch.cat(parts) for parts in zip(self.memory, seen, strict=True))
        self.memory = Transitions(*(part[-self.settings.capacity :] for part in joined))

    def learn(self) -> None:
        """One step of Q on a minibatch, once there is one."""
        if len(self.memory.state) < self.settings.minibatch:
            return
        self.learned += 1
        rng = generator(self.seed, "replay", self.learned)
        places = rng.integers(len(self.memory.state), size=self.settings.minibatch)
        seen = self.memory.at(torch.from_numpy(places).to(self.states.device))
        values = self.q(self.states, seen.state).gather(1, seen.action[:, None])[:, 0]
        loss = mse_loss(values, self.worth(seen))
        self.adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.adam.step()
        if self.learned % self.settings.renew == 0:
            self.target.load_state_dict(self.q.state_dict())

    @torch.no_grad()
    def worth(self, seen: Transitions) -> Tensor:
        """y: the reward, and what the target expects after it."""
        best = self.q(self.states, seen.after).argmax(dim=1, keepdim=True)
        after = self.target(self.states, seen.after).gather(1, best)[:, 0]
        worth: Tensor = seen.reward + self.settings.discount * (1 - seen.ended) * after
        return worth

    def state(self) -> dict[str, Any]:
        """All that the next step depends on."""
        return {
            "q": self.q.state_dict(),
            "target": self.target.state_dict(),
            "adam": self.adam.state_dict(),
            "memory": list(self.memory),
            "counts": [self.acted, self.learned],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""
        self.q.load_state_dict(state["q"])
        self.target.load_state_dict(state["target"])
        self.adam.load_state_dict(state["adam"])
        self.memory = Transitions(*(part.to(self.states.device) for part in state["memory"]))
        self.acted, self.learned = state["counts"]
