"""Several trained nets as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from sanegnn.nets.backbone import Inputs
from sanegnn.seeds import Noise

Together = Callable[[Sequence[Tensor]], Tensor]
"""The outputs of several nets as one of the same kind."""


def mean_odds(outputs: Sequence[Tensor]) -> Tensor:
    """The mean of class probabilities, as logits: log mean_m softmax(out_m)."""
    odds = torch.stack([torch.softmax(output, dim=1) for output in outputs])
    return odds.mean(0).clamp(min=torch.finfo(odds.dtype).tiny).log()


def mean_chances(outputs: Sequence[Tensor]) -> Tensor:
    """The mean of the probabilities of single truths, as logits: logit mean_m σ(out_m)."""
    chances = torch.stack([torch.sigmoid(output.double()) for output in outputs])
    return torch.logit(chances.mean(0), eps=1e-15).to(outputs[0].dtype)


class Ensemble(nn.Module):
    """What the members say together."""

    def __init__(self, members: Sequence[nn.Module], together: Together = mean_odds) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.together = together

    def forward(self, inputs: Inputs, noise: Noise | None = None) -> Tensor:
        """(N, outputs)."""
        return self.together([net(inputs, noise) for net in self.members])
