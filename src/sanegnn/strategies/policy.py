"""A controller: an LSTM that emits one choice for every slot, and learns by REINFORCE what is rewarded.

    p(picks) = Π_t softmax(c tanh(W_kind h_t / T)),    h_t = LSTM(token of pick t - 1, h_(t-1))

Slots of one kind share tokens and output weights, as in GraphNAS, with its T = 5 and c = 2.5. Before it
emits, the LSTM may read picks that stand already. All is computed in float64 and drawn from NumPy's
generator, so that a course can be computed again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from sanegnn.seeds import generator
from sanegnn.space import Slot

TEMPERATURE, CAP = 5.0, 2.5
START = 0.1
"""Weights begin between -START and START, biases at zero."""

Picks = Mapping[str, int]
"""The index of a choice by the key of its slot."""


@dataclass(frozen=True)
class Emitted:
    """The picks of some slots, with their log-probability and the sum of the entropies of all draws."""

    picks: dict[str, int]
    log_probability: Tensor
    entropy: Tensor


class Policy(nn.Module):
    """The distribution of the picks of `emits`, given those of `reads`."""

    def __init__(self, reads: Sequence[Slot], emits: Sequence[Slot], width: int, seed: int) -> None:
        super().__init__()
        self.reads, self.emits, self.width = tuple(reads), tuple(emits), width
        sizes = {slot.kind: len(slot.choices) for slot in (*reads, *emits)}
        rng = generator(seed, "policy")

        def drawn(*size: int) -> nn.Parameter:
            return nn.Parameter(torch.from_numpy(rng.uniform(-START, START, size)))

        self.tokens = nn.ParameterDict({kind: drawn(size, width) for kind, size in sizes.items()})
        self.outputs = nn.ParameterDict({slot.kind: drawn(sizes[slot.kind], width) for slot in emits})
        self.input, self.recurrent = drawn(4 * width, width), drawn(4 * width, width)
        self.bias = nn.Parameter(torch.zeros(4 * width, dtype=torch.float64))

    def forward(
        self, read: Picks, taken: Picks | None = None, rng: np.random.Generator | None = None
    ) -> Emitted:
        """The picks that are drawn with `rng`, or those that were taken."""
        state = self.bias.new_zeros(2, self.width)
        token = self.bias.new_zeros(self.width)
        for slot in self.reads:
            state = self._step(token, state)
            token = self.tokens[slot.kind][read[slot.key]]
        picks: dict[str, int] = {}
        logs, entropies = [], []
        for slot in self.emits:
            state = self._step(token, state)
            log = self._log_probabilities(slot, state)
            picks[slot.key] = _drawn(log, rng) if rng is not None else (taken or {})[slot.key]
            token = self.tokens[slot.kind][picks[slot.key]]
            logs.append(log[picks[slot.key]])
            entropies.append(-(log.exp() * log).sum())
        return Emitted(picks, torch.stack(logs).sum(), torch.stack(entropies).sum())

    def _step(self, token: Tensor, state: Tensor) -> Tensor:
        hidden, cell = state
        i, f, g, o = (self.input @ token + self.recurrent @ hidden + self.bias).chunk(4)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        return torch.stack([torch.sigmoid(o) * torch.tanh(cell), cell])

    def _log_probabilities(self, slot: Slot, state: Tensor) -> Tensor:
        scores = self.outputs[slot.kind] @ state[0] / TEMPERATURE
        return torch.log_softmax(CAP * torch.tanh(scores), dim=0)


def _drawn(log: Tensor, rng: np.random.Generator) -> int:
    share = np.exp(log.detach().numpy())
    return int(rng.choice(len(share), p=share / share.sum()))


class Learner:
    """A policy that ascends E[reward] + `entropy` · H by REINFORCE, against a moving average of rewards."""

    def __init__(self, policy: Policy, lr: float, entropy: float, decay: float) -> None:
        self.policy, self.entropy, self.decay = policy, entropy, decay
        self.adam = torch.optim.Adam(policy.parameters(), lr=lr)
        self.baseline = math.nan

    @torch.no_grad()
    def draw(self, rng: np.random.Generator, read: Picks | None = None) -> Emitted:
        """Picks from the policy as it is."""
        emitted: Emitted = self.policy(read or {}, rng=rng)
        return emitted

    def learn(self, taken: Picks, reward: float, read: Picks | None = None) -> None:
        """One step for picks and what they brought; the first reward only sets the baseline."""
        if not math.isnan(self.baseline):
            emitted: Emitted = self.policy(read or {}, taken)
            gain = (reward - self.baseline) * emitted.log_probability + self.entropy * emitted.entropy
            self.adam.zero_grad()
            (-gain).backward()  # type: ignore[no-untyped-call]
            self.adam.step()
        before = reward if math.isnan(self.baseline) else self.baseline
        self.baseline = self.decay * before + (1 - self.decay) * reward
