"""What becomes of the embedding z: the head of a net, which the task names.

    linear      W z + b, for every asked node
    identity    z itself, for a loss that reads embeddings
    dot         z_u · z_v, for every asked pair of nodes
    mlp         w · ReLU(W (z_u ⊙ z_v) + b) + c, for every asked pair

A head holds no weights: it names those that the net is to keep for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from sanegnn.ops import linear, weight
from sanegnn.registry import Registry

Weights = Mapping[str, Tensor]
Drop = Callable[[Tensor], Tensor]


class Head(ABC):
    """A function of z with weights of the net."""

    @abstractmethod
    def weights(self, width: int, outputs: int) -> dict[str, nn.Parameter]:
        """What the net keeps for it, by names that begin with `head`."""

    @abstractmethod
    def __call__(self, z: Tensor, pairs: Tensor | None, weights: Weights, drop: Drop) -> Tensor:
        """The outputs of z (R, D); `pairs` (2, P) are places in it."""


heads: Registry[Head] = Registry("head")


class Linear(Head):
    """(R, D) -> (R, outputs)."""

    def weights(self, width: int, outputs: int) -> dict[str, nn.Parameter]:
        """W and b."""
        return {"head": weight(outputs, width), "head_bias": weight(outputs)}

    def __call__(self, z: Tensor, pairs: Tensor | None, weights: Weights, drop: Drop) -> Tensor:
        """Dropout, then W z + b."""
        return linear(drop(z), weights["head"], weights["head_bias"])


class Identity(Head):
    """(R, D) -> (R, D)."""

    def weights(self, width: int, outputs: int) -> dict[str, nn.Parameter]:
        """None."""
        return {}

    def __call__(self, z: Tensor, pairs: Tensor | None, weights: Weights, drop: Drop) -> Tensor:
        """z, without dropout."""
        return z


class Dot(Identity):
    """(R, D) and P pairs -> (P, 1)."""

    def __call__(self, z: Tensor, pairs: Tensor | None, weights: Weights, drop: Drop) -> Tensor:
        """Σ z_u ⊙ z_v."""
        return _joined(z, pairs).sum(1, keepdim=True)


class Mlp(Head):
    """(R, D) and P pairs -> (P, outputs)."""

    def weights(self, width: int, outputs: int) -> dict[str, nn.Parameter]:
        """Those of two layers."""
        inner = {"head_inner": weight(width, width), "head_inner_bias": weight(width)}
        return {**inner, "head": weight(outputs, width), "head_bias": weight(outputs)}

    def __call__(self, z: Tensor, pairs: Tensor | None, weights: Weights, drop: Drop) -> Tensor:
        """Two layers over z_u ⊙ z_v, with dropout between them."""
        inner = torch.relu(linear(_joined(z, pairs), weights["head_inner"], weights["head_inner_bias"]))
        return linear(drop(inner), weights["head"], weights["head_bias"])


def _joined(z: Tensor, pairs: Tensor | None) -> Tensor:
    """z_u ⊙ z_v of every pair, (P, D)."""
    if pairs is None:
        raise ValueError("the head reads pairs of nodes, but the inputs name none")
    return z.index_select(0, pairs[0]) * z.index_select(0, pairs[1])


heads.add("linear")(Linear())
heads.add("identity")(Identity())
heads.add("dot")(Dot())
heads.add("mlp")(Mlp())
