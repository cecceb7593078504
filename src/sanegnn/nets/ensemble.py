"""Several trained nets as one."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from sanegnn.nets.backbone import Inputs
from sanegnn.seeds import Noise


class Ensemble(nn.Module):
    """The mean of the members' class probabilities, as logits: log mean_m softmax(net_m(x))."""

    def __init__(self, members: Sequence[nn.Module]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, inputs: Inputs, noise: Noise | None = None) -> Tensor:
        """(N, outputs)."""
        odds = torch.stack([torch.softmax(net(inputs, noise), dim=1) for net in self.members])
        return odds.mean(0).clamp(min=torch.finfo(odds.dtype).tiny).log()
