"""Depths by hand on a small graph, and the decision process in which they are learned."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import elu

from sanegnn.baselines.depths import DepthNet
from sanegnn.baselines.metapolicy import MetaPolicy, PolicyCourse, Walkers, walk
from sanegnn.kernels import Graph
from sanegnn.nets import Net
from sanegnn.seeds import generator
from sanegnn.settings import Setting, Training
from sanegnn.space import Architecture
from sanegnn.testing.examples import NODES, close, example_edges, example_inputs, example_task, filled
from sanegnn.training import train_net
from sanegnn.work import one_thread

FEATURES, OUTPUTS, DEPTH = 5, 3, 3
QUICK = MetaPolicy(
    depth=DEPTH, hidden=8, heads=2, lr=0.02, episodes=6, steps=3, buffer=16, minibatch=16, window=4
)


@pytest.fixture(autouse=True)
def alone():
    with one_thread():
        yield


def stack(op="gcn", depth=DEPTH):
    setting = Setting(hidden=4, heads=2)
    return filled(DepthNet(Architecture((op,) * depth), setting, FEATURES, OUTPUTS)).eval()


def test_a_node_with_action_k_has_the_embedding_of_k_layers_by_hand():
    net, inputs = stack(), example_inputs(FEATURES)
    adjacency = torch.eye(NODES, dtype=torch.float64)
    adjacency[example_edges()[1], example_edges()[0]] = 1
    scale = adjacency.sum(dim=1).rsqrt()
    mixing = scale[:, None] * adjacency * scale
    h, by_hand = inputs.features.to_dense() @ net.stem + net.stem_bias, []
    for layer in net.layers:
        h = elu(mixing @ h @ layer.weight.T + layer.bias)
        by_hand.append(h)
    depths = torch.arange(NODES) % DEPTH + 1
    wanted = torch.stack([by_hand[int(depth) - 1][node] for node, depth in enumerate(depths)])
    assert close(net.embed_at(inputs, depths), wanted)
    assert close(net.outputs_at(inputs, depths), wanted @ net.head.T + net.head_bias)


@pytest.mark.parametrize("op", ["gat", "sage_mean", "gin", "geniepath_deep", "gcnii"])
def test_any_backbone_stops_where_a_shorter_net_ends(op):
    net, inputs = stack(op), example_inputs(FEATURES)
    depths = torch.arange(NODES) % DEPTH + 1
    cut = net.embed_at(inputs, depths)
    for depth in range(1, DEPTH + 1):
        shorter = Net(Architecture((op,) * depth), net.setting, FEATURES, OUTPUTS).double()
        shorter.load_state_dict(net.state_dict(), strict=False)
        assert close(cut[depths == depth], shorter.embed(inputs)[depths == depth])


def test_the_net_stops_where_its_policy_says_and_reads_rows_alone():
    net, inputs = stack(), example_inputs(FEATURES)
    values = net.policy(inputs.features)
    assert torch.equal(net.depths(inputs), values.argmax(dim=1) + 1)
    whole = net(inputs)
    assert close(whole, net.outputs_at(inputs, net.depths(inputs)))
    rows = torch.tensor([7, 2, 11])
    assert close(net(replace(inputs, rows=rows)), whole[rows])


def test_the_policy_does_not_learn_with_the_net():
    task = example_task().without_test()
    ready = task.ready("unit", "cpu")
    net = DepthNet(QUICK.stack, QUICK.setting, ready.num_features, ready.num_outputs)
    torch.nn.init.normal_(net.policy.stem, generator=torch.Generator().manual_seed(0))
    before = {name: value.clone() for name, value in net.state_dict().items()}
    train_net(net, ready, QUICK.setting, Training(epochs=3), 0)
    moved = {name for name, value in net.state_dict().items() if not torch.equal(value, before[name])}
    assert {name for name in moved if name.startswith("policy.")} == set()
    assert "head" in moved


def test_a_walk_goes_as_many_hops_as_the_action_says():
    path = Graph.from_edges(torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]]), 6)  # messages flow 0 -> 4
    nodes, hops = torch.tensor([4, 4, 4, 1, 5]), torch.tensor([1, 2, 3, 3, 2])
    assert walk(path, nodes, hops, generator(0)).tolist() == [3, 2, 1, 0, 5]


def test_a_walk_visits_all_neighbours_alike():
    star = Graph.from_edges(torch.tensor([[1, 2, 3], [0, 0, 0]]), 4)
    many = torch.zeros(3000, dtype=torch.int64)
    ends = torch.bincount(walk(star, many, many + 1, generator(0)), minlength=4)
    assert ends[0] == 0
    assert ends[1:].tolist() == pytest.approx([1000] * 3, abs=100)


@pytest.fixture
def course():
    return PolicyCourse(example_task().without_test().ready("unit", "cpu"), QUICK, 0)


def test_only_training_nodes_fill_buffers_and_only_held_ones_are_paid(course, monkeypatch):
    train = set(example_task().train.rows.tolist())
    held = set(course.nodes.judged.inputs.rows.tolist())
    assert held < train
    assert len(held) == round(QUICK.held * len(train))
    trained = []
    monkeypatch.setattr(course, "train", lambda nodes, depth: trained.append((nodes, depth)) or 0.0)
    for _ in range(3):
        course.step()
    assert {len(nodes) for nodes, _ in trained} == {QUICK.buffer}
    assert {depth for _, depth in trained} == {1, 2, 3}
    assert set(torch.cat([nodes for nodes, _ in trained]).tolist()) <= train - held
    assert set(course.learner.memory.state.tolist()) <= held


def test_a_full_buffer_is_trained_and_emptied(course, monkeypatch):
    trained = []
    monkeypatch.setattr(course, "train", lambda nodes, depth: trained.append((len(nodes), depth)) or 0.0)
    taken = course.nodes.rows[course.nodes.place[course.nodes.rows] < 0]
    actions = torch.ones(len(taken), dtype=torch.int64)
    course.fill(taken[:10], actions[:10])
    assert trained == []
    course.fill(taken[:13], actions[:13])
    assert trained == [(16, 2)]
    assert [len(buffer) for buffer in course.buffers] == [0, 7, 0]
    course.fill(taken[:9], actions[:9])
    assert trained == [(16, 2)] * 2
    assert [len(buffer) for buffer in course.buffers] == [0, 0, 0]


def test_a_buffer_trains_no_layer_above_its_depth(course):
    before = {name: value.clone() for name, value in course.net.state_dict().items()}
    course.train(course.nodes.rows[:16], 2)
    moved = {name for name, value in course.net.state_dict().items() if not torch.equal(value, before[name])}
    assert {"layers.0.weight", "layers.1.weight", "stem", "head"} <= moved
    assert not any(name.startswith(("layers.2", "policy")) for name in moved)


def test_the_reward_is_what_m_gains_on_the_mean_of_the_window(course, monkeypatch):
    judged = course.nodes.judged.inputs.rows
    odds = torch.tensor([0.2, 0.5, 0.8]).repeat(len(judged), 1)
    monkeypatch.setattr(course.net, "odds", lambda batch: odds)
    for action in (0, 1, 2):
        course.pay(judged, torch.full_like(judged, action), judged, ended=False)
    paid = course.learner.memory.reward.view(3, -1)
    assert paid[:, 0].tolist() == pytest.approx([0.0, 0.5 - 0.2, 0.8 - (0.2 + 0.5) / 2], abs=1e-6)
    assert torch.equal(paid, paid[:, :1].expand_as(paid))


def test_m_is_the_probability_of_the_class_at_that_depth(course):
    batch, depth = course.nodes.judged, 2
    odds = course.net.odds(batch)
    outputs = course.net.outputs_at(batch.inputs, torch.full_like(batch.inputs.rows, depth))
    wanted = torch.softmax(outputs, dim=1)[torch.arange(len(batch.target)), batch.target]
    assert close(odds[:, depth - 1], wanted, 1e-6)


def test_who_leaves_the_training_part_goes_home():
    nodes = Walkers(example_task().without_test().ready("unit", "cpu"), 0.3, 0)
    away = torch.from_numpy(example_task().val.rows).repeat(5)[: len(nodes.rows)]
    assert torch.equal(nodes.home(away), nodes.rows)
    assert torch.equal(nodes.home(nodes.rows.flip(0)), nodes.rows.flip(0))
