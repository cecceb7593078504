"""Every operation against PyG's layer under equal weights, or against a dense computation of its formula."""

from itertools import pairwise

import pytest
import torch
from torch.nn import Linear, LSTMCell, ReLU, Sequential
from torch.nn.functional import leaky_relu
from torch_geometric.nn import APPNP, GATConv, GCN2Conv, GCNConv, GINConv, JumpingKnowledge, SAGEConv

from sanegnn.ops import Shape, layer_ops, node_ops
from sanegnn.testing.examples import DEPTH, NODES, WIDTH, close, filled, numbers, shape

HEADS = (1, 2, 4)


def dense(edges):
    """A[v, u] = 1 where u sends to v."""
    a = torch.zeros(NODES, NODES, dtype=torch.float64)
    a[edges[1], edges[0]] = 1.0
    return a


def put(layer, **weights):
    """PyG's layer in float64 with these weights."""
    layer = layer.double()
    layer.load_state_dict({name.replace("__", "."): value.detach() for name, value in weights.items()})
    return layer


# --- against PyG ----------------------------------------------------------------------------------


def pyg_gcn(op):
    return put(GCNConv(WIDTH, WIDTH), lin__weight=op.weight, bias=op.bias)


def pyg_sage(kind):
    def make(op):
        layer = SAGEConv(WIDTH, WIDTH, aggr=kind)
        return put(layer, lin_l__weight=op.neighbour, lin_l__bias=op.bias, lin_r__weight=op.root)

    return make


def pyg_gin(op):
    mlp = Sequential(Linear(WIDTH, WIDTH), ReLU(), Linear(WIDTH, WIDTH))
    inner = {"nn__0__weight": op.inner, "nn__0__bias": op.inner_bias}
    outer = {"nn__2__weight": op.outer, "nn__2__bias": op.outer_bias}
    return put(GINConv(mlp, train_eps=True), eps=op.eps, **inner, **outer)


def pyg_gat(op):
    layer = GATConv(WIDTH, op.channels, heads=op.heads, negative_slope=0.2)
    vectors = {"att_src": op.att_source[None], "att_dst": op.att_target[None]}
    return put(layer, lin__weight=op.weight, bias=op.bias, **vectors)


def pyg_mlp(width, depth):
    sizes = [WIDTH, *[width] * depth, WIDTH]

    def make(op):
        linears = [Linear(*pair) for pair in pairwise(sizes)]
        layer = GINConv(Sequential(*[part for linear in linears for part in (linear, ReLU())][:-1]))
        weights = {f"nn__{2 * place}__weight": value for place, value in enumerate(op.weights)}
        biases = {f"nn__{2 * place}__bias": value for place, value in enumerate(op.biases)}
        return put(layer, eps=torch.zeros(1), **weights, **biases)

    return make


def pyg_appnp(op):
    return APPNP(K=10, alpha=op.shape.teleport)


def pyg_gcnii(op):
    layer = put(GCN2Conv(WIDTH, op.shape.teleport, theta=0.5, layer=1), weight1=op.weight.T)
    return lambda x, edges: layer(x.relu(), x.relu(), edges)


def edgeless(op):
    layer = put(Linear(WIDTH, WIDTH), weight=op.weight, bias=op.bias)
    return lambda x, edges: layer(x)


PYG = {
    "gcn": pyg_gcn,
    "sage_sum": pyg_sage("sum"),
    "sage_mean": pyg_sage("mean"),
    "sage_max": pyg_sage("max"),
    "gin": pyg_gin,
    "gat": pyg_gat,
    "appnp": pyg_appnp,
    "gcnii": pyg_gcnii,
    "linear": edgeless,
    **{f"mlp_w{width}_d{depth}": pyg_mlp(width, depth) for width in (8, 16, 32, 64) for depth in (1, 2, 3)},
}


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("name", PYG)
def test_it_equals_pyg_s_layer(name, heads, x, graph, edges):
    op = filled(node_ops[name](shape(heads)))
    mine, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    out, expected = op(mine, graph), PYG[name](op)(theirs, edges)
    assert close(out, expected)
    push = numbers(NODES, WIDTH, seed=3)
    (out * push).sum().backward()
    (expected * push).sum().backward()
    assert close(mine.grad, theirs.grad)


# --- against the formula ----------------------------------------------------------------------------


