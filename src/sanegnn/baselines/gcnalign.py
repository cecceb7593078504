"""GCN-Align: two graph convolutions without weights of their own over a table of embeddings.

    Z = Â relu(Â X Ŵ)        the rows of Ŵ are those of W, each of length 1

X is one-hot for the structure, so that X Ŵ is the table itself, and the attributes of the entities for the
attribute embedding; Â is the relation-weighted adjacency (`data/knowledge.py`), normalised as GCN does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from sanegnn.baselines.aligner import Aligner
from sanegnn.baselines.contender import contenders
from sanegnn.kernels import aggregate, project
from sanegnn.nets import Inputs
from sanegnn.seeds import Noise
from sanegnn.settings import Knobs, Setting, Training, Within, knob
from sanegnn.tasks.alignment import AlignmentSearch, ReadyAlignment
from sanegnn.training import Trained, train_net

SOURCE = "Wang, Lv, Lan, Zhang: GCN-Align, EMNLP 2018"


@dataclass(frozen=True)
class GcnAlignKnobs(Knobs):
    """The width and the optimizer; the released code descends by SGD with a rate of 20."""

    width: Annotated[int, knob("width of both embeddings"), Within(1, 4096)] = 200
    lr: Annotated[float, knob("Adam's learning rate"), Within(1e-7, 1)] = 0.01


class GcnAlignNet(nn.Module):
    """The embeddings of the first `views` views; zeros for the others."""

    def __init__(self, features: int, width: int, nodes: int, views: int, seed: int) -> None:
        super().__init__()
        stream = torch.Generator().manual_seed(seed % 2**63)
        self.table = nn.Parameter(torch.randn(features, width, generator=stream) / features**0.5)
        self.told = nodes * views

    def forward(self, inputs: Inputs, noise: Noise | None = None) -> Tensor:
        """(R, D)."""
        state = project(inputs.features, normalize(self.table))
        (state,) = aggregate(state, inputs.graph, ("gcn",))
        (state,) = aggregate(torch.relu(state), inputs.graph, ("gcn",))
        told = torch.arange(state.shape[0], device=state.device) < self.told
        return inputs.asked(state * told[:, None])


@contenders.add("gcn-align", source=SOURCE)
class GcnAlign(Aligner[GcnAlignKnobs]):
    """Structure and attribute embedding, their distances joined by β."""

    knobs = GcnAlignKnobs
    label = "gcn-align"
    views = 2

    def net(self, task: AlignmentSearch, ready: ReadyAlignment, seed: int) -> GcnAlignNet:
        """A table with a row for every entity and every attribute."""
        return GcnAlignNet(ready.num_features, self.settings.width, task.entities, self.views, seed)

    def learn(
        self, net: nn.Module, task: AlignmentSearch, ready: ReadyAlignment, training: Training, seed: int
    ) -> Trained:
        """The margin loss by Adam."""
        return train_net(net, ready, Setting(lr=self.settings.lr, weight_decay=0.0), training, seed)


@contenders.add("gcn-align-se", source=SOURCE)
class GcnAlignStructure(GcnAlign):
    """The structure embedding alone."""

    label = "gcn-align-se"
    views = 1
