"""The search for a policy that chooses the depth of every node.

Policy-GNN's decision process, in its symbols:

    s_t    the attributes of the node v_t
    a_t    1 … T, the layers of the shared stack that v_t goes through: z_v = h_v^(a_t)
    s_t+1  the attributes of a node drawn from the a_t-hop neighbourhood of v_t: a walk of a_t steps
    r_t    λ (M(s_t, a_t) - mean of M over the last b time-steps)

T buffers, one an action, collect the training nodes for which that action was chosen; when a buffer holds B
nodes, the first a layers of the stack take one step on their loss and the buffer is emptied. So T depths
share T layers, and an architecture is never built for a single node.

Lai, Zha, Zhou, Hu: Policy-GNN, KDD 2020. What was chosen differently here:

* M is read at the node: the probability that the stack, evaluated at depth a_t, gives to the class of v_t.
  Paid as one number over all nodes, every state would get the same reward and nothing could tell them apart.
* M is measured on training nodes that are held out of the buffers. The validation part is left to what it is
  for everybody else, the choice among policies, epochs and settings, and its score judges nodes that the
  policy was not paid for.
* A walk visits any node, but only nodes of the training part have labels, for buffers and for rewards: who
  ends a step elsewhere begins the next one where its episode began.
"""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor

from sanegnn.baselines.depths import DepthNet
from sanegnn.baselines.qlearning import Learning, QLearner, Transitions
from sanegnn.kernels import Graph
from sanegnn.seeds import Noise, derive, generator
from sanegnn.settings import Setting, Within, knob
from sanegnn.space import Architecture
from sanegnn.tasks import Batch, Ready
from sanegnn.training import evaluate


@dataclass(frozen=True)
class MetaPolicy(Setting, Learning):
    """The stack and how its policy is searched; the knobs of `Setting` are where tuning starts."""

    backbone: Annotated[str, knob("the node aggregator of every layer")] = "gcn"
    depth: Annotated[int, knob("T, the layers of the stack"), Within(1, 16)] = 5
    episodes: Annotated[int, knob("episodes of the search for a policy"), Within(1)] = 100
    steps: Annotated[int, knob("time-steps of an episode"), Within(1)] = 10
    buffer: Annotated[int, knob("B, nodes of a buffer that are trained together"), Within(1)] = 512
    window: Annotated[int, knob("b, past time-steps whose mean M is the baseline"), Within(1)] = 50
    strength: Annotated[float, knob("λ, the strength of the reward"), Within(0)] = 1.0
    held: Annotated[float, knob("share of the training nodes that M is measured on"), Within(0.01, 0.99)] = (
        0.3
    )
    share: Annotated[
        float, knob("share of a wall-clock budget that the search for a policy may take"), Within(0, 1)
    ] = 0.5

    @property
    def setting(self) -> Setting:
        """The hyper-parameters of the stack."""
        return Setting(**{field.name: getattr(self, field.name) for field in fields(Setting)})

    @property
    def stack(self) -> Architecture:
        """The backbone, T times."""
        return Architecture((self.backbone,) * self.depth)


def walk(graph: Graph, nodes: Tensor, hops: Tensor, rng: np.random.Generator) -> Tensor:
    """Where a walk against the edges ends, from each node after as many hops; who has no neighbour stays."""
    ptr, src = graph.ptr.cpu().long(), graph.src.cpu().long()
    here, left = nodes.cpu().clone(), hops.cpu()
    for step in range(int(hops.max())):
        count = ptr[here + 1] - ptr[here] - 1
        drawn = (torch.from_numpy(rng.random(len(here))) * count).long()
        moves = (left > step) & (count > 0)
        there = src[(ptr[here] + 1 + drawn).clamp(max=len(src) - 1)]
        here = torch.where(moves, there, here)
    return here.to(nodes.device)


class Walkers:
    """The training part as the decision process sees it: whom the buffers take, and whom M is measured on."""

    def __init__(self, ready: Ready, held: float, seed: int) -> None:
        (batch,) = ready.batches("train")
        assert batch.inputs.rows is not None
        self.inputs, self.rows = batch.inputs, batch.inputs.rows
        device, nodes = self.rows.device, self.inputs.graph.num_nodes
        order = generator(seed, "held").permutation(len(self.rows))
        count = min(max(1, round(held * len(order))), len(order) - 1)
        out = torch.from_numpy(order[:count]).to(device)
        self.target = torch.full((nodes,), -1, dtype=batch.target.dtype, device=device)
        self.target[self.rows] = batch.target
        self.place = torch.full((nodes,), -1, dtype=torch.int64, device=device)
        self.place[self.rows[out]] = torch.arange(len(out), device=device)
        self.learners, self.judged = len(order) - count, self.batch(self.rows[out])

    def batch(self, nodes: Tensor) -> Batch:
        """These nodes of the training part."""
        return Batch(replace(self.inputs, rows=nodes), self.target[nodes])

    def home(self, nodes: Tensor) -> Tensor:
        """The nodes (R,), one for each of the training part; who is outside of it goes back to its own."""
        return torch.where(self.target[nodes] >= 0, nodes, self.rows)