def attention(x, looped, op, score):
    """sum_u softmax_u(e[v, u]) z_u over the edges that arrive at v, head by head."""
    z = (x @ op.weight.T).view(NODES, op.heads, op.channels)
    arrives = dense(looped) > 0
    outs = []
    for head in range(op.heads):
        e = torch.stack(
            [
                torch.stack([score(op, head, z[u, head], z[v, head]) for u in range(NODES)])
                for v in range(NODES)
            ]
        )
        alpha = torch.softmax(e.masked_fill(~arrives, -torch.inf), dim=1)
        outs.append(alpha @ z[:, head])
    return torch.cat(outs, dim=1) + op.bias


def gat(op, head, z_u, z_v):
    return leaky_relu(op.att_source[head] @ z_u + op.att_target[head] @ z_v, 0.2)


def gat_sym(op, head, z_u, z_v):
    return gat(op, head, z_u, z_v) + gat(op, head, z_v, z_u)


def gat_cos(op, head, z_u, z_v):
    return z_u @ z_v


def gat_linear(op, head, z_u, z_v):
    return torch.tanh(op.att_source[head] @ z_u + op.att_target[head] @ z_v)


def gat_gen_linear(op, head, z_u, z_v):
    return op.att_gate[head] @ torch.tanh(op.att_source[head] * z_u + op.att_target[head] * z_v)


SCORES = {
    "gat": gat,
    "gat_sym": gat_sym,
    "gat_cos": gat_cos,
    "gat_linear": gat_linear,
    "gat_gen_linear": gat_gen_linear,
}


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("name", SCORES)
def test_attention_follows_its_formula(name, heads, x, graph, looped):
    op = filled(node_ops[name](shape(heads)))
    assert close(op(x, graph), attention(x, looped, op, SCORES[name]))


def swapped(score):
    """The released mistakes: source and target of a score exchanged."""
    return lambda op, head, z_u, z_v: score(op, head, z_v, z_u)


def one_ended(score):
    """… or the same end of the edge twice."""
    return lambda op, head, z_u, z_v: score(op, head, z_u, z_u)


@pytest.mark.parametrize("wrong", [swapped, one_ended])
@pytest.mark.parametrize("name", ["gat", "gat_linear", "gat_gen_linear"])
def test_the_graph_shows_a_mix_up_of_the_ends(name, wrong, x, graph, looped):
    op = filled(node_ops[name](shape(2)))
    assert not close(op(x, graph), attention(x, looped, op, wrong(SCORES[name])), 1e-3)


@pytest.mark.parametrize("name", SCORES)
def test_attention_is_normalised_over_the_edges_that_arrive(name, graph, looped):
    """Equal states give their own projection back, whatever the degrees: the coefficients sum to one."""
    op = filled(node_ops[name](shape(2)))
    state = numbers(1, WIDTH).expand(NODES, -1)
    assert close(op(state, graph), state @ op.weight.T + op.bias)


@pytest.mark.parametrize("heads", HEADS)
def test_geniepath_is_gat_and_one_step_of_an_lstm(heads, x, graph, edges):
    op = filled(node_ops["geniepath"](shape(heads)))
    broad = torch.tanh(pyg_gat(op)(x, edges))
    cell = LSTMCell(WIDTH, WIDTH).double()
    i, g, o = op.gates.T.chunk(3)
    i_bias, g_bias, o_bias = op.gates_bias.chunk(3)
    f = torch.full_like(i, 7.0)  # whatever it is, it forgets a state of zeros
    cell.load_state_dict(
        {
            "weight_ih": torch.cat([i, f, g, o]),
            "bias_ih": torch.cat([i_bias, f[:, 0], g_bias, o_bias]),
            "weight_hh": numbers(4 * WIDTH, WIDTH),
            "bias_hh": torch.zeros(4 * WIDTH),
        }
    )
    hidden, _ = cell(broad)
    assert close(op(x, graph), hidden)


