"""Many graphs from folders of tables."""

import shutil

import numpy as np
import pytest

from sanegnn.data.graphset import GraphSet
from sanegnn.data.opening import opened
from sanegnn.errors import BadGraph, BadSplit
from sanegnn.settings import DataChoice, Machine, Tables


def write(folder, seed, colours="red green", nodes=12):
    """A graph of people with an age and a colour, whose class is said for all but one."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    words = colours.split()
    rows = [
        f"p{node},{rng.integers(20, 60)}.5,{words[rng.integers(len(words))]},{'yes' if node % 2 else 'no'}"
        for node in range(nodes - 1)
    ]
    rows.append(f"p{nodes - 1},30.5,{words[0]},")
    (folder / "nodes.csv").write_text("\n".join(["id,age,colour,label", *rows]))
    ends = [f"p{node},p{(node + 1) % nodes}" for node in range(nodes)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *ends]))


@pytest.fixture
def towns(tmp_path):
    for place, name in enumerate(("a", "b", "c", "d", "e", "f")):
        write(tmp_path / "towns" / name, place, nodes=12 + place)
    return tmp_path / "towns"


@pytest.fixture
def parts(tmp_path):
    for place, name in enumerate(("train/a", "train/b", "valid/c", "test/d")):
        write(tmp_path / "parts" / name, place, "red green blue" if name == "test/d" else "red green")
    return tmp_path / "parts"


def read(folder, split=None):
    return opened(Tables(graphs=str(folder), label="label"), DataChoice(split), Machine())


def test_every_folder_is_a_graph(towns):
    data = read(towns)
    assert isinstance(data, GraphSet)
    assert [one.name for one in data.graphs] == ["a", "b", "c", "d", "e", "f"]
    assert [one.num_nodes for one in data.graphs] == [12, 13, 14, 15, 16, 17]
    assert data.classes == ("no", "yes")
    assert data.graphs[2].y[-1] == -1
    assert data.graphs[0].ids[3] == "p3"
    assert data.usual_splits[0] == "0"


def test_columns_are_fitted_on_the_training_graphs_alone(towns):
    data = read(towns, "1")
    fitted = data.graphs[0].source.preprocessing
    assert all(one.source.preprocessing == fitted for one in data.graphs)
    split = data.resolve("1")
    ages = np.concatenate([data.graphs[place].x[:, 0] for place in split.train])
    assert ages.mean() == pytest.approx(0, abs=1e-5)
    held = np.concatenate([data.graphs[place].x[:, 0] for place in split.test])
    assert abs(held.mean()) > 1e-3


def test_folders_named_after_parts_are_the_split(parts):
    data = read(parts)
    split = data.resolve("public")
    assert [data.graphs[place].name for place in split.train] == ["train/a", "train/b"]
    assert [data.graphs[place].name for place in split.val] == ["valid/c"]
    assert [data.graphs[place].name for place in split.test] == ["test/d"]
    assert data.usual_splits == ("public",)


def test_a_word_of_the_test_part_does_not_make_a_feature(parts):
    names = read(parts).graphs[0].source.preprocessing.names
    assert not [name for name in names if "blue" in name]


def test_a_seed_may_mix_what_the_folders_part(parts):
    assert read(parts, "0").resolve("0").name == "60/20/20 seed 0"


def test_a_split_that_is_not_there_is_told(towns):
    with pytest.raises(BadSplit, match="no split 'public'; its own are none"):
        read(towns, "public")


def test_a_folder_without_graphs_is_told(tmp_path):
    (tmp_path / "empty" / "sub").mkdir(parents=True)
    with pytest.raises(BadGraph, match="holds no folder with a file nodes"):
        read(tmp_path / "empty")
    with pytest.raises(BadGraph, match="is a folder, but holds no graphs"):
        opened(str(tmp_path / "empty"), DataChoice(), Machine())


def test_a_class_that_training_lacks_is_told(parts):
    nodes = parts / "test" / "d" / "nodes.csv"
    nodes.write_text(nodes.read_text().replace(",yes", ",maybe"))
    with pytest.raises(BadGraph, match="test/d: 1 label that no training graph has, such as 'maybe'"):
        read(parts)


def test_a_folder_that_is_no_part_is_told(parts):
    write(parts / "rest" / "e", 9)
    with pytest.raises(BadGraph, match="rest holds graphs, but is none of train, val, test"):
        read(parts)


def test_an_empty_part_is_told(parts):
    shutil.rmtree(parts / "valid")
    with pytest.raises(BadSplit, match="val is empty"):
        read(parts)
