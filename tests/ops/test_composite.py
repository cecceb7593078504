"""The layers of GraphNAS and Auto-GNN: their contracts, and each component against a dense computation."""

import pytest
import torch
from torch.nn.functional import leaky_relu

from sanegnn.kernels import Graph
from sanegnn.ops import Shape, node_ops
from sanegnn.seeds import Noise, generator
from sanegnn.space import Family, SearchSpace
from sanegnn.space.presets import ATTENTIONS, AUTOGNN, GRAPHNAS, HEADS, WIDTHS
from sanegnn.testing import check_node_aggregator
from sanegnn.testing.examples import NODES, WIDTH, close, filled, numbers, shape

H, C = 2, 4
FAMILIES = {"graphnas": GRAPHNAS, "autognn": AUTOGNN}


def sampled(name, count):
    """Members that are drawn, narrow ones, and for every choice of the other components one that has it."""
    whole, rng = FAMILIES[name], generator(0, "sampled", name)
    narrow = Family(name, (*whole.components[:-2], ("heads", HEADS[:4]), ("width", WIDTHS[:2])))
    searched = SearchSpace("narrow", 1, narrow)
    wide = [slot for slot in searched.slots if slot.kind not in ("heads", "width")]
    first = dict.fromkeys((slot.key for slot in searched.slots), 1)
    each = [{**first, slot.key: place} for slot in wide for place in range(len(slot.choices))]
    members = [searched.decode(choice) for choice in each] + [searched.sample(rng) for _ in range(count)]
    return list(dict.fromkeys(str(member) for member in members))


@pytest.mark.parametrize("name", sampled("graphnas", 6) + sampled("autognn", 4))
def test_contract(name):
    check_node_aggregator(name)


def dense_alpha(attention, op, z, edges):
    """α[v, u, h] over the edges and the node itself, zero elsewhere."""
    near = torch.eye(NODES, dtype=torch.float64)
    near[edges[1], edges[0]] = 1.0
    degree = near.sum(1)
    if attention == "const":
        return near[..., None].expand(-1, -1, H)
    if attention == "gcn":
        return (near / (degree[:, None] * degree[None]).sqrt())[..., None].expand(-1, -1, H)
    s = (z * op.att_source).sum(-1) if hasattr(op, "att_source") else None
    d = (z * op.att_target).sum(-1) if hasattr(op, "att_target") else None
    scores = {
        "gat": lambda: leaky_relu(d[:, None] + s[None], 0.2),
        "gat_sym": lambda: leaky_relu(d[:, None] + s[None], 0.2) + leaky_relu(s[:, None] + d[None], 0.2),
        "linear": lambda: torch.tanh(s)[None].expand(NODES, -1, -1),
        "cos": lambda: (z[:, None] * z[None]).sum(-1),
        "gen_linear": lambda: (
            op.att_gate * torch.tanh((z * op.att_target)[:, None] + (z * op.att_source)[None])
        ).sum(-1),
    }
    score = scores[attention]().masked_fill(near[..., None] == 0, -torch.inf)
    return torch.softmax(score, dim=1)


def perceptron(net, x):
    return torch.relu(x @ net.inner.T + net.inner_bias) @ net.outer.T + net.outer_bias


def dense(attention, aggregator, combine, op, x, edges):
    z = (x @ op.weight.T).view(NODES, H, C)
    alpha = dense_alpha(attention, op, z, edges)
    near = torch.eye(NODES, dtype=torch.bool)
    near[edges[1], edges[0]] = True
    messages = alpha[..., None] * z[None]  # (v, u, H, C)
    outside = ~near[..., None, None]
    mixed = {
        "sum": lambda: messages.sum(1),
        "mean": lambda: messages.sum(1) / near.sum(1)[:, None, None],
        "max": lambda: messages.masked_fill(outside, -torch.inf).amax(1),
        "mlp": lambda: perceptron(op.perceptron, messages).masked_fill(outside, 0.0).sum(1),
    }[aggregator]()
    if combine == "mlp":
        mixed = perceptron(op.perceptron, mixed)
    return mixed.flatten(1) + op.bias


@pytest.mark.parametrize("aggregator", ["sum", "mean", "max", "mlp"])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_graphnas_is_its_formula(attention, aggregator, x, graph, edges):
    op = filled(node_ops[f"graphnas:{attention}:{aggregator}:elu:{H}:{C}"](shape()))
    assert close(op(x, graph), dense(attention, aggregator, "identity", op, x, edges))


@pytest.mark.parametrize("combine", ["identity", "mlp"])
@pytest.mark.parametrize("aggregator", ["sum", "mean", "max"])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_autognn_is_its_formula(attention, aggregator, combine, x, graph, edges):
    op = filled(node_ops[f"autognn:{attention}:{aggregator}:{combine}:elu:{H}:{C}"](shape()))
    assert close(op(x, graph), dense(attention, aggregator, combine, op, x, edges))


@pytest.mark.parametrize("name", FAMILIES)
def test_every_choice_of_every_component_builds(name):
    family = FAMILIES[name]
    first = [choices[0] for _, choices in family.components]
    bare = Graph.from_edges(torch.zeros(2, 0).long(), NODES)
    for place, (_, choices) in enumerate(family.components):
        for pick in choices:
            picks = dict(zip((kind for kind, _ in family.components), first, strict=True))
            picks[family.components[place][0]] = pick
            op = filled(node_ops[family.join(picks.values())](Shape(WIDTH)))
            assert op.own_activation == picks["activation"]
            assert op.out_width == int(picks["heads"]) * int(picks["width"])
            assert op(numbers(NODES, WIDTH), bare).shape == (NODES, op.out_width)


@pytest.mark.parametrize("aggregator", ["sum", "mean", "max"])
@pytest.mark.parametrize("attention", ["const", "gcn", "gat"])
def test_edge_weights_stand_in_the_attention(attention, aggregator, x, edges):
    op = filled(node_ops[f"graphnas:{attention}:{aggregator}:elu:{H}:{C}"](shape()))
    ones = torch.ones(edges.shape[1], dtype=torch.float64)
    plain, weighted = Graph.from_edges(edges, NODES), Graph.from_edges(edges, NODES, ones)
    doubled = Graph.from_edges(edges, NODES, 2 * ones)
    assert close(op(x, plain), op(x, weighted))
    assert not close(op(x, plain), op(x, doubled), 1e-3)


@pytest.mark.parametrize("aggregator", ["sum", "max"])
def test_dropout_falls_on_learned_attention_alone(aggregator, x, graph):
    for attention in ATTENTIONS:
        kind = node_ops[f"graphnas:{attention}:{aggregator}:elu:{H}:{C}"]
        op = filled(kind(Shape(WIDTH, attention_dropout=0.5)))
        noisy = op(x, graph, Noise(1))
        assert close(noisy, op(x, graph)) == (attention in ("const", "gcn"))
        assert kind.knobs == (() if attention in ("const", "gcn") else ("attention_dropout",))
