"""The task of whole graphs: what is learned, what is sealed, and what is left behind."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import sanegnn
from sanegnn.aims import GraphsKnobs
from sanegnn.baselines.names import contender
from sanegnn.bundle import load
from sanegnn.data import WholeGraphs
from sanegnn.data.motifs import motifs
from sanegnn.errors import BadArchitecture, BadGraph, BadSetting, UnknownName
from sanegnn.kernels import Features
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets import Net, Supernet, inherit
from sanegnn.seeds import Noise
from sanegnn.settings import Machine, Race, RunChoice, Search, Setting, Training
from sanegnn.space import Architecture, pooled_designs, space
from sanegnn.strategies import strategies
from sanegnn.tasks import Finished, GraphsTask, NodeTask
from sanegnn.testing.examples import close
from sanegnn.training.loop import evaluate, train_net

BARE = Setting(hidden=32, scaling="raw", dropout=0.0, input_dropout=0.0, lr=0.01, weight_decay=0.0)
GIN = "gin,gin | skip,skip | concat | sum"


def learned(task, text, epochs, setting=BARE):
    ready = task.ready(setting.scaling, "cpu")
    net = Net(Architecture.parse(text), setting, ready.num_features, ready.num_outputs, 1)
    train_net(net, ready, setting, Training(epochs=epochs, patience=epochs), 1)
    return net, evaluate(net, ready, "test")[0]


def test_two_steps_are_needed_and_suffice():
    """What a node is and what stands next to it are the same in both classes of the motifs."""
    task = GraphsTask.of(motifs(0), knobs=GraphsKnobs(batch=32))
    assert learned(task, GIN, 40)[1] >= 0.9
    assert learned(task, "linear,linear | sum", 10)[1] <= 0.8


def test_numbers_are_learned():
    data = motifs(1, numbers=True)
    task = GraphsTask.of(data, knobs=GraphsKnobs(batch=32))
    constant = -float(np.abs(task.test.y - np.median(task.train.y)).mean())
    assert task.metric == "neg_mae"
    assert learned(task, GIN, 40)[1] > 0.4 * constant


def test_batches_are_unions_of_graphs_that_are_kept():
    task = GraphsTask.of(motifs(0, graphs=50), knobs=GraphsKnobs(batch=16))
    ready = task.ready("raw", "cpu")
    batches = ready.batches("train")
    assert [len(batch.target) for batch in batches] == [14, 13, 13]
    assert sum(batch.inputs.graph.num_nodes for batch in batches) == task.train.num_nodes
    assert [batch.inputs.segments.count for batch in batches] == [14, 13, 13]
    orders = {tuple(id(batch) for batch in ready.batches("train", Noise(key))) for key in range(20)}
    assert len(orders) == 6
    assert ready.batches("val", Noise(1)) is ready.batches("val")


def test_a_batch_gives_each_graph_what_it_gives_it_alone():
    task = GraphsTask.of(motifs(0, graphs=30))
    net = Net(Architecture.parse("gin,gat | skip,skip | concat | topk"), BARE, 3, 2, 1).eval().double()
    whole, parts = ([], [])
    for knobs, found in ((GraphsKnobs(batch=64), whole), (GraphsKnobs(batch=1), parts)):
        ready = replace(task, settings=knobs, _made={}).ready("raw", "cpu")
        for batch in ready.batches("train"):
            x = Features.of(batch.inputs.features.to_dense().double())
            inputs = replace(batch.inputs, features=x)
            found.extend(zip(net(inputs), batch.target, strict=True))
    key = lambda pair: tuple(pair[0].tolist())  # noqa: E731
    for (one, label), (other, same) in zip(sorted(whole, key=key), sorted(parts, key=key), strict=True):
        assert close(one, other, 1e-6)
        assert label == same


def test_constants_come_from_the_training_graphs_alone():
    data = motifs(0, graphs=40, numbers=True)
    task = GraphsTask.of(data)
    assert task.target.mean == pytest.approx(task.train.y.mean())
    changed = replace(data, y=np.where(np.isin(np.arange(40), data.resolve("0").test), 100.0, data.y))
    assert GraphsTask.of(replace(changed, splits={"a": data.resolve("0")}), "a").target == task.target
    assert task.scaling("standard") == Scaling.fit(Features.of(task.train.x), "standard")


def test_the_sealed_task_holds_no_test_graph():
    task = GraphsTask.of(motifs(0, graphs=40))
    sealed = task.without_test()
    held = [value for value in vars(sealed).values() if isinstance(value, WholeGraphs)]
    assert [len(one) for one in held] == [32, 4]
    assert not {*task.test.ids} & {one for part in held for one in part.ids}


def test_a_metric_of_another_kind_is_refused():
    with pytest.raises(UnknownName, match="no metric of numbers named 'accuracy'"):
        GraphsTask.of(motifs(0, graphs=40, numbers=True), metric="accuracy")
    with pytest.raises(UnknownName, match="no metric named 'neg_mae'"):
        GraphsTask.of(motifs(0, graphs=40), metric="neg_mae")


def test_a_net_without_a_pooling_is_refused():
    data = motifs(0, graphs=40)
    with pytest.raises(BadArchitecture, match="asked for, but the net has no pooling"):
        learned(GraphsTask.of(data), "gin", 1)
    with pytest.raises(BadSetting, match=r"gin \| skip \| max has no pooling, but the task asks"):
        sanegnn.train(data, "gin | skip | max")
    with pytest.raises(BadSetting, match=r"space 'paper' has no pooling.*such as graph"):
        sanegnn.search(data, search=Search(space="paper"))
    with pytest.raises(BadSetting, match="gcn, gcn,gcn,gcn, has no pooling"):
        contender("gcn", Race(), {}, GraphsTask)


def test_a_pooling_is_refused_where_nodes_are_asked_for():
    with pytest.raises(BadSetting, match=r"gin \| sum pools whole graphs, but the task asks for nodes"):
        sanegnn.train("digits", "gin | sum")
    with pytest.raises(BadSetting, match="space 'graph' pools whole graphs"):
        sanegnn.search("digits", search=Search(space="graph"))
    with pytest.raises(BadSetting, match=r"graph-topk, gcn \| topk, pools whole graphs"):
        contender("graph-topk", Race(), {}, NodeTask)
    assert contender("graph-topk", Race(), {}, GraphsTask).kind == "human"


def test_one_supernet_searches_all_that_the_text_names():
    task = GraphsTask.of(motifs(0, graphs=40))
    searched, ready = space("graph", 2), task.ready("raw", "cpu")
    supernet = Supernet(searched, BARE, ready.num_features, ready.num_outputs).eval()
    inputs = ready.batches("val")[0].inputs
    odds = {
        slot.key: torch.full((len(slot.choices),), 1 / len(slot.choices), requires_grad=True)
        for slot in searched.slots
    }
    supernet(inputs, odds)[:, 0].square().sum().backward()
    assert all(row.grad.abs().max() > 0 for row in odds.values())
    for design in (*pooled_designs(2)[:2], Architecture.parse("gat,gin | zero,skip | max | set2set")):
        derived = inherit(supernet, design).eval()(inputs)
        assert torch.allclose(supernet(inputs, searched.encode(design)), derived, atol=1e-5)


def finished(task, net, setting=BARE):
    return task.model(Finished(net.architecture, setting, [net.state_dict()], {"dataset": "motifs"}))


@pytest.mark.parametrize("numbers", [False, True])
def test_a_model_says_what_its_net_says(numbers, tmp_path):
    data = motifs(0, graphs=40, numbers=numbers)
    task = GraphsTask.of(data)
    net, score = learned(task, GIN, 2)
    finished(task, net).save(tmp_path / "model")
    model = load(tmp_path / "model")
    said = model.predict(task.test)
    if numbers:
        assert -np.abs(said - task.test.y).mean() == pytest.approx(score, abs=1e-6)
        assert model.table(task.test).column_names == ["id", "predicted"]
        with pytest.raises(BadGraph, match="predicts a number"):
            model.predict_proba(task.test)
    else:
        assert np.mean(said == np.array(data.classes)[task.test.y]) == pytest.approx(score)
        assert model.predict_proba(task.test).sum(1) == pytest.approx(np.ones(len(task.test)))
        assert model.table(task.test).column_names[:3] == ["id", "predicted", "confidence"]
        assert model.table(task.test)["id"].to_pylist() == task.test.ids.tolist()
    graphs = [{"x": np.ones((2, 5)), "edges": [[0], [1]]}]
    with pytest.raises(BadGraph, match="fitted on 3 features, but graphs has 5"):
        model.predict(graphs)


SHORT = {"training": Training(epochs=2, patience=2), "machine": Machine(workers=1)}


def test_searching_and_training_whole_graphs(tmp_path):
    """From objects to a trained model, through the functions of the library."""
    data, run = motifs(0, graphs=40), RunChoice(folder=str(tmp_path))
    knobs = {"sane": strategies["sane"].knobs(epochs=3, candidates=2)}
    found = sanegnn.search(
        data, search=Search("sane", depth=1, restarts=1), knobs=knobs, setting=BARE, run=run, **SHORT
    )
    assert Architecture.parse(found.architecture).pool is not None
    done = sanegnn.train(data, "gin | mean", setting=BARE, run=run, **SHORT)
    assert len(done.tests) == len(done.validations)
    model = sanegnn.load(tmp_path / done.run)
    assert len(model.predict(data)) == 40
