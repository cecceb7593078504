"""The operations of the space, one family a file, each defined once for supernet, net and export."""

from sanegnn.ops.attention import Attention
from sanegnn.ops.base import (
    Carrying,
    LayerAggregator,
    NodeAggregator,
    Pooling,
    Shape,
    initialise,
    layer_ops,
    linear,
    node_ops,
    pool_ops,
    skip_ops,
    weight,
)
from sanegnn.ops.composite import Composite
from sanegnn.ops.edgeless import Linear
from sanegnn.ops.geniepath import GeniePathDeep
from sanegnn.ops.lgcn import Lgcn
from sanegnn.ops.mlp import Mlp
from sanegnn.ops.pooled import Pooled
from sanegnn.ops.pooling import Set2Set
from sanegnn.ops.pooling_topk import TopK
from sanegnn.ops.propagation import Appnp, Gcnii
from sanegnn.ops.readout import Concat

__all__ = [
    "Appnp",
    "Attention",
    "Carrying",
    "Composite",
    "Concat",
    "Gcnii",
    "GeniePathDeep",
    "LayerAggregator",
    "Lgcn",
    "Linear",
    "Mlp",
    "NodeAggregator",
    "Pooled",
    "Pooling",
    "Set2Set",
    "Shape",
    "TopK",
    "initialise",
    "layer_ops",
    "linear",
    "node_ops",
    "pool_ops",
    "skip_ops",
    "weight",
]
