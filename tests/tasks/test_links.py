import pickle

import numpy as np
import pytest
import torch

from sanegnn.aims import LinkKnobs
from sanegnn.bundle import LinkModel, load
from sanegnn.bundle.predictions import predictions
from sanegnn.data import GraphData
from sanegnn.data.generate import planted_partition
from sanegnn.data.pairs import keys_of
from sanegnn.errors import SealedTest, UnknownName
from sanegnn.seeds import Noise
from sanegnn.settings import Setting, Training
from sanegnn.space import Architecture
from sanegnn.tasks import Finished, LinkSearch, LinkTask
from sanegnn.training import evaluate, train_net
from sanegnn.training.jobs import Job

DATA = planted_partition(0, nodes=300, classes=6, features=8, degree=10.0, homophily=0.95)


def trained(architecture, head="dot", epochs=60):
    task = LinkTask.of(DATA, knobs=LinkKnobs(head=head))
    setting = Setting(hidden=16, heads=1, scaling="standard", dropout=0.0, input_dropout=0.0, lr=0.01)
    job = Job(Architecture.parse(architecture), setting, Training(epochs, epochs), 0)
    ready = task.ready("standard", "cpu")
    net = job.net(ready)
    train_net(net, ready, setting, job.training, 0)
    return task, net, evaluate(net, ready, "test")[0]


@pytest.fixture(scope="module")
def learned():
    return trained("gcn,gcn")


def test_neighbours_tell_more_than_features(learned):
    """Whoever feeds no edge to the net, or the wrong ones, stays with the features."""
    _, _, score = learned
    assert score > 0.80
    assert score > trained("linear,linear")[2] + 0.03


def test_the_mlp_head_learns_too():
    assert trained("gcn,gcn", "mlp")[2] > 0.75


def test_a_net_without_a_weight_in_its_outputs_is_trained_and_knows_nothing():
    """All skips zero and the head without weights: every pair has the same chance."""
    assert trained("gcn,gcn | zero,zero | max", epochs=2)[2] == 0.5


def test_training_pairs_apart_are_drawn_for_every_noise():
    ready = LinkTask.of(DATA, knobs=LinkKnobs(negatives=2)).ready("raw", "cpu")
    (one,), (again,), (other,) = (ready.batches("train", Noise(key)) for key in (1, 1, 2))
    assert torch.equal(one.inputs.pairs, again.inputs.pairs)
    assert not torch.equal(one.inputs.pairs, other.inputs.pairs)
    joined = int(one.target.sum())
    assert one.inputs.pairs.shape[1] == 3 * joined
    assert torch.equal(one.inputs.pairs[:, :joined], other.inputs.pairs[:, :joined])
    apart = keys_of(one.inputs.pairs[:, joined:].numpy(), DATA.num_nodes)
    assert not set(apart.tolist()) & set(ready.known.tolist())


def test_messages_take_training_edges_alone_in_every_part():
    task = LinkTask.of(DATA)
    ready = task.ready("raw", "cpu")
    graphs = {id(batch.inputs.graph) for part in ("train", "val", "test") for batch in ready.batches(part)}
    assert len(graphs) == 1
    assert ready.inputs.graph.num_edges == 2 * task.sizes["train"]


def test_the_search_s_task_knows_no_test_pair():
    task = LinkTask.of(DATA)
    sealed = task.without_test()
    assert type(sealed) is LinkSearch
    with pytest.raises(SealedTest, match="the test part is sealed"):
        sealed.ready("unit", "cpu").batches("test")
    assert set(sealed.parts()) == {"val"}
    told = set(keys_of(sealed.edges, DATA.num_nodes)) | set(keys_of(sealed.train, DATA.num_nodes))
    told |= set(keys_of(sealed.val.joined, DATA.num_nodes))
    assert not told & set(keys_of(task.test.joined, DATA.num_nodes))
    assert b"test" not in pickle.dumps(sealed.parts())


def test_degrees_that_stand_in_for_features_are_those_of_training():
    bare = GraphData.of({"edges": DATA.edges, "num_nodes": DATA.num_nodes}, "bare")
    task = LinkTask.of(bare)
    degree = np.bincount(task.edges[1], minlength=bare.num_nodes)
    assert np.allclose(task.x[:, 1], np.log1p(degree))
    assert not np.allclose(task.x, bare.x)


def test_the_score_reads_the_pairs_of_its_part():
    task = LinkTask.of(DATA, metric="hits@10")
    ready = task.ready("raw", "cpu")
    (batch,) = ready.batches("val")
    right = 9 * (2 * batch.target[:, None] - 1)
    assert ready.score([right], "val") == 1.0
    assert ready.score([-right], "val") == 0.0
    assert float(ready.loss(right, batch)) < 1e-3
    with pytest.raises(UnknownName, match="no metric of links named 'accuracy'"):
        LinkTask.of(DATA, metric="accuracy")


def test_the_model_suggests_links_that_are_not_there(learned, tmp_path):
    task, net, _ = learned
    finished = Finished(net.architecture, net.setting, [net.state_dict()], {"dataset": "planted"})
    task.model(finished).save(tmp_path / "model")
    model = load(tmp_path / "model")
    assert type(model) is LinkModel
    (batch,) = task.ready("standard", "cpu").batches("test")
    graph = DATA.named("train", edges=task.edges)
    with torch.no_grad():
        expected = torch.sigmoid(net.eval()(batch.inputs))[:, 0].numpy()
    assert np.allclose(model.predict_proba(graph, batch.inputs.pairs), expected, atol=1e-5)
    pairs, chances = model.suggested(graph, each=2)
    assert pairs.shape == (2, 2 * DATA.num_nodes)
    assert not set(keys_of(pairs, DATA.num_nodes)) & set(keys_of(task.edges, DATA.num_nodes))
    assert (pairs[0] != pairs[1]).all()
    every = np.array([(5, other) for other in range(DATA.num_nodes)]).T
    odds = model.predict_proba(graph, every)
    odds[[5, *task.edges[1][task.edges[0] == 5]]] = -1
    assert chances[10:12] == pytest.approx(np.sort(odds)[::-1][:2])
    table = predictions(model, graph)
    assert table.column_names == ["source", "target", "p(link)"]


def test_blocks_of_pairs_give_the_same_suggestions(learned, monkeypatch):
    task, net, _ = learned
    model = task.model(Finished(net.architecture, net.setting, [net.state_dict()], {}))
    whole = model.suggested(DATA)
    monkeypatch.setattr("sanegnn.bundle.links.BLOCK", 1000)
    assert np.array_equal(model.suggested(DATA)[0], whole[0])
