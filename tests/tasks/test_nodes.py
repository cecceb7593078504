import pickle

import numpy as np
import pytest
import torch

from sanegnn.data import GraphData, Split, stratified
from sanegnn.data.generate import planted_partition
from sanegnn.errors import BadSplit, SealedTest, UnknownName
from sanegnn.tasks import NodeSearch, NodeTask
from sanegnn.testing import check_dataset, check_task
from sanegnn.testing.examples import example_task

DATA = planted_partition(0, nodes=90, classes=3, features=6)


def directed():
    rng = np.random.default_rng(0)
    edges = rng.integers(60, size=(2, 150))
    return GraphData.of(
        {"x": rng.standard_normal((60, 4)), "edges": edges, "y": np.arange(60) % 2}, "directed"
    )


@pytest.mark.parametrize("data", [DATA, directed()], ids=lambda data: data.name)
def test_a_graph_keeps_the_promises_of_datasets_and_tasks(data):
    check_dataset(data)
    check_task(NodeTask.of(data))


@pytest.mark.parametrize("name", ["cora", "digits"])
def test_named_graphs_keep_them_too(dataset, name):
    data = dataset(name)
    check_dataset(data)
    check_task(NodeTask.of(data))


def test_the_search_s_task_has_no_test_labels():
    task = NodeTask.of(DATA)
    sealed = task.without_test()
    assert type(sealed) is NodeSearch
    assert not isinstance(sealed, NodeTask)
    assert not hasattr(sealed, "test")
    assert set(sealed.parts()) == {"train", "val"}
    with pytest.raises(SealedTest, match="the test part is sealed"):
        sealed.ready("unit", "cpu").batches("test")


def test_what_is_shipped_to_workers_has_no_test_labels_in_it():
    """Other test labels, the same bytes."""
    split = stratified(DATA.y, 0)
    y = DATA.y.copy()
    y[split.test] = (y[split.test] + 1) % 3
    own = DATA.named("own", splits={"own": split}, public="own")
    one, other = (NodeTask.of(data, "public") for data in (own, own.named("own", y=y)))
    assert pickle.dumps(one.without_test()) == pickle.dumps(other.without_test())
    assert pickle.dumps(one) != pickle.dumps(other)


def test_making_tensors_before_does_not_unseal():
    task = NodeTask.of(DATA)
    task.ready("unit", "cpu").batches("test")
    with pytest.raises(SealedTest):
        task.without_test().ready("unit", "cpu").batches("test")


def test_parts_are_the_split_s():
    task, split = NodeTask.of(DATA, "3"), stratified(DATA.y, 3)
    assert task.split == split.name
    for part in ("train", "val", "test"):
        (batch,) = task.ready("raw", "cpu").batches(part)
        assert np.array_equal(batch.inputs.rows.numpy(), getattr(split, part))
        assert np.array_equal(batch.target.numpy(), DATA.y[getattr(split, part)])


def test_loss_and_score_compare_outputs_with_their_own_classes():
    ready = NodeTask.of(DATA).ready("raw", "cpu")
    (batch,) = ready.batches("val")
    output = 20.0 * torch.nn.functional.one_hot(batch.target, 3)
    assert float(ready.loss(output, batch)) < 1e-6
    assert ready.score([output], "val") == 1.0
    assert ready.score([output.roll(1, dims=1)], "val") == 0.0


def test_the_metric_is_the_data_s_or_the_asked_one():
    assert NodeTask.of(DATA).metric == "accuracy"
    assert NodeTask.of(DATA, metric="macro_f1").ready("raw", "cpu").metric.__name__ == "macro_f1"
    with pytest.raises(UnknownName, match="no metric named 'f1'"):
        NodeTask.of(DATA, metric="f1")


def test_scaling_is_applied():
    task = example_task()
    raw, row = (task.ready(name, "cpu").inputs.features.to_dense() for name in ("raw", "row"))
    assert torch.allclose(raw / raw.abs().sum(1, keepdim=True), row, atol=1e-6)


def test_a_class_without_a_training_node_is_refused():
    split = stratified(DATA.y, 0)
    train = split.train[DATA.y[split.train] != 1]
    data = DATA.named("thin", splits={"own": Split("own", train, split.val, split.test)})
    with pytest.raises(BadSplit, match="split 'own' has no training node of class '1'"):
        NodeTask.of(data, "own")