class PolicyCourse:
    """The search for a policy after `epoch` episodes; the same seed gives the same course."""

    def __init__(self, ready: Ready, settings: MetaPolicy, seed: int) -> None:
        self.ready, self.settings, self.seed = ready, settings, seed
        self.nodes = Walkers(ready, settings.held, seed)
        device, sizes = self.nodes.rows.device, (ready.num_features, ready.num_outputs)
        self.net = DepthNet(settings.stack, settings.setting, *sizes, derive(seed, "net")).to(device)
        self.learner = QLearner(self.nodes.inputs.features, settings.depth, settings, derive(seed, "policy"))
        self.adam = torch.optim.Adam(
            self.net.parameters(), lr=settings.lr, weight_decay=settings.weight_decay, fused=True
        )
        self.buffers = [self.nodes.rows[:0]] * settings.depth
        self.past: deque[float] = deque(maxlen=settings.window)
        self.epoch = self.trained = 0
        self.best, self.policy = -math.inf, copy.deepcopy(self.learner.q.state_dict())

    @property
    def epsilon(self) -> float:
        """It falls linearly over the first half of the episodes."""
        gone = min(1.0, 2 * (self.epoch - 1) / self.settings.episodes)
        first, last = self.settings.epsilon_start, self.settings.epsilon_end
        return first + gone * (last - first)

    def step(self) -> dict[str, Any]:
        """One episode; gives the losses, the validation score and how many nodes stop at each depth."""
        self.epoch += 1
        rng = generator(self.seed, "walk", self.epoch)
        here, losses = self.nodes.rows, []
        for time in range(1, self.settings.steps + 1):
            actions = self.learner.act(here, self.epsilon)
            losses += self.fill(here, actions)
            after = walk(self.nodes.inputs.graph, here, actions + 1, rng)
            self.pay(here, actions, after, time == self.settings.steps)
            self.learner.learn()
            here = self.nodes.home(after)
        return {"train_loss": float(np.mean(losses)) if losses else math.nan, **self.judge()}

    def fill(self, nodes: Tensor, actions: Tensor) -> list[float]:
        """Put nodes into the buffers of their actions; gives the losses of the buffers that were full."""
        taken, losses = self.nodes.place[nodes] < 0, []
        size = min(self.settings.buffer, self.nodes.learners)
        for action, waiting in enumerate(self.buffers):
            parts = torch.split(torch.cat([waiting, nodes[taken & (actions == action)]]), size)
            losses += [self.train(part, action + 1) for part in parts if len(part) == size]
            self.buffers[action] = parts[-1][: len(parts[-1]) % size]
        return losses

    def train(self, nodes: Tensor, depth: int) -> float:
        """One step of the first `depth` layers on the loss of a buffer."""
        self.trained += 1
        batch, noise = self.nodes.batch(nodes), Noise(derive(self.seed, "noise", self.trained))
        self.net.train()
        self.adam.zero_grad()
        output = self.net.outputs_at(batch.inputs, torch.full_like(nodes, depth), noise)
        loss = self.ready.loss(output, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        self.adam.step()
        return float(loss.detach())

    def pay(self, nodes: Tensor, actions: Tensor, after: Tensor, ended: bool) -> None:
        """Remember the transitions of the nodes that M is measured on, with their rewards."""
        place = self.nodes.place[nodes]
        paid = place >= 0
        if not bool(paid.any()):
            return
        metric = self.net.odds(self.nodes.judged)[place[paid], actions[paid]]
        mean = float(metric.mean())
        reward = self.settings.strength * (metric - (float(np.mean(self.past)) if self.past else mean))
        self.past.append(mean)
        over = torch.full_like(reward, float(ended))
        self.learner.remember(Transitions(nodes[paid], actions[paid], reward, after[paid], over))

    def judge(self) -> dict[str, Any]:
        """The validation score of the greedy policy, which is kept if it is the best so far."""
        self.net.policy.load_state_dict(self.learner.q.state_dict())
        score, loss = evaluate(self.net, self.ready, "val")
        if math.isfinite(score) and score >= self.best:
            self.best, self.policy = score, copy.deepcopy(self.learner.q.state_dict())
        (batch,) = self.ready.batches("val")
        counts = torch.bincount(self.net.depths(batch.inputs) - 1, minlength=self.settings.depth)
        return {"val_loss": loss, "val_score": score, "alphas": {"depth": (counts / counts.sum()).tolist()}}

    def state(self) -> dict[str, Any]:
        """All that the next episode depends on."""
        return {
            "epoch": self.epoch,
            "trained": self.trained,
            "net": self.net.state_dict(),
            "adam": self.adam.state_dict(),
            "learner": self.learner.state(),
            "buffers": self.buffers,
            "past": list(self.past),
            "best": self.best,
            "policy": self.policy,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state."""
        self.epoch, self.trained = state["epoch"], state["trained"]
        self.net.load_state_dict(state["net"])
        self.adam.load_state_dict(state["adam"])
        self.learner.restore(state["learner"])
        self.buffers = [part.to(self.nodes.rows.device) for part in state["buffers"]]
        self.past = deque(state["past"], maxlen=self.settings.window)
        self.best, self.policy = state["best"], state["policy"]
