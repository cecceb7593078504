import pickle

import numpy as np
import pytest
import torch

from sanegnn.data import Split
from sanegnn.data.generate import planted_partition
from sanegnn.data.graphset import GraphSet
from sanegnn.errors import BadSplit, SealedTest, UnknownName
from sanegnn.kernels import Features
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets import Inputs, Net
from sanegnn.settings import Setting
from sanegnn.space import Architecture
from sanegnn.tasks import InductiveSearch, InductiveTask
from sanegnn.tasks.inductive import InductiveKnobs
from sanegnn.testing.examples import example_set

OWN = {"own": Split("own", [0, 1, 2], [3], [4])}


def own(several=False, batch=2):
    data = example_set(several)
    data = data.named("own", splits=OWN, public="own")
    return InductiveTask.of(data, "own", knobs=InductiveKnobs(batch))


@pytest.mark.parametrize("several", [False, True])
def test_a_batch_of_graphs_says_what_each_says_alone(several):
    task = own(several)
    together, alone = (own(several, batch).ready("standard", "cpu") for batch in (3, 1))
    net = Net(Architecture(("gat", "gin")), Setting(hidden=8, heads=2), 6, 3, seed=1).eval()
    (whole,) = together.batches("train")
    parts = alone.batches("train")
    joined = torch.cat([net(batch.inputs) for batch in parts])
    assert torch.allclose(net(whole.inputs), joined, atol=1e-5)
    assert torch.equal(whole.target, torch.cat([batch.target for batch in parts]))
    assert together.score([joined], "train") == alone.score(list(joined.split([40, 45, 50])), "train")
    assert task.sizes == {"train": 3, "val": 1, "test": 1}


def test_the_scaling_is_that_of_the_training_graphs():
    task = own()
    data = task.data
    x = Features.of(np.concatenate([data.graphs[place].x for place in (0, 1, 2)]))
    expected = Scaling.fit(x, "standard")(Features.of(data.graphs[4].x))
    (batch,) = task.ready("standard", "cpu").batches("test")
    assert torch.equal(batch.inputs.features.to_dense(), expected.to_dense())


def test_the_search_s_task_knows_nothing_of_the_test_graphs():
    task = own()
    sealed = task.without_test()
    assert type(sealed) is InductiveSearch
    assert not hasattr(sealed, "test")
    assert not hasattr(sealed, "data")
    with pytest.raises(SealedTest, match="the test part is sealed"):
        sealed.ready("unit", "cpu").batches("test")
    other = GraphSet.of(
        [*task.data.graphs[:4], planted_partition(99, nodes=30, classes=3, features=6)], "own", splits=OWN
    )
    assert pickle.dumps(InductiveTask.of(other, "own").without_test()) == pickle.dumps(sealed)


def test_only_labelled_nodes_are_scored():
    data = example_set()
    y = data.graphs[3].y.copy()
    y[:10] = -1
    graphs = [*data.graphs[:3], data.graphs[3].named("part", y=y), data.graphs[4]]
    task = InductiveTask.of(GraphSet.of(graphs, splits=OWN, classes=data.classes), "own")
    (batch,) = task.ready("raw", "cpu").batches("val")
    assert batch.inputs.rows.tolist() == list(range(10, len(y)))
    assert batch.target.tolist() == y[10:].tolist()
    assert batch.inputs.graph.num_nodes == len(y)


def test_several_labels_are_right_or_wrong_one_by_one():
    ready = own(several=True).ready("raw", "cpu")
    (batch,) = ready.batches("val")
    right = 20 * (2 * batch.target - 1)
    assert float(ready.loss(right, batch)) < 1e-6
    assert ready.score([right], "val") == 1.0
    assert ready.score([-right], "val") == 0.0
    certain, wrong = torch.full((1, 1), 9.0), torch.full((1, 1), -3.0)
    assert float(torch.sigmoid(ready.together([certain, wrong]))) == pytest.approx(
        (torch.sigmoid(certain) + torch.sigmoid(wrong)).item() / 2
    )


def test_a_class_that_no_training_graph_has_is_refused():
    data = example_set()
    bare = data.graphs[0].named("bare", y=np.minimum(data.graphs[0].y, 1))
    some = GraphSet.of([bare, *data.graphs[1:]], splits={"one": Split("one", [0], [1], [2])})
    with pytest.raises(BadSplit, match="split 'one': no training graph of graphs has a node of class '2'"):
        InductiveTask.of(some, "one")


def test_a_part_without_a_label_is_refused():
    data = example_set()
    bare = data.graphs[1].named("bare", y=np.full(data.graphs[1].num_nodes, -1))
    some = GraphSet.of([data.graphs[0], bare, data.graphs[2]], splits={"one": Split("one", [0], [1], [2])})
    with pytest.raises(BadSplit, match=r"split 'one': no node of the graphs in val \(bare\) has a label"):
        InductiveTask.of(some, "one")


def test_metrics_are_those_of_the_kind_of_labels():
    assert own().metric == "accuracy"
    assert own(several=True).metric == "micro_f1"
    with pytest.raises(UnknownName, match="no metric of several labels named 'accuracy'"):
        InductiveTask.of(example_set(several=True), metric="accuracy")
    with pytest.raises(UnknownName, match="no metric named 'micro_f1'"):
        InductiveTask.of(example_set(), metric="micro_f1")


def test_inputs_of_one_graph_are_its_own():
    task = own(batch=1)
    graph = task.data.graphs[1]
    expected = Inputs.of(graph, task.scaling("unit"), "cpu")
    batch = task.ready("unit", "cpu").batches("train")[1]
    assert torch.equal(batch.inputs.features.to_dense(), expected.features.to_dense())
    assert torch.equal(batch.inputs.graph.src, expected.graph.src)
