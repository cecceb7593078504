"""Every human design beside the stock PyG network with equal weights, and the sizes of Table XIII."""

import pytest
import torch
from torch.nn import Linear
from torch.nn.functional import linear
from torch_geometric.nn import APPNP, GAT, GCN, GIN, GCN2Conv, GraphSAGE, Sequential

from sanegnn.baselines import FOR_NODES, designs
from sanegnn.nets import Net
from sanegnn.ops import layer_ops, node_ops, pool_ops, skip_ops
from sanegnn.testing.examples import NODES, close, example_edges, example_inputs, filled, numbers

FEATURES, OUTPUTS = 5, 3
VARIANTS = [(name, place) for name in FOR_NODES for place in range(len(designs[name]("cora").variants))]
STOCK = {
    "gcn": lambda size, jk: GCN(*size, act="elu", jk=jk),
    "sage_sum": lambda size, jk: GraphSAGE(*size, act="relu", aggr="sum", jk=jk),
    "sage_mean": lambda size, jk: GraphSAGE(*size, act="relu", aggr="mean", jk=jk),
    "sage_max": lambda size, jk: GraphSAGE(*size, act="relu", aggr="max", jk=jk),
    "gat": lambda size, jk: GAT(*size, act="relu", heads=8, jk=jk),
    "gin": lambda size, jk: GIN(*size, act="relu", train_eps=True, jk=jk),
}
"""PyG's own models by the operation of their layers: (in, hidden, layers) and the jumping."""

NAMES = {
    "gcn": {"weight": "lin.weight", "bias": "bias"},
    **{
        f"sage_{pool}": {"root": "lin_r.weight", "neighbour": "lin_l.weight", "bias": "lin_l.bias"}
        for pool in ("sum", "mean", "max")
    },
    "gat": {"weight": "lin.weight", "bias": "bias", "att_source": "att_src", "att_target": "att_dst"},
    "gin": {
        "eps": "eps",
        "inner": "nn.lins.0.weight",
        "inner_bias": "nn.lins.0.bias",
        "outer": "nn.lins.1.weight",
        "outer_bias": "nn.lins.1.bias",
    },
}
"""What PyG calls the weights of a layer."""


def net_of(name, place, dataset="cora"):
    design = designs[name](dataset)
    return filled(Net(design.variants[place], design.setting, FEATURES, OUTPUTS)).eval()


def stem(net, x):
    return linear(x, net.stem.T, net.stem_bias)


def head(net, z):
    return linear(z, net.head, net.head_bias)


def stacked(net, x, edges):
    """PyG's model in the middle of the net."""
    (op,) = set(net.architecture.nodes)
    width, jumps = net.setting.hidden, net.architecture.layer == "concat"
    model = STOCK[op]((width, width, net.depth), "cat" if jumps else None).double()
    weights = {}
    for layer, ours in enumerate(net.layers):
        for mine, theirs in NAMES[op].items():
            value = getattr(ours, mine).detach()
            weights[f"convs.{layer}.{theirs}"] = value[None] if mine.startswith("att_") else value
    if jumps:
        weights |= {"lin.weight": net.readout.weight.detach(), "lin.bias": net.readout.bias.detach()}
    model.load_state_dict(weights)
    z = model.eval()(stem(net, x), edges)
    return head(net, z if jumps else model.act(z))  # a stock stack leaves the last activation to the user


def appnp(net, x, edges):
    """PyG's APPNP over the predictions of a perceptron."""
    (hidden, _) = net.layers
    z = linear(stem(net, x), hidden.weight, hidden.bias).relu()
    return APPNP(K=10, alpha=net.setting.teleport)(linear(z, net.head), edges) + net.head_bias


def gcnii(net, x, edges):
    """PyG's GCN2Conv, 64 times."""
    alpha, width = net.setting.teleport, net.setting.hidden
    first = h = stem(net, x).relu()
    for layer, ours in enumerate(net.layers, start=1):
        conv = GCN2Conv(width, alpha, theta=0.5, layer=layer).double()
        conv.load_state_dict({"weight1": ours.weight.detach().T})
        h = conv(h, first, edges).relu()
    return head(net, h)


def mlp(net, x, edges):
    """A perceptron of torch's own parts."""
    layers = []
    for ours in net.layers:
        layer = Linear(net.setting.hidden, net.setting.hidden).double()
        layer.load_state_dict({"weight": ours.weight.detach(), "bias": ours.bias.detach()})
        layers += [(layer, "h -> h"), (torch.nn.ReLU(), "h -> h")]
    return head(net, Sequential("h", layers)(stem(net, x)))