def test_the_memory_of_geniepath_goes_through_depth(x, graph, edges):
    """Two layers: the second one's LSTM goes on from the cell state of the first."""
    op = filled(node_ops["geniepath_deep"](shape(2)))
    cell = LSTMCell(WIDTH, WIDTH).double()
    named = {"weight_ih": op.gates, "bias_ih": op.gates_bias}
    silent = {"weight_hh": torch.zeros(4 * WIDTH, WIDTH), "bias_hh": torch.zeros(4 * WIDTH)}
    cell.load_state_dict({**named, **silent})
    hidden, memory = x, None
    expected, state = x, (torch.zeros_like(x), torch.zeros_like(x))
    for _ in range(2):
        hidden, memory = op.step(hidden, graph, memory)
        state = cell(torch.tanh(pyg_gat(op)(expected, edges)), state)
        expected = state[0]
    assert close(hidden, expected)
    assert not close(op(op(x, graph), graph), expected, 1e-3), "the restarted form is another network"


def test_gcnii_goes_back_to_the_first_state(x, graph, edges):
    op = filled(node_ops["gcnii"](shape()))
    first, memory = op.step(x, graph, None)
    second, _ = op.step(first, graph, memory)
    layer = put(GCN2Conv(WIDTH, op.shape.teleport, theta=0.5, layer=2), weight1=op.weight.T)
    assert close(second, layer(first, x.relu(), edges))


def test_lgcn_convolves_the_sorted_neighbours(x, graph, edges):
    op, k = filled(node_ops["lgcn"](shape())), 8
    heard = [edges[0, edges[1] == node] for node in range(NODES)]
    rows = torch.zeros(NODES, k + 1, WIDTH, dtype=x.dtype)
    for node, sources in enumerate(heard):
        ranked = x[sources].sort(dim=0, descending=True).values[:k]
        rows[node, 0], rows[node, 1 : 1 + len(ranked)] = x[node], ranked
    wide = torch.stack(
        [rows[:, at : at + 5].transpose(1, 2).flatten(1) @ op.wide.T for at in range(5)], dim=2
    )
    narrowed = wide + op.wide_bias[:, None]
    assert close(op(x, graph), narrowed.flatten(1) @ op.rest.T + op.bias)


# --- layer aggregators ------------------------------------------------------------------------------


def jk_concat(op, states):
    return JumpingKnowledge("cat")(list(states)) @ op.weight.T + op.bias


def jk_max(op, states):
    return JumpingKnowledge("max")(list(states))


def jk_lstm(op, states):
    depth = len(states)
    theirs = JumpingKnowledge("lstm", WIDTH, depth).double()
    bias = op.bias.view(2, -1)
    weights = {"att.weight": op.score, "att.bias": op.score_bias}
    for place, ending in enumerate(("", "_reverse")):
        weights[f"lstm.weight_ih_l0{ending}"] = op.weight_ih[place].T
        weights[f"lstm.weight_hh_l0{ending}"] = op.weight_hh[place].T
        weights[f"lstm.bias_ih_l0{ending}"] = bias[place]
        weights[f"lstm.bias_hh_l0{ending}"] = torch.zeros_like(bias[place])
    theirs.load_state_dict(weights)
    return theirs(list(states))


JUMPING = {"concat": jk_concat, "max": jk_max, "lstm": jk_lstm}


@pytest.mark.parametrize("depth", range(1, 7))
@pytest.mark.parametrize("name", JUMPING)
def test_it_equals_jumping_knowledge(name, depth):
    op = filled(layer_ops[name](Shape(WIDTH, 1, 0.0, depth)))
    states = numbers(depth, NODES, WIDTH)
    mine, theirs = states.clone().requires_grad_(), states.clone().requires_grad_()
    out, expected = op(mine), JUMPING[name](op, theirs)
    assert close(out, expected)
    push = numbers(NODES, WIDTH, seed=3)
    (out * push).sum().backward()
    (expected * push).sum().backward()
    assert close(mine.grad, theirs.grad)


def test_zeroed_states_stay_in_the_concatenation():
    op = filled(layer_ops["concat"](shape()))
    states = numbers(DEPTH, NODES, WIDTH)
    states[1] = 0.0
    kept = torch.cat([states[0], states[2]], dim=1)
    weight = torch.cat([op.weight[:, :WIDTH], op.weight[:, 2 * WIDTH :]], dim=1)
    assert close(op(states), kept @ weight.T + op.bias)


# --- by hand ----------------------------------------------------------------------------------------


def test_every_operation_is_held_against_something():
    """A new one needs PyG's layer, or its formula, here."""
    by_hand = {"geniepath", "geniepath_deep", "lgcn"}
    assert set(PYG) | set(SCORES) | by_hand == set(node_ops)
    assert set(JUMPING) == set(layer_ops)
