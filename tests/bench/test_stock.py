import pytest
import torch

from bench.equal import Unequal, check
from bench.stock import Raw, StockNet, StockSupernet
from sanegnn.data.generate import planted_partition
from sanegnn.nets import Net, Supernet
from sanegnn.settings import Setting
from sanegnn.space import Architecture, space
from sanegnn.tasks.nodes import NodeTask

NETS = ("gcn,gcn,gcn", "gat,gat,gat", "gin,gin,gin", "gcn,gcn,gcn | skip,skip,skip | lstm")
SETTING = Setting(hidden=8, heads=2)


@pytest.fixture(scope="module")
def task():
    return NodeTask.of(planted_partition(0, nodes=60, degree=3.0)).without_test()


@pytest.mark.parametrize("text", NETS)
def test_a_stock_net_is_equal(task, text):
    ready = task.ready("unit", "cpu")
    architecture = Architecture.parse(text)
    ours = Net(architecture, SETTING, ready.num_features, ready.num_outputs)
    check(ours, StockNet(architecture, SETTING, Raw.of(task, "unit")), ready, tolerance=1e-4)


def test_the_stock_supernet_is_equal(task):
    ready = task.ready("unit", "cpu")
    ours = Supernet(space(depth=3), SETTING, ready.num_features, ready.num_outputs)
    check(ours, StockSupernet(space(depth=3), SETTING, Raw.of(task, "unit")), ready, tolerance=1e-4)


@pytest.mark.parametrize("name", space().node_ops)
def test_every_aggregator_is_equal_alone(task, name):
    ready = task.ready("unit", "cpu")
    architecture = Architecture((name, name))
    ours = Net(architecture, SETTING, ready.num_features, ready.num_outputs)
    check(ours, StockNet(architecture, SETTING, Raw.of(task, "unit")), ready, tolerance=1e-4)


def test_an_unequal_net_is_refused(task):
    class Off(StockNet):
        def forward(self, *args):
            return 1.01 * super().forward(*args)

    ready = task.ready("unit", "cpu")
    architecture = Architecture.parse("gcn,gcn")
    ours = Net(architecture, SETTING, ready.num_features, ready.num_outputs)
    with pytest.raises(Unequal, match="output differs"):
        check(ours, Off(architecture, SETTING, Raw.of(task, "unit")), ready)


def test_a_check_leaves_equal_weights_and_no_gradients(task):
    ready = task.ready("unit", "cpu")
    architecture = Architecture.parse("gat,gin")
    ours = Net(architecture, SETTING, ready.num_features, ready.num_outputs, seed=3)
    before = ours.state_dict()["stem"].clone()
    stock = StockNet(architecture, SETTING, Raw.of(task, "unit"))
    check(ours, stock, ready)
    assert torch.equal(ours.stem, before)
    assert torch.equal(stock.stem.weight, before.t())
    assert all(weight.grad is None for net in (ours, stock) for weight in net.parameters())
