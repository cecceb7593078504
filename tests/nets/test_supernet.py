from dataclasses import replace

import pytest
import torch

from sanegnn.errors import BadSetting
from sanegnn.kernels import Features, Graph
from sanegnn.nets import Inputs, Net, Supernet, inherit
from sanegnn.nets.supernet import MixedAggregator
from sanegnn.ops import Carrying, NodeAggregator, node_ops, weight
from sanegnn.seeds import Noise, generator
from sanegnn.settings import Setting
from sanegnn.space import Architecture, Family, SearchSpace, presets, space
from sanegnn.testing.examples import (
    NODES,
    WIDTH,
    close,
    example_edges,
    example_inputs,
    filled,
    numbers,
    shape,
)
from sanegnn.testing.ops import one_hot_equals_derived

SETTING = Setting(hidden=WIDTH, heads=2)
MIXED = [name for name in presets if not isinstance(space(name).node_ops, Family)]


def some(searched, count):
    rng = generator(0, "members", searched.name, searched.depth)
    drawn = [searched.sample(rng) for _ in range(count)]
    dead = [
        Architecture(one.nodes, ("zero",) * searched.depth, layer)
        for one in drawn[:2]
        for layer in searched.layer_ops
    ]
    return drawn + dead


@pytest.mark.parametrize("depth", range(1, 5))
@pytest.mark.parametrize("name", MIXED)
def test_one_hot_rows_are_the_derived_net(name, depth):
    searched = space(name, depth)
    one_hot_equals_derived(searched, some(searched, 25), SETTING)


@pytest.mark.parametrize(
    "changes", [{"norm": "batch"}, {"norm": "layer", "residual": True}, {"activation": "tanh"}]
)
def test_one_hot_rows_are_the_derived_net_in_other_settings(changes):
    searched = space("paper", 2)
    one_hot_equals_derived(searched, some(searched, 8), SETTING.but(**changes))


def test_inherit_in_single_precision():
    searched = space("paper", 3)
    supernet = Supernet(searched, SETTING, 5, 3).eval()
    member = Architecture.parse("gat,gin,sage_max | skip,zero,skip | lstm")
    net = inherit(supernet, member).eval()
    inputs = example_inputs()
    assert torch.allclose(supernet(inputs, searched.encode(member)), net(inputs), atol=1e-6)
    assert torch.equal(net.layers[1].inner, supernet.layers[1].ops[searched.node_ops.index("gin")].inner)


def built(searched, setting=SETTING):
    return filled(Supernet(searched, setting, 5, 3)).eval()


def alphas(searched):
    rows = (numbers(len(slot.choices), seed=place) for place, slot in enumerate(searched.slots))
    return {slot.key: row.requires_grad_() for slot, row in zip(searched.slots, rows, strict=True)}


def mixed(rows):
    return {key: torch.softmax(row, 0) for key, row in rows.items()}


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("depth", [1, 3])
def test_every_slot_s_row_gets_a_gradient(name, depth):
    searched = space(name, depth)
    rows = alphas(searched)
    built(searched)(example_inputs(), mixed(rows)).square().sum().backward()
    for key, row in rows.items():
        assert row.grad.abs().max() > 1e-8, f"{key} has no gradient"


@pytest.mark.parametrize("name", MIXED)
def test_every_slot_has_a_row_of_its_own(name):
    """To change the row of one slot changes the output, by what no other slot's row would change it."""
    searched, inputs = space(name, 3), example_inputs()
    supernet, rows = built(searched), {key: row.detach() for key, row in alphas(searched).items()}
    before = supernet(inputs, mixed(rows))
    after = {}
    for slot in searched.slots:
        changed = {**rows, slot.key: rows[slot.key].roll(1)}
        after[slot.key] = supernet(inputs, mixed(changed))
        assert (after[slot.key] - before).abs().max() > 1e-6, f"{slot.key} changes nothing"
    for one in after:
        for other in after:
            assert one == other or not close(after[one], after[other], 1e-7)


def test_a_layer_is_mixed_with_its_own_row():
    """Layer 2 alone takes another operation: the net with that operation in layer 2 alone."""
    searched, inputs = space("plain", 3), example_inputs()
    supernet = built(searched)
    gcn, gin = (torch.eye(11, dtype=torch.float64)[searched.node_ops.index(name)] for name in ("gcn", "gin"))
    out = supernet(inputs, {"node.0": gcn, "node.1": gin, "node.2": gcn})
    assert close(out, inherit(supernet, Architecture.parse("gcn,gin,gcn")).eval()(inputs))