def classic(net, x, edges):
    """PyG's layers with the residual and torch's batch normalisation around them."""
    (op,) = set(net.architecture.nodes)
    h = stem(net, x)
    for ours, norm in zip(net.layers, net.norms, strict=True):
        model = {"gcn": GCN, "sage_mean": GraphSAGE}[op](h.shape[1], h.shape[1], 1).double()
        pairs = NAMES[op].items()
        model.load_state_dict({f"convs.0.{theirs}": getattr(ours, mine).detach() for mine, theirs in pairs})
        h = norm(model(h, edges) + h).relu()
    return head(net, h)


PLAIN = {"gcn": 1, "sage": 3, "gat": 1, "gin": 1}
EQUALS = {
    **{(name, place): stacked for name, many in PLAIN.items() for place in range(many)},
    **{(f"{name}-jk", place): stacked for name, many in PLAIN.items() for place in range(many)},
    ("mlp", 0): mlp,
    ("mlp", 1): mlp,
    ("appnp", 0): appnp,
    ("gcnii", 0): gcnii,
    ("classic", 0): classic,
    ("classic", 1): classic,
}
WITHOUT = {"lgcn", "geniepath", "geniepath-restarted", "geniepath-jk", "gat", "gat-jk", "classic"}
"""PyG has no such layer for some variants of these; tests/ops holds the layers against their formulas."""


@pytest.mark.parametrize(("name", "place"), EQUALS, ids=[f"{name}-{place}" for name, place in EQUALS])
def test_it_equals_the_stock_network(name, place):
    net, x = net_of(name, place), numbers(NODES, FEATURES)
    with torch.no_grad():
        assert close(net(example_inputs(FEATURES)), EQUALS[name, place](net, x, example_edges()))


def test_only_what_pyg_lacks_is_not_compared():
    assert {name for name, place in set(VARIANTS) - set(EQUALS)} == WITHOUT


@pytest.mark.parametrize("dataset", ["cora", "pubmed", "ppi", "my-own"])
@pytest.mark.parametrize("name", designs)
def test_every_variant_can_be_built_anywhere(name, dataset):
    design = designs[name](dataset)
    assert len(set(design.variants)) == len(design.variants)
    for one in design.variants:
        assert set(one.nodes) <= set(node_ops)
        assert set(one.skips) <= set(skip_ops)
        assert one.layer is None or one.layer in layer_ops
        assert one.pool is None or one.pool in pool_ops
        assert Net(one, design.setting, FEATURES, OUTPUTS).depth == one.depth


@pytest.mark.parametrize(
    ("name", "dataset", "depth", "hidden", "activation"),
    [
        ("gcn", "cora", 3, 64, "elu"),
        ("gcn", "citeseer", 3, 64, "elu"),
        ("gcn-jk", "pubmed", 3, 128, "elu"),
        ("sage", "cora", 2, 64, "relu"),
        ("sage-jk", "ppi", 3, 256, "elu"),
        ("gat", "pubmed", 3, 128, "relu"),
        ("gin", "cora", 3, 128, "relu"),
        ("lgcn", "ppi", 3, 256, "relu"),
        ("geniepath", "cora", 3, 256, "tanh"),
        ("geniepath-restarted", "pubmed", 3, 256, "tanh"),
    ],
)
def test_the_sizes_are_those_of_table_xiii(name, dataset, depth, hidden, activation):
    design = designs[name](dataset)
    assert {one.depth for one in design.variants} == {depth}
    assert (design.setting.hidden, design.setting.activation) == (hidden, activation)
    assert (design.setting.lr, design.setting.dropout, design.setting.weight_decay) == (0.005, 0.5, 5e-4)


def test_a_jumping_network_ends_in_lstm_on_ppi_alone():
    for name in ("gcn-jk", "sage-jk", "gat-jk", "gin-jk", "geniepath-jk"):
        assert {one.layer for one in designs[name]("ppi").variants} == {"lstm"}
        assert {one.layer for one in designs[name]("cora").variants} == {"concat"}


def test_the_memory_of_geniepath_tells_its_two_forms_apart():
    forms = [designs[name]("cora").variants[0].nodes for name in ("geniepath", "geniepath-restarted")]
    assert [set(nodes) for nodes in forms] == [{"geniepath_deep"}, {"geniepath"}]
