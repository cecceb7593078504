"""The operations of the space, one family a file, each defined once for supernet, net and export."""

from sanegnn.ops.attention import Attention
from sanegnn.ops.base import (
    LayerAggregator,
    NodeAggregator,
    Shape,
    initialise,
    layer_ops,
    linear,
    node_ops,
    skip_ops,
    weight,
)
from sanegnn.ops.pooled import Pooled
from sanegnn.ops.readout import Concat

__all__ = [
    "Attention",
    "Concat",
    "LayerAggregator",
    "NodeAggregator",
    "Pooled",
    "Shape",
    "initialise",
    "layer_ops",
    "linear",
    "node_ops",
    "skip_ops",
    "weight",
]