def test_the_mixture_is_the_weighted_sum_of_its_operations(x_and_graph):
    x, graph = x_and_graph
    mixed = [name for name in node_ops if not issubclass(node_ops[name], Carrying)]
    layer = filled(MixedAggregator([node_ops[name](shape()) for name in mixed]))
    row = torch.softmax(numbers(len(mixed)), 0)
    by_hand = sum(p * op(x, graph) for p, op in zip(row, layer.ops, strict=True))
    assert close(layer(x, graph, row, None), by_hand)


class Unknown(NodeAggregator):
    """Of no family that the fused path knows."""

    def __init__(self, shape):
        super().__init__(shape)
        self.weight = weight(shape.width, shape.width)

    def forward(self, x, graph, noise=None):
        return torch.sin(x @ self.weight)


@pytest.fixture
def x_and_graph():
    return numbers(NODES, WIDTH), Graph.from_edges(example_edges(), NODES)


def test_an_unknown_operation_mixes_with_the_others(x_and_graph):
    x, graph = x_and_graph
    layer = filled(MixedAggregator([node_ops["gat"](shape()), Unknown(shape()), node_ops["gin"](shape())]))
    row = torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64)
    assert close(layer(x, graph, row, None), torch.sin(x @ layer.ops[1].weight))
    assert close(layer(x, graph, 1, None), torch.sin(x @ layer.ops[1].weight))


def test_a_registered_plug_in_stands_in_a_supernet():
    node_ops.add("unknown")(Unknown)
    try:
        one_hot_equals_derived(SearchSpace("mine", 2, ("gcn", "unknown"), ("skip", "zero"), ("lstm",)))
    finally:
        del node_ops._entries["unknown"]


def test_permuting_the_nodes_permutes_the_output():
    searched = space("paper", 3)
    supernet, rows = built(searched), mixed(alphas(searched))
    order = torch.from_numpy(generator(0, "order").permutation(NODES))
    x, edges = numbers(NODES, 5), example_edges()
    straight = supernet(Inputs(Features.of(x), Graph.from_edges(edges, NODES)), rows)
    moved_edges = torch.argsort(order)[edges]
    moved = supernet(Inputs(Features.of(x[order]), Graph.from_edges(moved_edges, NODES)), rows)
    assert close(moved, straight[order])


@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
def test_the_outputs_of_some_nodes_are_those_of_all_nodes_there(norm):
    searched, inputs, rows = space("paper", 3), example_inputs(), torch.tensor([4, 0, 7])
    net = filled(Supernet(searched, SETTING.but(norm=norm), inputs.features.shape[1], 3)).eval()
    mix = {slot.key: torch.softmax(numbers(len(slot.choices)), 0) for slot in searched.slots}
    assert close(net(replace(inputs, rows=rows), mix), net(inputs, mix)[rows])


def test_noise_changes_training_alone_and_follows_its_key():
    searched = space("paper", 2)
    supernet, rows, inputs = built(searched, SETTING.but(edge_dropout=0.5)), {}, example_inputs()
    rows = mixed(alphas(searched))
    assert torch.equal(supernet(inputs, rows, Noise(1)), supernet(inputs, rows, Noise(1)))
    assert not close(supernet(inputs, rows, Noise(1)), supernet(inputs, rows, Noise(2)), 1e-6)
    assert torch.equal(supernet(inputs, rows), supernet(inputs, rows))


def test_weights_follow_from_the_seed():
    searched = space("paper", 2)
    states = [Supernet(searched, SETTING, 5, 3, seed).state_dict() for seed in (1, 1, 2)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert not torch.equal(states[0]["stem"], states[2]["stem"])


def test_a_restart_shares_no_weights_with_the_net_it_derives():
    searched = space("plain", 1)
    supernet = Supernet(searched, SETTING, 5, 3)
    net = inherit(supernet, Architecture.parse("gcn"))
    with torch.no_grad():
        net.stem.add_(1.0)
    assert not torch.equal(net.stem, supernet.stem)


def test_a_net_of_zero_skips_tells_no_node_from_another():
    net = filled(Net(Architecture.parse("gcn,gat | zero,zero | concat"), SETTING, 5, 3)).eval()
    out = net(example_inputs())
    assert close(out, out[:1].expand(NODES, -1))


@pytest.mark.parametrize("name", sorted(set(presets) - set(MIXED)))
def test_operations_of_several_widths_are_not_mixed(name):
    with pytest.raises(BadSetting, match=f"space '{name}' have widths of their own.*hyperband, graphnas"):
        Supernet(space(name, 2), SETTING, 5, 3)
