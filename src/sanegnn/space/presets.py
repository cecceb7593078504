"""The spaces by name: names and tuples only."""

from __future__ import annotations

from collections.abc import Callable

from sanegnn.errors import BadSetting
from sanegnn.registry import Registry
from sanegnn.space.family import Family
from sanegnn.space.space import SearchSpace

NODE_AGGREGATORS = (
    "sage_sum",
    "sage_mean",
    "sage_max",
    "gcn",
    "gat",
    "gat_sym",
    "gat_cos",
    "gat_linear",
    "gat_gen_linear",
    "gin",
    "geniepath",
)
SKIPS = ("skip", "zero")
MLP_AGGREGATORS = tuple(f"mlp_w{width}_d{depth}" for width in (8, 16, 32, 64) for depth in (1, 2, 3))
LAYER_AGGREGATORS = ("concat", "max", "lstm")
POOLINGS = ("sum", "mean", "max", "attention", "set2set", "sort", "topk")
ATTENTIONS = ("const", "gcn", "gat", "gat_sym", "linear", "cos", "gen_linear")
ACTIVATIONS = ("sigmoid", "tanh", "relu", "linear", "softplus", "leaky_relu", "relu6", "elu")
HEADS = ("1", "2", "4", "6", "8", "16")
WIDTHS = ("4", "8", "16", "32", "64", "128", "256")
GRAPHNAS = Family(
    "graphnas",
    (
        ("attention", ATTENTIONS),
        ("aggregator", ("sum", "mean", "max", "mlp")),
        ("activation", ACTIVATIONS),
        ("heads", HEADS),
        ("width", WIDTHS),
    ),
)
AUTOGNN = Family(
    "autognn",
    (
        ("attention", ATTENTIONS),
        ("aggregator", ("sum", "mean", "max")),
        ("combine", ("identity", "mlp")),
        ("activation", ACTIVATIONS),
        ("heads", HEADS),
        ("width", WIDTHS),
    ),
)
DEPTHS = range(1, 7)

presets: Registry[Callable[[int], SearchSpace]] = Registry("search space")


@presets.add("paper", source="SANE, Table I: 11^K * 2^K * 3 architectures, 31,944 at K = 3")
def paper(depth: int) -> SearchSpace:
    """Node aggregators, skips and a layer aggregator."""
    return SearchSpace("paper", depth, NODE_AGGREGATORS, SKIPS, LAYER_AGGREGATORS)


@presets.add("plain", source="SANE, Table I without skips and layer aggregators: 11^K architectures")
def plain(depth: int) -> SearchSpace:
    """Node aggregators alone; the last layer's output is the embedding."""
    return SearchSpace("plain", depth, NODE_AGGREGATORS)


@presets.add("align", source="SANE, Section IV-D, for aligning entities: 11^K architectures, 121 at K = 2")
def align(depth: int) -> SearchSpace:
    """As plain: the embedding is what the last layer gives."""
    return SearchSpace("align", depth, NODE_AGGREGATORS)


@presets.add("graph", source="SANE, Table I, with a pooling: 11^K * 2^K * 3 * 7, 223,608 at K = 3")
def graph(depth: int) -> SearchSpace:
    """The paper's space for whole graphs: what pools the nodes of each is searched together with the rest."""
    return SearchSpace("graph", depth, NODE_AGGREGATORS, SKIPS, LAYER_AGGREGATORS, POOLINGS)


@presets.add("mlp", source="SANE, Table X: (12 * 2)^K * 3 architectures, 41,472 at K = 3")
def mlp(depth: int) -> SearchSpace:
    """Perceptrons over the sum of the neighbourhood in place of the node aggregators that people designed."""
    return SearchSpace("mlp", depth, MLP_AGGREGATORS, SKIPS, LAYER_AGGREGATORS)


@presets.add("graphnas", source="Gao et al.: GraphNAS, IJCAI 2020: 9,408^K architectures")
def graphnas(depth: int) -> SearchSpace:
    """Attention, aggregator, activation, heads and their width, each chosen for each layer."""
    return SearchSpace("graphnas", depth, GRAPHNAS)


@presets.add("autognn", source="Zhou et al.: Auto-GNN, arXiv 1909.03184: 14,112^K architectures")
def autognn(depth: int) -> SearchSpace:
    """The components of GraphNAS with a combine function in place of the perceptron among the aggregators."""
    return SearchSpace("autognn", depth, AUTOGNN)


def space(name: str = "paper", depth: int = 3) -> SearchSpace:
    """The preset `name` with K = `depth` layers."""
    preset = presets[name]
    if depth not in DEPTHS:
        raise BadSetting(f"depth {depth} is out of range: K goes from {DEPTHS[0]} to {DEPTHS[-1]}")
    return preset(depth)
