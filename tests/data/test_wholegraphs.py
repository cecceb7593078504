"""Sets of graphs with a label each: what comes in, folds, folders, TU files, and what the doctor says."""

import importlib.util
import shutil
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from sanegnn.data import GraphData, Split, WholeGraphs, load
from sanegnn.data.folds import deal, fold
from sanegnn.data.graphset import GraphSet
from sanegnn.data.motifs import motifs
from sanegnn.data.opening import opened
from sanegnn.data.rounds import look_over
from sanegnn.errors import BadGraph, BadSplit
from sanegnn.settings import DataChoice, Machine

RING = np.array([[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]])


def triangle(y, features=2, **rest):
    return {"x": np.eye(3, features, dtype=np.float32), "edges": RING, "y": y, **rest}


def many(count=20, **rest):
    return WholeGraphs.of([triangle(number % 2, **rest) for number in range(count)])


def test_graphs_stand_side_by_side():
    data = WholeGraphs.of([triangle("a"), {"x": np.ones((2, 2)), "edges": [[0], [1]], "y": "b"}])
    assert data.x.shape == (5, 2)
    assert data.sizes.tolist() == [3, 2]
    assert data.edges.T.tolist() == [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [3, 4]]
    assert (data.y.tolist(), data.classes, data.metric) == ([0, 1], ("a", "b"), "accuracy")
    assert data.directed
    assert data.undirected().num_edges == 8


def test_some_of_them_are_a_set_again():
    data = WholeGraphs.of([triangle(0), triangle(1), {"x": np.ones((2, 2)), "edges": [[0], [1]], "y": 0}])
    some = data.among([2, 0])
    assert some.sizes.tolist() == [2, 3]
    assert some.y.tolist() == [0, 0]
    assert some.ids.tolist() == [2, 0]
    assert some.edges.T.tolist() == [[0, 1], [2, 3], [2, 4], [3, 2], [3, 4], [4, 2], [4, 3]]
    assert np.array_equal(some.x[2:], np.eye(3, 2))
    assert len(data.among([])) == 0


def test_pyg_s_objects_are_read():
    graphs = [Data(torch.eye(3), torch.as_tensor(RING), y=torch.tensor([place % 2])) for place in range(4)]
    data = opened(graphs, DataChoice(), Machine())
    assert isinstance(data, WholeGraphs)
    assert data.y.tolist() == [0, 1, 0, 1]
    by_node = [GraphData.of(triangle(np.array([0, 1, 0]))) for _ in range(3)]
    assert isinstance(opened(by_node, DataChoice(), Machine()), GraphSet)


def test_numbers_are_no_classes():
    data = WholeGraphs.of([triangle(None)] * 3, [0.5, np.nan, 2])
    assert (data.classes, data.metric, data.known.tolist()) == ((), "neg_mae", [0, 2])
    assert WholeGraphs.of([triangle(None)] * 3, [1, 2, 3], numbers=True).y.dtype == np.float64
    assert WholeGraphs.of([triangle(None)] * 3, [1.0, 2.0, np.nan]).classes == ("1", "2")
    assert not len(WholeGraphs.of([triangle(None)] * 3).known)


def test_without_features_degrees_stand_in():
    data = WholeGraphs.of([{"edges": RING, "num_nodes": 4, "y": 0}, {"edges": RING, "num_nodes": 3, "y": 1}])
    assert data.x.shape == (7, 2)
    assert any("no features came" in note for note in data.notes)


