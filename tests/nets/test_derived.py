import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import elu, linear, softplus

from sanegnn.errors import BadArchitecture, BadSetting
from sanegnn.kernels import Features, Graph
from sanegnn.nets import Inputs, Net
from sanegnn.seeds import Noise
from sanegnn.settings import Setting
from sanegnn.space import Architecture
from sanegnn.testing.examples import NODES, WIDTH, close, example_inputs, filled

TEXTS = ("gcn,gat", "gat,gin,sage_max | skip,zero,skip | lstm", "geniepath,gcn | skip,skip | concat")


def made(text, **changes):
    setting = Setting(hidden=WIDTH, heads=2).but(**changes)
    return filled(Net(Architecture.parse(text), setting, 5, 3)).eval()


def test_the_forward_pass_is_what_the_docstring_says():
    net, inputs = made("gcn,gin | skip,zero | max"), example_inputs()
    h0 = inputs.features.to_dense() @ net.stem + net.stem_bias
    h1 = elu(net.layers[0](h0, inputs.graph))
    z = torch.maximum(h1, torch.zeros_like(h1))
    assert close(net(inputs), linear(z, net.head, net.head_bias))


def test_a_plain_stack_ends_with_its_last_state():
    net, inputs = made("gcn,gin"), example_inputs()
    h0 = inputs.features.to_dense() @ net.stem + net.stem_bias
    h1 = elu(net.layers[0](h0, inputs.graph))
    h2 = elu(net.layers[1](h1, inputs.graph))
    assert close(net(inputs), linear(h2, net.head, net.head_bias))


def test_residual_adds_the_input_of_a_layer():
    net, inputs = made("gcn", residual=True), example_inputs()
    h0 = inputs.features.to_dense() @ net.stem + net.stem_bias
    h1 = elu(net.layers[0](h0, inputs.graph) + h0)
    assert close(net(inputs), linear(h1, net.head, net.head_bias))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "changes", [{}, {"norm": "batch"}, {"norm": "layer"}, {"residual": True}, {"activation": "relu"}], ids=str
)
def test_every_setting_trains(text, changes):
    net, inputs = made(text, **changes, edge_dropout=0.3, attention_dropout=0.3), example_inputs()
    net.train()
    out = net(inputs, Noise(1))
    out.square().sum().backward()
    assert out.shape == (NODES, 3)
    assert out.isfinite().all()
    assert net.stem.grad.isfinite().all()
    assert net.stem.grad.any()


@pytest.mark.parametrize("text", TEXTS)
def test_noise_is_dropout_and_its_key_is_all_there_is(text):
    net, inputs = made(text), example_inputs()
    assert torch.equal(net(inputs), net(inputs))
    assert torch.equal(net(inputs, Noise(4)), net(inputs, Noise(4)))
    assert not close(net(inputs, Noise(4)), net(inputs, Noise(5)), 1e-6)


def test_a_graph_without_edges_is_a_graph():
    inputs = example_inputs()
    bare = Inputs(inputs.features, Graph.from_edges(torch.zeros(2, 0, dtype=torch.long), NODES))
    for text in TEXTS:
        assert made(text)(bare).isfinite().all()


def test_the_same_seed_gives_the_same_net_in_a_fresh_process():
    code = (
        "import hashlib; from sanegnn.nets import Net; from sanegnn.settings import Setting\n"
        "from sanegnn.space import Architecture\n"
        f"net = Net(Architecture.parse({TEXTS[1]!r}), Setting(), 7, 3, seed=5)\n"
        "print(hashlib.sha256(b''.join(p.detach().numpy().tobytes() for p in net.parameters())).hexdigest())"
    )
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1
    assert len(runs.pop().strip()) == 64


@pytest.mark.parametrize(
    "text", [*TEXTS, "gcnii,appnp,gin,gat | skip,skip,skip,zero | concat", "sage_max,linear,gat"]
)
@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
def test_the_outputs_of_some_nodes_are_those_of_all_nodes_there(text, norm):
    net, inputs, rows = made(text, norm=norm), example_inputs(), torch.tensor([4, 0, 7])
    assert close(net(replace(inputs, rows=rows)), net(inputs)[rows])


def test_a_layer_is_computed_for_the_nodes_that_the_next_one_reads():
    line = Graph.from_edges(torch.stack([torch.arange(9), torch.arange(1, 10)]), 10)
    x = Features.of(torch.eye(10, dtype=torch.float64)[:, :5])
    net, inputs, seen = made("gcn,gcn,gcn"), Inputs(x, line, torch.tensor([6, 2])), []
    for layer in net.layers:
        layer.register_forward_hook(lambda _op, arguments, out: seen.append((len(arguments[0]), len(out))))
    net(inputs)
    assert seen == [(7, 6), (6, 4), (4, 2)]
    assert torch.equal(inputs.towards(3)[0], torch.tensor([6, 2, 1, 5, 0, 4, 3]))


COMPOSITE = "graphnas:gat:sum:tanh:2:8,graphnas:const:max:softplus:1:4,graphnas:gcn:mlp:sigmoid:1:4"


def test_widths_and_activations_follow_the_operations():
    net, inputs = made(COMPOSITE, residual=True, norm="layer"), example_inputs()
    h0 = inputs.features.to_dense() @ net.stem + net.stem_bias
    h1 = torch.tanh(net.norms[0](net.layers[0](h0, inputs.graph)))
    h2 = softplus(net.norms[1](net.layers[1](h1, inputs.graph)))
    h3 = torch.sigmoid(net.norms[2](net.layers[2](h2, inputs.graph) + h2))  # as wide as before
    assert [h.shape[1] for h in (h0, h1, h2, h3)] == [WIDTH, 16, 4, 4]
    assert close(net(inputs), linear(h3, net.head, net.head_bias))


@pytest.mark.parametrize("changes", [{}, {"norm": "batch"}, {"norm": "pair"}, {"residual": True}], ids=str)
def test_composite_operations_train(changes):
    for text in (COMPOSITE, "graphnas:gat:sum:tanh:2:8,gat,autognn:linear:mean:mlp:elu:4:4"):
        net, inputs = made(text, **changes, edge_dropout=0.3, attention_dropout=0.3).train(), example_inputs()
        net(inputs, Noise(1)).square().sum().backward()
        assert all(parameter.grad.isfinite().all() for parameter in net.parameters())
        assert net.stem.grad.any()


def test_layers_of_one_width_may_be_joined():
    net = made("graphnas:gat:sum:tanh:2:8,graphnas:gcn:max:relu:1:16 | skip,zero | concat")
    assert net(example_inputs()).shape == (NODES, 3)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (
            "graphnas:gat:sum:tanh:2:8,gcn,graphnas:gat:sum:tanh:2:4 | skip,skip,skip | lstm",
            BadArchitecture,
            "its layers have widths 16, 16, 8, but lstm joins states of one width: give all layers the same",
        ),
        ("gcnii,graphnas:gat:sum:tanh:2:8,gcnii", BadArchitecture, "gcnii carries a memory of width 8, but"),
        (
            "graphnas:gat:sum:tanh:1:4,gat",
            BadSetting,
            "gat over states of width 4 cannot share them by 8 heads",
        ),
    ],
)
def test_widths_that_do_not_fit_are_refused(text, error, words):
    with pytest.raises(error, match=words):
        made(text, heads=8)
