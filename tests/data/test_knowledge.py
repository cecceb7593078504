from pathlib import Path

import numpy as np
import pytest

from sanegnn.data.benchmarks import load
from sanegnn.data.generate import translated_pair
from sanegnn.data.knowledge import functionality, link_split, weighted_edges
from sanegnn.data.knowledge_doctor import examine_pair
from sanegnn.data.knowledge_files import is_pair, read_pair
from sanegnn.data.opening import opened
from sanegnn.errors import BadGraph, BadSplit
from sanegnn.settings import DataChoice, Machine

FILES = {
    "ent_ids_1": "0\tzh/a\n1\tzh/b\n2\tzh/c\n",
    "ent_ids_2": "3\ten/a\n4\ten/b\n5\ten/c\n",
    "triples_1": "0\t7\t1\n1\t7\t2\n",
    "triples_2": "3\t9\t4\n4\t9\t5\n3\t9\t4\n",
    "ref_ent_ids": "0\t3\n1\t4\n2\t5\n",
    "training_attrs_1": "zh/a\tname\tborn\nzh/b\tname\nzh/unknown\tname\n",
    "training_attrs_2": "en/a\tname\ten/died\n",
}


def folder(tmp_path: Path, **changed: str | None) -> Path:
    for name, text in {**FILES, **changed}.items():
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_folder_is_read_by_place(tmp_path):
    pair = read_pair(folder(tmp_path), "small")
    assert pair.entities.tolist() == ["zh/a", "zh/b", "zh/c", "en/a", "en/b", "en/c"]
    assert pair.triples.tolist() == [[0, 1, 3, 4], [0, 0, 1, 1], [1, 2, 4, 5]]
    assert pair.relations.tolist() == [7, 9]
    assert pair.links.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert pair.attribute_names[0] == "name"
    assert pair.attributes.toarray()[:, 0].tolist() == [1, 1, 0, 1, 0, 0]
    assert pair.notes == ("1 repeated triple dropped", "attributes of 1 unknown entities left out")


def test_graphs_may_number_their_entities_alike(tmp_path):
    texts = {"ent_ids_2": "0\ten/a\n1\ten/b\n", "triples_2": "0\t9\t1\n", "ref_ent_ids": "0\t0\n2\t1\n"}
    pair = read_pair(folder(tmp_path, **texts))
    assert pair.links.tolist() == [[0, 2], [3, 4]]
    assert pair.triples[:, -1].tolist() == [3, 1, 4]


def test_links_may_be_parted_and_attributes_missing(tmp_path):
    texts = {
        "ref_ent_ids": "2\t5\n",
        "sup_ent_ids": "0\t3\n",
        "training_attrs_1": None,
        "training_attrs_2": None,
    }
    pair = read_pair(folder(tmp_path, **texts))
    assert pair.links.tolist() == [[2, 0], [5, 3]]
    assert pair.attributes.shape == (6, 0)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("triples_1", None, "no file triples_1"),
        ("ref_ent_ids", None, "neither ill_ent_ids nor ref_ent_ids"),
        ("triples_1", "", "triples_1 is empty"),
        ("ent_ids_1", "", "ent_ids_1 is empty"),
        ("ent_ids_1", "0\tzh/a\n0\tzh/b\n", "line 2: entity 0 is there already"),
        ("ent_ids_1", "0\tzh/a\n1\tzh/a\n", "line 2: 'zh/a' is the entity of"),
        ("ent_ids_1", "zero\tzh/a\n", "line 1: 'zero' is not a whole number"),
        ("triples_1", "0\t7\t1\n0\t7\t99\n", "triples_1, line 2: entity 99 is not in ent_ids_1"),
        ("triples_1", "0\t7\t3\n", "line 1: entity 3 is not in ent_ids_1"),
        ("triples_2", "3\t9\n", "triples_2, line 1: 2 columns, but it must have 3"),
        ("triples_2", "3\tx\t4\n", "line 1: 'x' is not a whole number"),
        ("ref_ent_ids", "0\t3\n0\t3\n", "line 2: entity 0 is linked already, in"),
        ("ref_ent_ids", "0\t3\n1\t3\n", "line 2: entity 3 is linked already, in"),
        ("ref_ent_ids", "3\t0\n", "ref_ent_ids, line 1: entity 3 is not in ent_ids_1"),
    ],
)
def test_what_does_not_fit_is_named_with_file_and_line(tmp_path, file, text, said):
    with pytest.raises(BadGraph, match=said) as error:
        read_pair(folder(tmp_path, **{file: text}))
    assert str(tmp_path) in str(error.value)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (folder(tmp_path) / "triples_1").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadGraph, match="not UTF-8"):
        read_pair(tmp_path)


def test_a_folder_of_something_else_is_no_pair(tmp_path):
    assert not is_pair(tmp_path)
    assert is_pair(folder(tmp_path))


