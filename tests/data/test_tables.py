"""Graphs from tables: all formats alike, what columns are taken for, and every bad input by its place."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import citations as made
from sanegnn.data.prepare import Preprocessing
from sanegnn.data.tables import of, read
from sanegnn.errors import BadGraph, SaneError
from sanegnn.settings import Tables

NODES, EDGES = made.papers(), made.citations()
GRAPH = read(NODES, EDGES, label="topic")


def column(name, data=GRAPH):
    return next(one for one in data.source.preprocessing.columns if one.name == name)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "feather"])
def test_every_file_gives_the_same_graph(ending, tmp_path):
    nodes = made.write(NODES, tmp_path / f"nodes.{ending}")
    edges = made.write(EDGES, tmp_path / f"edges.{ending}")
    found = of(Tables(nodes=(str(nodes),), edges=(str(edges),), label="topic"))
    assert found.checksum == GRAPH.checksum
    assert found.name == "nodes"
    assert found.ids.tolist() == NODES["paper_id"].to_pylist()


@pytest.mark.parametrize(
    "frame", [pa.Table.to_pandas, pl.from_arrow, lambda table: pl.from_arrow(table).lazy()]
)
def test_every_frame_gives_the_same_graph(frame):
    assert read(frame(NODES), frame(EDGES), label="topic").checksum == GRAPH.checksum


def test_tables_may_come_in_parts(tmp_path):
    parts = [made.write(NODES.slice(first, 30), tmp_path / f"n{first}.csv") for first in (0, 30)]
    ends = [EDGES.slice(0, 100), EDGES.slice(100)]
    assert read(parts, ends, label="topic").checksum == GRAPH.checksum


def test_columns_are_typed_by_looking():
    kinds = {one.name: one.kind for one in GRAPH.source.preprocessing.columns}
    assert kinds == {
        "title": "text", "year": "number", "pages": "number", "venue": "category", "open": "boolean",
        "printed": "date", "embedding": "vector",
    }  # fmt: skip
    others = dict(GRAPH.source.preprocessing.others)
    assert others == {"paper_id": "id", "part": "split", "topic": "label"}
    assert len(GRAPH.source.preprocessing.names) == GRAPH.num_features


def test_what_columns_are_can_be_said():
    found = read(NODES, EDGES, label="topic", kinds=("year=category", "title=category"), ignore=("pages",))
    assert column("year", found).kind == column("title", found).kind == "category"
    assert dict(found.source.preprocessing.others)["pages"] == "ignored"
    only = read(NODES, EDGES, label="topic", features=("year",))
    assert [one.name for one in only.source.preprocessing.columns] == ["year"]


def test_missing_values_and_labels_are_counted_and_kept():
    assert "6 missing values in column 'year'" in GRAPH.notes
    assert "6 nodes without a label" in GRAPH.notes
    assert GRAPH.num_nodes == 60
    assert int((GRAPH.y < 0).sum()) == 6
    place = GRAPH.source.preprocessing.names.index("year missing")
    x = GRAPH.x if isinstance(GRAPH.x, np.ndarray) else GRAPH.x.toarray()
    assert x[:, place].sum() == 6
    years = x[:, GRAPH.source.preprocessing.names.index("year")]
    assert abs(years.mean()) < 1e-6
    assert (years[x[:, place] == 1] == 0).all()


def test_a_split_column_is_a_split():
    split = GRAPH.splits["part"]
    assert sum(split.sizes) == 54
    words = np.array(NODES["part"].to_pylist())
    assert set(words[split.test]) == {"test"}


def test_the_preprocessing_is_a_value_that_json_keeps():
    fitted = GRAPH.source.preprocessing
    again = Preprocessing.of(json.loads(json.dumps(fitted.table())))
    assert again == fitted
    assert hash(again.columns) == hash(fitted.columns)
    found = read(NODES, EDGES, preprocessing=again)
    assert (found.x != GRAPH.x).sum() == 0
    assert (found.y == GRAPH.y).all()


def test_new_tables_are_read_by_the_old_constants():
    fitted = GRAPH.source.preprocessing
    few = NODES.slice(10, 20)
    names = few["paper_id"].to_pylist()
    ends = zip(EDGES["citing"].to_pylist(), EDGES["cited"].to_pylist(), strict=True)
    inside = EDGES.filter(pa.array([a in names and b in names for a, b in ends]))
    assert (read(few, inside, preprocessing=fitted).x != GRAPH.x[10:30]).sum() == 0


def test_a_new_category_and_a_missing_column_are_zeros_with_a_note():
    venue = ["somewhere new", *NODES["venue"].to_pylist()[1:]]
    changed = NODES.drop_columns(["pages"]).set_column(4 - 1, "venue", pa.array(venue))
    found = read(changed, EDGES, preprocessing=GRAPH.source.preprocessing)
    names = GRAPH.source.preprocessing.names
    dense = found.x if isinstance(found.x, np.ndarray) else found.x.toarray()
    venues = [place for place, name in enumerate(names) if name.startswith("venue = ")]
    assert not dense[0, venues].any()
    assert not dense[:, names.index("pages")].any()
    assert "1 cell of column 'venue' in none of its categories" in found.notes
    assert any("no column 'pages'" in note for note in found.notes)


def test_weights_and_directions():
    weighted = read(NODES, made.citations(weight=True), label="topic")
    assert weighted.weight is not None
    assert weighted.directed
    assert not weighted.undirected().directed


def test_an_edge_list_alone(tmp_path):
    (tmp_path / "web.edges").write_text("# a comment\n3 1\n1 2\n\n2 10 % more\n")
    found = read(None, tmp_path / "web.edges")
    assert found.ids.tolist() == ["1", "2", "3", "10"]
    assert found.edges.tolist() == [[0, 1, 2], [1, 3, 0]]


def test_numbers_as_ids_are_the_same_in_every_type():
    nodes = pa.table({"id": [3.0, 1.0, 2.0], "x": [0.1, 0.2, 0.4]})
    found = read(nodes, pa.table({"a": ["1", "2"], "b": ["2", "3"]}))
    assert found.edges.tolist() == [[1, 2], [2, 0]]
    assert read(nodes, pa.table({"a": [1, 2], "b": [2, 3]})).checksum == found.checksum


def test_headerless_edges_other_delimiters_and_utf_16(tmp_path):
    (tmp_path / "e.csv").write_text("1,2\n2,3\n")
    (tmp_path / "n.csv").write_text("id;größe\n1;4\n2;5,5\n3;6\n".replace("5,5", "5.5"), encoding="utf-16")
    found = read(tmp_path / "n.csv", tmp_path / "e.csv")
    assert found.num_edges == 2
    assert column("größe", found).kind == "number"
    (tmp_path / "n.csv").write_text("id,größe\n1,4\n2,5.5\n3,6\n", encoding="latin-1")
    assert read(tmp_path / "n.csv", tmp_path / "e.csv", encoding="latin-1").checksum == found.checksum


def test_networkx_graphs():
    graph = nx.karate_club_graph()
    found = read(graph, label="club")
    assert found.classes == ("Mr. Hi", "Officer")
    assert (found.num_nodes, found.num_edges) == (34, 156)
    assert not found.directed
    assert found.weight is not None


BAD = {
    "unknown id": ("id,x\n1,2\n2,3\n", "source,target\n1,2\n2,9\n", {}, r"e.csv, line 3, column 'target': .*'9'"),  # noqa: E501
    "id twice": ("id,x\n1,2\n1,3\n", "1,1\n", {}, r"n.csv, line 3, column 'id': the id '1' .* n.csv, line 2"),
    "no id": ("id,x\n1,2\n,3\n", "1,1\n", {}, r"n.csv, line 3, column 'id': no id"),
    "no end": ("id,x\n1,2\n2,3\n", "a,b\n1,2\n2,\n", {}, r"e.csv, line 3, column 'b': no id"),
    "mixed": (
        "id,x\n" + "".join(f"{i},{i}.5\n" for i in range(30)) + "30,abc\n", "1,2\n", {},
        r"n.csv, line 32, column 'x': 'abc' is not a number, as 30 other cells",
    ),
    "said to be numbers": ("id,x\n1,a\n2,b\n", "1,2\n", {"kinds": ("x=number",)}, r"line 2, column 'x': 'a' is not a n"),  # noqa: E501
    "infinite": ("id,x\n1,inf\n2,3.5\n", "1,2\n", {}, r"n.csv, line 2, column 'x': 'inf' is not finite"),
    "ragged": ("id,x\n1,2\n2,3,4\n", "1,2\n", {}, r"n.csv, line 3, column 3: the line has 3 cells"),
    "after a quoted newline": ('id,t\n1,"a\nb"\n1,c\n', "1,1\n", {}, r"n.csv, line 4, column 'id'"),
    "label not there": ("id,topic\n1,a\n", "1,1\n", {"label": "topics"}, r"did you mean 'topic'"),
    "a score as label": ("id,y\n1,0.5\n2,1\n", "1,2\n", {"label": "y"}, r"n.csv, line 2, column 'y': 0.5 is no class"),  # noqa: E501
    "weight": ("id\n1\n2\n", "s,t,weight\n1,2,-3\n", {}, r"e.csv, line 2, column 'weight': the weight -3"),
    "weight of words": ("id\n1\n2\n", "s,t,weight\n1,2,x\n", {}, r"e.csv, line 2, column 'weight': 'x' is not a n"),  # noqa: E501
    "one column": ("id,x\n1,2\n", "a\n1\n", {}, r"e.csv, line 1, column 1: an edge needs two"),
    "empty": ("", "1,2\n", {}, r"n.csv is empty"),
    "two of a name": ("id,x,x\n1,2,3\n", "1,1\n", {}, r"n.csv, line 1, column 'x': two columns"),
    "split": (
        "id,fold\n1,train\n2,held\n", "1,2\n", {"kinds": ("fold=split",)}, r"n.csv, line 3, column 'fold': 'held' is not"  # noqa: E501
    ),
    "kind": ("id,x\n1,2\n", "1,1\n", {"kinds": ("x=numbr",)}, r"no kind of column named 'numbr'; did you mean 'number'"),  # noqa: E501
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_by_file_line_and_column(case, tmp_path):
    nodes, edges, options, words = BAD[case]
    (tmp_path / "n.csv").write_text(nodes)
    (tmp_path / "e.csv").write_text(edges)
    with pytest.raises(SaneError, match=words) as caught:
        read(tmp_path / "n.csv", tmp_path / "e.csv", **options)
    assert "\n" not in str(caught.value)


def test_a_wrong_encoding_is_named_by_its_place(tmp_path):
    (tmp_path / "n.csv").write_bytes("id,city\n1,Bonn\n2,Köln\n".encode("latin-1"))
    with pytest.raises(BadGraph, match=r"n.csv, line 3, column 2: byte 0xf6 is not utf-8; .*--encoding"):
        read(tmp_path / "n.csv", EDGES)


def test_what_is_no_table_is_refused(tmp_path):
    (tmp_path / "n.parquet").write_text("no")
    with pytest.raises(BadGraph, match="is no parquet file"):
        read(tmp_path / "n.parquet", EDGES)
    with pytest.raises(BadGraph, match=r"ends in \.xls"):
        read(tmp_path / "n.xls", EDGES)
    with pytest.raises(BadGraph, match="cannot read"):
        read(tmp_path / "none.csv", EDGES)
    with pytest.raises(BadGraph, match="cannot read a table of nodes from int"):
        read(3, EDGES)
    with pytest.raises(BadGraph, match="no table of edges"):
        read(NODES)
    with pytest.raises(BadGraph, match="mixed types"):
        read(pd.DataFrame({"id": [1, 2], "x": [1, "a"]}), EDGES)