@pytest.mark.parametrize(
    ("graphs", "words"),
    [
        ([], "no graph came"),
        ([triangle(0), triangle([0, 1, 1])], "graph 1 has 3 labels; a graph has one"),
        ([triangle(0), triangle(1, features=3)], r"graph 1 has features \(3, 3\), but graph 0 has \(3, 2\)"),
        ([triangle(0), {"x": np.ones((2, 2)), "edges": [[0], [2]], "y": 1}], r"graph 1: edges\[1, 0\] is 2"),
        ([triangle(0), triangle(1, weight=np.ones(6))], "graph 0 has no edge weights, but others have"),
        ([triangle(0), {"num_nodes": 3, "edges": RING, "y": 1}], "graph 1 has no features, but others have"),
        ([triangle(0), 3], "graph 1: cannot read a graph from int"),
    ],
)
def test_what_cannot_be_read_names_its_graph(graphs, words):
    with pytest.raises(BadGraph, match=words):
        WholeGraphs.of(graphs)


def test_a_split_of_unknown_graphs_is_refused():
    graphs = [triangle(0), triangle(1), triangle(None)]
    with pytest.raises(BadSplit, match="test names graph 2, which is not there or has no label"):
        WholeGraphs.of(graphs, splits={"public": Split("public", [0], [1], [2])}, public="public")


def test_ten_folds_test_every_graph_once_and_choose_by_the_next():
    data = many(57)
    splits = [data.resolve(str(number)) for number in range(10)]
    assert sorted(np.concatenate([split.test for split in splits])) == list(range(57))
    for one, other in zip(splits, splits[1:] + splits[:1], strict=True):
        assert one.val.tolist() == other.test.tolist()
        assert len({*one.train, *one.val, *one.test}) == 57
        assert abs(data.y[one.test].mean() - 0.5) <= 0.2
    assert data.resolve("10").test.tolist() != splits[0].test.tolist()
    assert data.resolve("3").name == "fold 3 of 10, seed 0"
    assert data.usual_splits == tuple(map(str, range(10)))


def test_folds_hold_classes_and_numbers_in_proportion():
    y = np.array([0] * 70 + [1] * 30)
    assert set(Counter(zip(deal(y, 0), y, strict=True)).values()) == {7, 3}
    numbers = np.linspace(0, 1, 100)
    means = [numbers[deal(numbers, 0) == part].mean() for part in range(10)]
    assert max(means) - min(means) < 0.1
    assert np.array_equal(deal(numbers, 1), deal(numbers, 1))


def test_too_few_graphs_for_folds():
    with pytest.raises(BadSplit, match="9 labelled graphs cannot make 10 folds: bring a split of your own"):
        fold(np.zeros(9), np.arange(9), 0)
    with pytest.raises(BadSplit, match="graphs has no split 'x'; it has no split of its own; 0 to 9 are the"):
        many().resolve("x")


def test_the_checksum_is_of_all_that_matters():
    data = many()
    assert data.checksum == many().checksum == data.named("other").checksum
    assert data.checksum != many(21).checksum
    assert data.checksum != data.among([1, *range(1, 20)]).checksum


def test_motifs_are_told_by_nothing_near():
    """Numbers of nodes, of colours and of the pairs of colours along an edge are those of the other class."""
    data = motifs(0, graphs=40)
    assert Counter(data.y.tolist()) == {0: 20, 1: 20}
    colour = data.x.argmax(1)
    for place in range(40):
        one = data.among([place])
        own = Counter(one.x.argmax(1).tolist())
        pairs = Counter(zip(*(one.x.argmax(1)[end] for end in one.edges), strict=True))
        chains = one.num_nodes // 4
        assert (own[0], own[1], own[2]) == (chains, chains, 2 * chains)
        assert set(pairs.values()) == {chains, 2 * chains}
    assert set(colour) == {0, 1, 2}
    assert motifs(0, graphs=40).checksum == data.checksum


