"""What made a prediction: on graphs where that is known, and against the model itself."""

import numpy as np
import pytest
import torch
from torch_geometric.explain import Explainer, GNNExplainer

import citations
import sanegnn
from sanegnn.data import GraphData
from sanegnn.data.generate import both_ways
from sanegnn.errors import BadExport, BadGraph
from sanegnn.explaining import explain_node
from sanegnn.explaining.around import around
from sanegnn.explaining.gradients import integrated
from sanegnn.exporting import plain
from sanegnn.exporting.examples import SIZES, example
from sanegnn.settings import DataChoice, Machine, Repeats, RunChoice, Setting, Training
from untrained import made

ASKING, OTHERS = 120, 6


def loud():
    """Every asking node has six neighbours, one of them loud: its value is the label.

    Features: loud and high, loud and low, quiet and high, quiet and low, asking.
    """
    rng = np.random.default_rng(0)
    x = np.zeros((ASKING * (1 + OTHERS), 5), np.float32)
    x[:ASKING, 4] = 1
    high = rng.integers(0, 2, (ASKING, OTHERS))
    chosen = rng.integers(0, OTHERS, ASKING)
    for node in range(ASKING):
        for place in range(OTHERS):
            quiet = 0 if place == chosen[node] else 2
            x[ASKING + OTHERS * node + place, quiet + 1 - high[node, place]] = 1
    ends = np.stack([np.repeat(np.arange(ASKING), OTHERS), ASKING + np.arange(ASKING * OTHERS)])
    y = np.r_[high[np.arange(ASKING), chosen], np.full(ASKING * OTHERS, -1)]
    data = GraphData.of({"x": x, "edges": both_ways(ends, len(x)), "y": y}, "loud")
    return data, ASKING + OTHERS * np.arange(ASKING) + chosen


def trained(folder, data, architecture, epochs=60, **knobs):
    setting = Setting(**{"hidden": 8, "heads": 1, "dropout": 0.0, "input_dropout": 0.0, "lr": 0.02, **knobs})
    result = sanegnn.train(
        data,
        architecture,
        setting=setting,
        repeats=Repeats(2),
        training=Training(epochs),
        run=RunChoice(folder=str(folder)),
        machine=Machine(device="cpu", workers=1),
    )
    return sanegnn.load(folder / result.run), result


def test_the_neighbour_that_made_the_label_comes_first(tmp_path):
    data, answers = loud()
    model, result = trained(tmp_path, data, "sage_sum")
    assert result.test > 0.95
    right = model.predict_proba(data).argmax(1)[:ASKING] == data.y[:ASKING]
    asked = np.flatnonzero(right)[:20]
    for node in asked:
        found = explain_node(model, data, node, top=3)
        assert {found.edges[0].source, found.edges[0].target} == {node, answers[node]}
        assert found.edges[0].without < found.probability - 0.1
        assert found.nodes[0].id == answers[node]
        assert found.nodes[0].distance == 1
        wanted = "feature 0" if data.y[node] == 1 else "feature 1"
        assert found.features[0].feature == wanted
        assert found.features[0].own == 0


@pytest.mark.slow
def test_the_neighbour_with_the_same_key_comes_first(tmp_path):
    """`planted-match`: of ten neighbours, the one with the key of the node itself makes the label."""
    from sanegnn.data.planted import planted_match

    data = planted_match(0, nodes=1600)
    model, result = trained(tmp_path, data, "gat_cos", 150, hidden=32, lr=0.01, weight_decay=5e-5)
    assert result.test > 0.9
    asking, keys = 800, data.x[:, :8] - 0.5
    predicted = model.predict_proba(data).argmax(1)
    first = []
    for node in np.flatnonzero(predicted[:asking] == data.y[:asking])[:40]:
        known = data.edges[0][data.edges[1] == node]
        answer = known[(keys[known] @ keys[node]).argmax()]
        edge = explain_node(model, data, node, top=1).edges[0]
        first.append({edge.source, edge.target} == {node, answer})
    assert np.mean(first) > 0.9