def test_the_checksum_tells_links_and_triples_apart(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    pair = read_pair(folder(tmp_path / "one"), "a")
    again = read_pair(folder(tmp_path / "one"), "b")
    other = read_pair(folder(tmp_path / "two", ref_ent_ids="0\t4\n1\t3\n2\t5\n"), "a")
    assert pair.checksum == again.checksum != other.checksum


def test_functionality_by_hand():
    # r0: (0,1) (0,2) (3,2), two heads and two tails of three; r1: (1,2); r2 has no triple; r3: (4,0) (5,0)
    triples = np.array([[0, 0, 3, 1, 4, 5], [0, 0, 0, 1, 3, 3], [1, 2, 2, 2, 0, 0]])
    fun, ifun = functionality(triples)
    assert fun.tolist() == pytest.approx([2 / 3, 1, 0, 1])
    assert ifun.tolist() == pytest.approx([2 / 3, 1, 0, 1 / 2])


def test_a_head_hears_of_its_tail_by_inverse_functionality():
    triples = np.array([[4, 5, 4], [0, 0, 1], [0, 0, 0]])  # r0: fun 1, ifun 1/2; r1: both 1
    edges, weight = weighted_edges(triples)
    found = dict(zip(zip(*edges.tolist(), strict=True), weight.tolist(), strict=True))
    assert found == {
        (0, 4): pytest.approx(0.5**0.5 + 1),
        (0, 5): pytest.approx(0.5**0.5),
        (4, 0): pytest.approx(1 + 1),
        (5, 0): pytest.approx(1),
    }


def test_a_triple_of_an_entity_with_itself_sends_nothing():
    edges, weight = weighted_edges(np.array([[0, 0], [0, 0], [0, 1]]))
    assert sorted(zip(*edges.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert len(weight) == 2


def test_a_seed_splits_the_links_by_30_10_60():
    pair = translated_pair(0, entities=50)
    one, other = link_split(pair, "0"), link_split(pair, "1")
    assert one.sizes == (15, 5, 30)
    assert sorted(np.concatenate([one.train, one.val, one.test]).tolist()) == list(range(50))
    assert one.train.tolist() == link_split(pair, "0").train.tolist() != other.train.tolist()


def test_a_split_that_cannot_be_is_refused():
    pair = translated_pair(0, entities=9, triples=20)
    with pytest.raises(BadSplit, match="9 links; a 30/10/60 split needs 10"):
        link_split(pair, "0")
    with pytest.raises(BadSplit, match="no split 'public'"):
        link_split(pair, "public")


def test_the_doctor_names_entities_without_triples():
    pair = translated_pair(0, entities=40, triples=30)
    found = {finding.code: finding for finding in examine_pair(pair, link_split(pair, "0"))}
    silent = set(range(80)) - set(pair.triples[[0, 2]].ravel().tolist())
    assert found["no-triples"].level == "warn"
    assert f"{len(silent)} of 80" in found["no-triples"].sentence
    assert found["few-links"].level == "warn"
    assert "no-attributes" in found


def test_the_doctor_is_content_with_a_sound_pair():
    pair = translated_pair(0, entities=400, triples=3000, attributes=30)
    levels = {finding.level for finding in examine_pair(pair, link_split(pair, "0"))}
    assert levels == {"info"}


def test_a_translation_has_the_same_triples_and_attributes():
    pair = translated_pair(3, entities=30, triples=90, attributes=12)
    moved = dict(pair.links.T.tolist())
    first, second = (
        pair.triples[:, pair.triples[0] < 30].T.tolist(),
        pair.triples[:, pair.triples[0] >= 30].T.tolist(),
    )
    assert {(moved[h], r + 6, moved[t]) for h, r, t in first} == {tuple(triple) for triple in second}
    held = pair.attributes.toarray()
    assert np.array_equal(held[pair.links[0]], held[pair.links[1]])
    assert (held.sum(1) == 5).all()


def test_dbp15k_is_read_from_the_data_root(tmp_path):
    (tmp_path / "DBP15K" / "ja_en").mkdir(parents=True)
    folder(tmp_path / "DBP15K" / "ja_en")
    pair = load("dbp15k-ja-en", tmp_path)
    assert (pair.name, pair.task, pair.metric, pair.num_links) == ("dbp15k-ja-en", "alignment", "hits@1", 3)
    with pytest.raises(BadGraph, match=r"dbp15k-zh-en is not in .*zh_en: put the files"):
        load("dbp15k-zh-en", tmp_path)


def test_a_command_takes_a_folder_by_its_path(tmp_path):
    opened_pair = opened(str(folder(tmp_path)), DataChoice(), Machine())
    assert opened_pair.num_links == 3
    assert opened(opened_pair, DataChoice(undirected=True), Machine()) is opened_pair
