"""Every operation, norm, activation and scaling has a plain form that computes the same."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import sanegnn
from sanegnn.errors import BadExport
from sanegnn.exporting import design, form, plain
from sanegnn.exporting.examples import apart, example, examples
from sanegnn.kernels import Features
from sanegnn.kernels.scaling import SCALINGS
from sanegnn.nets import Inputs, Net
from sanegnn.nets.backbone import ACTIVATIONS, NORMS
from sanegnn.nets.heads import heads
from sanegnn.ops import NodeAggregator, layer_ops, node_ops
from sanegnn.ops.attention import Attention
from sanegnn.space import Architecture
from sanegnn.space.presets import ATTENTIONS
from sanegnn.testing import check_plain_layer_aggregator, check_plain_node_aggregator
from sanegnn.testing.examples import NODES, close, example_edges, example_graph, filled, numbers, shape
from untrained import made

POOLS = ("sum", "mean", "max", "mlp")
MEMBERS = [
    *(f"graphnas:{attention}:{pool}:tanh:2:8" for attention in ATTENTIONS for pool in POOLS),
    *(f"autognn:{attention}:{pool}:mlp:elu:2:4" for attention in ATTENTIONS[:3] for pool in POOLS[:3]),
]


def furthest(model):
    with torch.no_grad():
        return max(apart(plain(model)(*graph), odds) for graph, odds in examples(model))


@pytest.mark.parametrize("name", [*node_ops, *MEMBERS])
def test_node_aggregator(name):
    check_plain_node_aggregator(name)


@pytest.mark.parametrize("name", layer_ops)
def test_layer_aggregator(name):
    check_plain_layer_aggregator(name)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activation(activation):
    assert furthest(made("gcn,gat", activation=activation)) < 1e-5


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("residual", [False, True])
def test_norm_and_residual(norm, residual):
    assert furthest(made("sage_mean,gat", norm=norm, residual=residual)) < 1e-5


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("sparse", [False, True])
def test_scaling(scaling, sparse):
    model = made("gcn", scaling=scaling)
    assert furthest(replace(model, scaling=replace(model.scaling, sparse=sparse))) < 1e-5


@pytest.mark.parametrize(
    "architecture",
    [
        "gat,gin,sage_max | skip,zero,skip | lstm",
        "gat,gin | skip,zero | concat",
        "gat,gin | zero,zero | max",
        "gcnii,gcn,gcnii | skip,skip,zero | concat",
        "geniepath_deep,gcnii,geniepath_deep",
        "graphnas:gat:sum:elu:4:8,graphnas:gcn:max:relu:2:4",
        "mlp_w8_d2,linear,appnp",
    ],
)
def test_whole_nets(architecture):
    assert furthest(made(architecture, residual=True)) < 1e-5


@pytest.mark.parametrize("name", heads)
@pytest.mark.parametrize("skips", ["", " | skip,zero | concat"])
def test_head(name, skips):
    setting = sanegnn.Setting(hidden=8, heads=2)
    ours = filled(Net(Architecture.parse(f"gcn,gat{skips}"), setting, 5, 3, head=name)).eval()
    theirs = design.net(ours).build().double().eval()
    theirs.load_state_dict(dict(design.renamed(ours.state_dict())), strict=not skips)
    x, edges = numbers(NODES, 5), example_edges()
    pairs = torch.tensor([[0, 3, 5, 5], [1, 3, 2, 11]]) if name in ("dot", "mlp") else None
    inputs = Inputs(Features.of(x.numpy()), example_graph(), pairs=pairs)
    given = (x, edges, torch.ones(edges.shape[1], dtype=x.dtype), *([] if pairs is None else [pairs]))
    assert close(ours(inputs), theirs(*given))


def test_several_labels():
    model = replace(made("gcn,gat"), several=True)
    assert furthest(model) < 1e-5
    assert not np.allclose(model.predict_proba(example(model, 5, 4)).sum(1), 1)


def test_one_net_alone():
    assert furthest(made("gcn,gat", nets=1)) < 1e-5


def test_undirected_models_are_given_both_directions():
    model = replace(made("sage_sum,gat"), undirected=True)
    for (_, edges, _), _ in examples(model):
        pairs = set(map(tuple, edges.T.tolist()))
        assert pairs == {(v, u) for u, v in pairs}
    assert furthest(model) < 1e-5


class Mine(NodeAggregator):
    """A plug-in without a plain form."""

    def forward(self, x, graph, noise=None):
        return x


class Odd(Attention):
    """An attention with a score that has no plain form."""

    score = "odd"


def test_what_has_no_plain_form_is_refused():
    with pytest.raises(BadExport, match="Mine has no plain form"):
        form(Mine(shape()))
    with pytest.raises(BadExport, match="Odd has a score, 'odd'"):
        form(Odd(shape()))


def test_a_wrong_plain_form_is_found():
    class Twisted(node_ops["gat_sym"]):
        """Registered as another one's form."""

    form.register(Twisted)(lambda op: form(node_ops["gat"](op.shape)))
    with pytest.raises(AssertionError, match="other states"):
        check_plain_node_aggregator(Twisted)


def test_the_difference_is_infinite_where_a_number_is_missing():
    assert apart(np.array([np.nan]), np.array([1.0])) == float("inf")
    assert apart(np.array([1.5, 1.0]), np.array([1.0, 1.0])) == 0.5
