"""The contract suites over every registered operation, and that they can fail."""

import pytest
import torch

from sanegnn.kernels import attend
from sanegnn.ops import Attention, NodeAggregator, Shape, initialise, layer_ops, node_ops, pool_ops, skip_ops
from sanegnn.ops.base import LayerAggregator, Pooling, weight
from sanegnn.seeds import Noise
from sanegnn.testing import check_layer_aggregator, check_node_aggregator, check_pooling, check_skip
from sanegnn.testing.examples import NODES, WIDTH, filled, shape
from sanegnn.testing.ops import fused_equals_plain


@pytest.mark.parametrize("name", node_ops)
def test_node_aggregator(name):
    check_node_aggregator(name)


@pytest.mark.parametrize("name", layer_ops)
def test_layer_aggregator(name):
    check_layer_aggregator(name)


@pytest.mark.parametrize("name", skip_ops)
def test_skip(name):
    check_skip(name)


@pytest.mark.parametrize("name", pool_ops)
def test_pooling(name):
    check_pooling(name)


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize(
    ("kind", "within"), [(torch.float64, 1e-10), (torch.float32, 2e-4)], ids=["f64", "f32"]
)
def test_all_operations_of_a_layer_fuse_to_the_same(heads, kind, within):
    ops = [filled(node_ops[name](shape(heads)), seed).to(kind) for seed, name in enumerate(node_ops)]
    fused_equals_plain(ops, within)


class Mine(NodeAggregator):
    """A plug-in of no known family: each node gets a product of its own state and its in-degree."""

    def __init__(self, shape):
        super().__init__(shape)
        self.weight = weight(shape.width, shape.width)

    def forward(self, x, graph, noise=None):
        return graph.degree.to(x.dtype)[:, None] * (x @ self.weight.T)


def test_an_operation_of_an_unknown_family_just_works():
    check_node_aggregator(Mine)


class Deaf(Mine):
    """Reads along the edges in the wrong direction."""

    def forward(self, x, graph, noise=None):
        source, target = graph.edge_index
        return torch.zeros_like(x).index_add(0, source, x[target]) @ self.weight.T


class Numbered(Mine):
    """Takes the numbers of nodes for features."""

    def forward(self, x, graph, noise=None):
        return super().forward(x, graph) + torch.arange(len(x), dtype=x.dtype)[:, None]


class Random(Mine):
    """Draws from the global stream."""

    def forward(self, x, graph, noise=None):
        return super().forward(x, graph) * torch.rand(1, dtype=x.dtype)


class Dividing(Mine):
    """Divides by a degree that may be zero."""

    def forward(self, x, graph, noise=None):
        return super().forward(x, graph) / graph.degree.to(x.dtype)[:, None]


class Idle(Mine):
    """Holds a weight that it does not use."""

    def __init__(self, shape):
        super().__init__(shape)
        self.spare = weight(3)


class Narrow(Mine):
    """Loses a channel."""

    def forward(self, x, graph, noise=None):
        return super().forward(x, graph)[:, 1:]


class Strange(Mine):
    """Names a knob that no setting has."""

    knobs = ("tails",)


class Unfused(Attention):
    """Overrides a forward pass that the fused path will not call."""

    score = "gat"

    def forward(self, x, graph, noise=None):
        return 2 * super().forward(x, graph, noise)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Deaf, "to which it has no edge"),
        (Numbered, "permuting the nodes"),
        (Random, "two predictions differ"),
        (Dividing, "not finite"),
        (Idle, "these weights have no gradient: spare"),
        (Narrow, r"\(12, 8\) became \(12, 7\)"),
        (Strange, "tails: no such field of Setting"),
        (Unfused, "fused and plain path differ in the output"),
    ],
)
def test_a_broken_promise_is_found(kind, words):
    with pytest.raises(AssertionError, match=words):
        check_node_aggregator(kind)


class Mixing(LayerAggregator):
    """Lets one node see another."""

    def forward(self, states):
        return states.sum(0) + states.sum((0, 1))


class Last(LayerAggregator):
    """Forgets all layers but the last."""

    def forward(self, states):
        return states[-1] * 2


@pytest.mark.parametrize(
    ("kind", "words"), [(Mixing, "depends on the states of other nodes"), (Last, r"layers \[1, 2\] have no")]
)
def test_a_broken_promise_of_a_layer_aggregator_is_found(kind, words):
    with pytest.raises(AssertionError, match=words):
        check_layer_aggregator(kind)


class First(Pooling):
    """Takes the first node of each graph."""

    def forward(self, x, segments, graph):
        return segments.sum(x * (segments.place == 0)[:, None])


class Whole(Pooling):
    """Centres the states over the whole union."""

    def forward(self, x, segments, graph):
        return segments.sum((x - x.mean(0)).square())


class Averaging(Pooling):
    """Divides by a size that may be zero."""

    def forward(self, x, segments, graph):
        return segments.sum(x) / segments.sizes[:, None]


class Still(Pooling):
    """Counts nodes without looking at them."""

    def forward(self, x, segments, graph):
        return segments.sizes.to(x.dtype)[:, None].expand(-1, x.shape[1]) + 0 * x.sum()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (First, "permuting the nodes of a graph"),
        (Whole, "not pooled as it is alone"),
        (Averaging, "not finite|not pooled as it is alone|permuting"),
        (Still, "the states have no gradient"),
    ],
)
def test_a_broken_promise_of_a_pooling_is_found(kind, words):
    with pytest.raises(AssertionError, match=words):
        check_pooling(kind)


def test_weights_follow_from_seed_and_name_alone():
    one, same, other = (node_ops["gin"](Shape(WIDTH)) for _ in range(3))
    for op, seed in ((one, 1), (same, 1), (other, 2)):
        initialise(op, seed)
    assert torch.equal(one.inner, same.inner)
    assert not torch.equal(one.inner, other.inner)
    assert not torch.equal(one.inner, one.outer)
    assert not one.inner_bias.any()
    assert one.inner.abs().max() <= (6 / (2 * WIDTH)) ** 0.5


def test_attention_dropout_falls_on_coefficients(x, graph):
    values = x.view(NODES, 1, 2, 4)
    flat = torch.zeros(1, 2, 4, dtype=x.dtype)
    noisy = [attend(("gat",), values, flat, flat, flat, graph, 0.5, Noise(seed)) for seed in range(400)]
    still = attend(("gat",), values, flat, flat, flat, graph)
    assert not torch.allclose(noisy[0], still)
    assert torch.allclose(torch.stack(noisy).mean(0), still, atol=0.25)
