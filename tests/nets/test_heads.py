import pytest
import torch

from sanegnn.nets import Inputs, Net, Supernet, heads, inherit
from sanegnn.settings import Setting
from sanegnn.space import Architecture, SearchSpace
from sanegnn.testing.examples import example_inputs

SETTING = Setting(hidden=4, heads=1, dropout=0.0, input_dropout=0.0)
PAIRS = torch.tensor([[0, 1, 5], [2, 1, 0]])
ONE = Architecture(("gcn", "sage_mean"))
SPACE = SearchSpace("heads", 2, ("gcn", "sage_mean"), ("skip", "zero"), ("concat", "max"))


def inputs():
    plain = example_inputs()
    return Inputs(plain.features.to(torch.float32), plain.graph, pairs=PAIRS)


def net(head, outputs=1):
    return Net(ONE, SETTING, 5, outputs, head=head).eval()


def test_identity_is_the_embedding():
    one = net("identity")
    assert torch.equal(one(inputs()), one.embed(inputs()))
    assert not [name for name, _ in one.named_parameters() if name.startswith("head")]


def test_dot_multiplies_the_embeddings_of_a_pair():
    one = net("dot")
    z = one.embed(inputs()).detach()
    expected = [[float(z[0] @ z[2])], [float(z[1] @ z[1])], [float(z[5] @ z[0])]]
    assert torch.allclose(one(inputs()), torch.tensor(expected), atol=1e-6)


def test_mlp_reads_the_product_by_two_layers():
    one = net("mlp", 3)
    with torch.no_grad():
        one.head_bias += 0.5
        one.head_inner_bias += 0.25
    z = one.embed(inputs()).detach()
    product = z[PAIRS[0]] * z[PAIRS[1]]
    inner = torch.relu(product @ one.head_inner.T + one.head_inner_bias)
    assert torch.allclose(one(inputs()), inner @ one.head.T + one.head_bias, atol=1e-6)


@pytest.mark.parametrize("head", ["dot", "mlp"])
def test_the_order_of_a_pair_does_not_matter(head):
    one, turned = net(head), Inputs(inputs().features, inputs().graph, pairs=PAIRS.flip(0))
    assert torch.equal(one(inputs()), one(turned))


@pytest.mark.parametrize("head", ["dot", "mlp"])
def test_a_head_of_pairs_needs_pairs(head):
    bare = Inputs(inputs().features, inputs().graph)
    with pytest.raises(ValueError, match="but the inputs name none"):
        net(head)(bare)


@pytest.mark.parametrize("head", heads)
def test_a_net_inherits_the_head_of_its_supernet(head):
    supernet = Supernet(SPACE, SETTING, 5, 2, seed=3, head=head).eval()
    member = Architecture(("gcn", "sage_mean"), ("skip", "zero"), "max")
    one = inherit(supernet, member).eval()
    assert torch.allclose(one(inputs()), supernet(inputs(), SPACE.encode(member)), atol=1e-6)
    parameters = dict(one.named_parameters())
    assert all(torch.equal(parameters[name], supernet.get_parameter(name)) for name in one.head_weights)
