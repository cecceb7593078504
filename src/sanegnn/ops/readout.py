"""Layer aggregators of JK-Networks, and the skips that feed them.

The states arrive stacked, (K, N, D), with zeroed ones in place: `concat` keeps its width, `max` and
`lstm` see a state of zeros.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sanegnn.kernels import lstm_readout
from sanegnn.ops.base import LayerAggregator, Shape, layer_ops, linear, skip_ops, weight


@skip_ops.add("skip", source="SANE, Table I: IDENTITY")
def skip(state: Tensor) -> Tensor:
    """The state reaches the layer aggregator."""
    return state


@skip_ops.add("zero", source="SANE, Table I: ZERO")
def zero(state: Tensor) -> Tensor:
    """The layer aggregator sees zeros in place of the state."""
    return torch.zeros_like(state)


@layer_ops.add("concat", source="Xu et al.: JK-Networks, ICML 2018")
class Concat(LayerAggregator):
    """W [h^1 || ... || h^K] + b: concatenation, and the projection that brings it back to width D."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.weight = weight(shape.width, shape.depth * shape.width)
        self.bias = weight(shape.width)

    def forward(self, states: Tensor) -> Tensor:
        """(K, N, D) -> (N, D)."""
        return linear(torch.cat(states.unbind(), dim=1), self.weight, self.bias)


@layer_ops.add("max", source="Xu et al.: JK-Networks, ICML 2018")
class Max(LayerAggregator):
    """The largest value of each channel over the K states."""

    def forward(self, states: Tensor) -> Tensor:
        """(K, N, D) -> (N, D)."""
        return states.amax(dim=0)


@layer_ops.add("lstm", source="Xu et al.: JK-Networks, ICML 2018")
class LstmAttention(LayerAggregator):
    """sum_k softmax_k(s · [forward LSTM || backward LSTM](h)_k) h^k, each direction K * D / 2 wide."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.inner = max(1, shape.depth * shape.width // 2)
        self.weight_ih = weight(2, shape.width, 4 * self.inner)
        self.weight_hh = weight(2, self.inner, 4 * self.inner)
        self.bias = weight(8 * self.inner)
        self.score = weight(1, 2 * self.inner)
        self.score_bias = weight(1)

    def forward(self, states: Tensor) -> Tensor:
        """(K, N, D) -> (N, D)."""
        bias = self.bias.view(2, -1)
        score, shift = self.score.view(-1), self.score_bias.view(())
        return lstm_readout(states, self.weight_ih, self.weight_hh, bias, score, shift)