def written(folder, count=20, split=False):
    """A folder of triangles, some with a long tail, which is their class."""
    lines = ["id,label,split" if split else "id,label"]
    for number in range(count):
        one = folder / f"g{number}"
        one.mkdir(parents=True)
        tail = number % 2
        (one / "nodes.csv").write_text("id,size\n" + "".join(f"n{v},{v}.5\n" for v in range(3 + tail)))
        ends = [(0, 1), (1, 2), (2, 0), *([(2, 3)] if tail else [])]
        (one / "edges.csv").write_text("source,target\n" + "".join(f"n{u},n{v}\n" for u, v in ends))
        part = ("train", "val", "test")[min(2, number // 8)]
        lines.append(f"g{number},{'tailed' if tail else 'plain'}" + (f",{part}" if split else ""))
    (folder / "graphs.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_a_folder_of_tables_with_a_table_of_labels(tmp_path):
    data = opened(str(written(tmp_path / "rings")), DataChoice(), Machine())
    assert (len(data), data.classes, data.name) == (20, ("plain", "tailed"), "rings")
    assert data.ids[0] == "g0"
    assert data.preprocessing is not None
    assert data.usual_splits[0] == "0"


def test_a_column_of_parts_is_a_split(tmp_path):
    data = opened(str(written(tmp_path / "rings", split=True)), DataChoice(), Machine())
    assert data.usual_splits == ("public",)
    assert data.resolve("public").sizes == (8, 8, 4)


def test_a_label_of_no_graph_is_named(tmp_path):
    folder = written(tmp_path / "rings")
    with (folder / "graphs.csv").open("a") as file:
        file.write("g99,plain\n")
    with pytest.raises(BadGraph, match=r"graphs.csv names graph 'g99', but no folder of that name"):
        opened(str(folder), DataChoice(), Machine())


def mutag():
    """The folder of MUTAG's raw files, which the wheel of grakel holds."""
    found = importlib.util.find_spec("grakel")
    if found is None or found.origin is None:
        pytest.skip("grakel is not installed, whose wheel holds the raw files of MUTAG")
    return Path(found.origin).parent / "tests" / "data" / "MUTAG"


def test_mutag_by_name_and_by_folder(tmp_path):
    shutil.copytree(mutag(), tmp_path / "TUDataset" / "MUTAG" / "raw")
    data = load("mutag", tmp_path)
    assert (len(data), data.num_nodes, data.num_edges, data.num_features) == (188, 3371, 7442, 7)
    assert Counter(data.y.tolist()) == {0: 63, 1: 125}
    again = opened(str(mutag()), DataChoice(), Machine())
    assert again.checksum == data.checksum
    assert not (mutag() / "processed").exists()


def codes(data, split="0"):
    return {(one.level, one.code) for one in look_over(data, DataChoice(split))}


def test_the_doctor_looks_at_sets_of_graphs():
    found = codes(many())
    assert ("warn", "same-graph-in-test") in found
    assert ("info", "classes") in found
    assert ("error", "unlabelled") in codes(WholeGraphs.of([triangle(None)] * 3))
    sizes = [{"x": np.ones((n, 1)), "edges": [[0], [1]], "y": float(n) / 3} for n in range(2, 40)]
    assert {("warn", "size-tells"), ("warn", "directed"), ("info", "numbers")} <= codes(WholeGraphs.of(sizes))
    alike = [triangle(0), *(triangle(1) for _ in range(19))]
    told = codes(WholeGraphs.of(alike))
    assert ("warn", "imbalance") in told
    assert any(code.startswith("missing-in-") for _, code in told)


def test_the_doctor_finds_graphs_that_are_the_same_but_for_the_numbers_of_their_nodes():
    rng = np.random.default_rng(0)
    colours = [np.eye(2, dtype=np.float32)[list(word)] for word in product((0, 1), repeat=4)]
    path = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    graphs = []
    for x in colours:
        order = rng.permutation(4)
        moved = np.empty_like(x)
        moved[order] = x
        graphs.append({"x": moved, "edges": order[path], "y": int(x[0, 0])})
    from sanegnn.data.wholedoctor import alike

    turned = {min(word, word[::-1]) for word in product((0, 1), repeat=4)}
    assert len(set(alike(WholeGraphs.of(graphs)).tolist())) == len(turned)
