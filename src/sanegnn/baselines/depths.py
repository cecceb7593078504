"""A stack whose nodes stop at depths of their own."""

from __future__ import annotations

import torch
from torch import Tensor

from sanegnn.baselines.qlearning import QNet
from sanegnn.nets import Inputs, Net
from sanegnn.seeds import Noise
from sanegnn.settings import Setting
from sanegnn.space import Architecture
from sanegnn.tasks import Batch


class DepthNet(Net):
    """A plain stack that each node leaves at the depth which a policy chooses from its features.

    The policy is a part of the net that does not learn with it: π(s) = argmax_a Q(s, a).
    """

    def __init__(
        self, stack: Architecture, setting: Setting, num_features: int, num_outputs: int, seed: int = 0
    ) -> None:
        super().__init__(stack, setting, num_features, num_outputs, seed)
        self.policy = QNet(num_features, stack.depth).requires_grad_(requires_grad=False)

    def depths(self, inputs: Inputs) -> Tensor:
        """1 … T for each of the rows, (R,)."""
        values: Tensor = self.policy(inputs.features, inputs.rows)
        return values.argmax(dim=1) + 1

    def embed(self, inputs: Inputs, noise: Noise | None = None) -> Tensor:
        """z (R, D)."""
        return self.embed_at(inputs, self.depths(inputs), noise)

    def embed_at(self, inputs: Inputs, depths: Tensor, noise: Noise | None = None) -> Tensor:
        """h_v^(a_v) of each row v, (R, D), for depths a (R,)."""
        states = self.hidden(inputs, noise, int(depths.max()))
        return torch.stack(states)[depths - 1, torch.arange(len(depths), device=depths.device)]

    def outputs_at(self, inputs: Inputs, depths: Tensor, noise: Noise | None = None) -> Tensor:
        """(R, outputs) at depths of the caller's."""
        return self.outputs(self.embed_at(inputs, depths, noise), inputs, noise)

    @torch.no_grad()
    def odds(self, batch: Batch) -> Tensor:
        """M: the probability of its class for every row at every depth, (R, T)."""
        self.eval()
        states = self.hidden(batch.inputs, None, self.depth)
        logits = torch.stack([self.outputs(state, batch.inputs, None) for state in states])
        odds = torch.softmax(logits, dim=2)
        return odds[:, torch.arange(len(batch.target), device=batch.target.device), batch.target].T
