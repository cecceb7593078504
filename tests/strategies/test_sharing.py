"""Weight sharing: which weights go from one candidate of a search to another, and which do not."""

import math

import pytest
import torch
from safetensors.torch import load_file, save_file

from sanegnn.errors import RunFolder
from sanegnn.nets import Net, widths
from sanegnn.seeds import derive
from sanegnn.settings import Setting
from sanegnn.space import Architecture, SearchSpace, space
from sanegnn.strategies import Quest, Shared, strategies
from sanegnn.strategies.autognn import FREE
from sanegnn.strategies.sharing import Store
from sanegnn.testing.examples import example_task
from sanegnn.training.jobs import take_over
from sanegnn.work import InOrder

TINY = SearchSpace("tiny", 2, ("gcn", "gat", "gin"), ("skip", "zero"), ("concat", "max"))


def layer(attention="gat", aggregator="sum", combine="identity", activation="elu", heads="2", width="4"):
    return ":".join(["autognn", attention, aggregator, combine, activation, heads, width])


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"aggregator": "max"}, True),
        ({"combine": "mlp"}, True),
        ({"heads": "4", "width": "8"}, False),
        ({"heads": "1", "width": "8"}, True),  # as wide; weights of another shape stay behind
        ({"attention": "cos"}, False),
        ({"activation": "relu"}, False),
    ],
)
def test_autognn_hands_over_between_homogeneous_layers_alone(changes, same):
    store = Store(space("autognn", 1), 8, FREE)
    ancestor, child = Architecture((layer(),)), Architecture((layer(**changes),))
    common = store.common(child, ancestor, 7)
    assert ("layers.0." in common) == same
    assert common["stem"] == 7


def test_the_store_knows_who_trained_a_part_last():
    store = Store(space("paper", 2), 8, frozenset())
    store.keep(0, Architecture.parse("gcn,gat | skip,skip | max"), 0.5)
    store.keep(1, Architecture.parse("gcn,gin | skip,skip | concat"), 0.5)
    store.keep(2, Architecture.parse("gcn,gcn | skip,skip | lstm"), -math.inf)
    latest = store.latest(Architecture.parse("gcn,gat | skip,zero | lstm"))
    assert latest == {"stem": 1, "layers.0.": 1, "layers.1.": 0, "head": 1}


def test_weights_are_taken_over_where_name_and_shape_agree(tmp_path):
    setting = Setting(hidden=8, heads=2, norm="batch")
    ancestor = Net(Architecture((layer(), layer())), setting, 5, 3, seed=1)
    child = Net(Architecture((layer(heads="1", width="8"), layer("cos"))), setting, 5, 3, seed=2)
    save_file(ancestor.state_dict(), tmp_path / "w")
    before = {name: value.clone() for name, value in child.state_dict().items()}
    parts = ("stem", "layers.0.", "head")
    take_over(child, dict.fromkeys(parts, tmp_path / "w"))
    kept = load_file(tmp_path / "w")
    after = child.state_dict()
    taken = {name for name in after if name in kept and torch.equal(after[name], kept[name])}
    assert {"stem", "layers.0.weight", "head"} <= taken
    for name in ("layers.0.att_source", "layers.1.weight"):
        assert torch.equal(after[name], before[name])


def test_weights_that_are_gone_are_named(tmp_path):
    net = Net(Architecture.parse("gcn"), Setting(), 5, 3)
    with pytest.raises(RunFolder, match=r"cannot read the weights .*gone.*start over with --fresh"):
        take_over(net, {"stem": tmp_path / "gone"})


def test_widths_follow_the_architecture():
    assert widths(Architecture.parse(f"gcn,{layer(width='16')},gcn"), 8) == [8, 8, 32, 32]


def test_a_shared_child_begins_where_another_ended():
    seen = []

    class Watching(InOrder):
        def map(self, function, jobs, shared):
            seen.append(list(jobs))
            return super().map(function, jobs, shared)

    knobs = Shared(
        hidden=8, heads=2, epochs=4, batch=3, candidates=8, finals=2, share_epochs=3, controller_width=4
    )
    quest = Quest(example_task().without_test(), TINY, 0, 1, Watching())
    list(strategies["graphnas-ws"](knobs).search(quest))
    batches = [[(job.training.epochs, len(job.start) > 0) for job in jobs] for jobs in seen]
    assert batches == [[(3, False)] * 3, [(3, True)] * 3, [(4, False)] * 2]
    assert len({job.seed for jobs in seen for job in jobs}) == 8
    finals = seen[-1]
    root = derive(0, "restart", 0)
    assert [job.seed for job in finals] == [
        derive(root, "candidate", str(job.architecture)) for job in finals
    ]