ARCHITECTURES = [
    "gcn,gat | skip,skip | concat",
    "sage_max,lgcn",
    "gcnii,gcnii",
    "geniepath,gin,sage_mean | zero,skip,zero | max",
    "appnp",
]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("norm", ["none", "pair"])
def test_shares_add_up_and_the_rest_is_what_the_model_says(architecture, norm):
    model = made(architecture, norm=norm)
    data = example(model, *SIZES[2])
    odds = model.predict_proba(data)
    node = int(data.edges[1][0])
    found = explain_node(model, data, node, top=3)
    assert found.probability == pytest.approx(odds[node].max(), abs=1e-5)
    assert found.predicted == model.classes[odds[node].argmax()]
    features, edges = map(abs, found.missed)
    assert edges < 0.02
    assert features < (0.02 if norm == "none" else 0.2)  # PairNorm jumps where all features are zero
    assert data.directed
    for edge in found.edges:
        kept = ~((data.edges[0] == edge.source) & (data.edges[1] == edge.target))
        rest = {"x": data.x, "edges": data.edges[:, kept], "weight": data.weight[kept]}
        less = model.predict_proba(GraphData.of(rest))[node, odds[node].argmax()]
        assert edge.without == pytest.approx(less, abs=1e-5)
    assert [abs(row.share) for row in found.edges] == sorted(abs(row.share) for row in found.edges)[::-1]
    assert found.table()["edges"][0]["source"] == found.edges[0].source


def test_all_shares_add_up_to_the_difference():
    model = made("gcn,sage_mean")
    data = example(model, *SIZES[2])
    found = explain_node(model, data, 3, top=10**6)
    edges, nodes, features = (
        sum(row.share for row in rows) for rows in (found.edges, found.nodes, found.features)
    )
    assert edges == pytest.approx(found.probability - found.without_edges, abs=1e-3)
    assert nodes == pytest.approx(found.probability - found.without_features, abs=1e-3)
    assert features == pytest.approx(nodes, abs=1e-5)


def test_integrated_gradients_by_hand():
    """x² from 0 to 3 is 9; of x y both get half."""
    assert integrated(lambda x: (x**2).sum(), torch.tensor([3.0])).item() == pytest.approx(9, abs=1e-3)
    shares = integrated(lambda x: x[0] * x[1], torch.tensor([2.0, 5.0]))
    assert shares.tolist() == pytest.approx([5, 5], abs=1e-3)


def test_a_node_alone_and_one_that_is_not_there():
    model = made("gcn,gat")
    data = GraphData.of({"x": np.eye(5, 6, dtype=np.float32), "edges": np.array([[0, 1], [1, 2]])}, "five")
    found = explain_node(model, data, 4)
    assert found.edges == ()
    assert [row.id for row in found.nodes] == [4]
    with pytest.raises(BadGraph, match="five has no node 'x7'; its ids are like '0', '1', '2'"):
        explain_node(model, data, "x7")


def test_distances_follow_the_messages():
    model = made("gcn,gat,gin")
    data = GraphData.of({"x": np.eye(5, 6, dtype=np.float32), "edges": np.array([[0, 1, 4], [1, 2, 0]])})
    one = around(model, data, 2)
    assert dict(zip(one.ids, one.distances, strict=True)) == {0: 2, 1: 1, 2: 0, 4: 3}


def test_ids_and_features_have_the_names_of_the_tables(tmp_path):
    graph = sanegnn.read(citations.papers(), citations.citations(), label="topic")
    result = sanegnn.train(
        graph,
        "gcn,gat",
        choice=DataChoice("part", undirected=True),
        repeats=Repeats(1),
        training=Training(4),
        run=RunChoice(folder=str(tmp_path)),
        machine=Machine(device="cpu", workers=1),
    )
    model = sanegnn.load(tmp_path / result.run)
    node = str(graph.ids[7])
    found = sanegnn.explain(model, model.read(citations.papers(), citations.citations()), node=node)
    assert found.node == node
    assert {row.feature for row in found.features} <= set(model.preprocessing.names)
    ids = set(graph.ids.tolist())
    assert {edge.source for edge in found.edges} | {edge.target for edge in found.edges} <= ids
    assert len({frozenset((edge.source, edge.target)) for edge in found.edges}) == len(found.edges)


def test_what_pyg_explains_with_works_on_the_plain_form():
    model = made("gat,gin,lgcn")
    data = example(model, *SIZES[0])
    explainer = Explainer(
        plain(model),
        GNNExplainer(epochs=3),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "probs"},
    )
    found = explainer(torch.from_numpy(data.x), torch.from_numpy(data.edges), index=int(data.edges[1][0]))
    assert found.edge_mask.shape == (data.num_edges,)
    assert found.edge_mask.max() > 0


def test_a_model_of_another_kind_is_refused():
    with pytest.raises(BadExport, match="only models for the classes or labels of nodes"):
        sanegnn.explain(object(), None, node=1)
