"""Aligning two knowledge graphs from a folder, from search to matches."""

import csv
import json

import numpy as np
import pyarrow.parquet
import pytest

import sanegnn
from sanegnn import bundle
from sanegnn.aims import AlignmentKnobs
from sanegnn.cli.app import run as cli
from sanegnn.data.generate import translated_pair
from sanegnn.data.knowledge_files import read_pair
from sanegnn.journal import read
from sanegnn.records import Figures
from sanegnn.settings import Field, Machine, Race, Repeats, RunChoice, Search, Training
from sanegnn.strategies.darts import Algorithm1

ONE = Machine(workers=1)
BRIEF = Training(epochs=40, patience=40)


def written(pair, folder, linked):
    """The pair in GCN-Align's layout, the first `linked` links alone."""
    first, folder = pair.first, folder / "pair"
    folder.mkdir()
    numbered = [f"{place}\t{name}" for place, name in enumerate(pair.entities)]
    inside = pair.triples[0] < first
    files = {
        "ent_ids_1": numbered[:first],
        "ent_ids_2": numbered[first:],
        "triples_1": ["\t".join(map(str, triple)) for triple in pair.triples.T[inside]],
        "triples_2": ["\t".join(map(str, triple)) for triple in pair.triples.T[~inside]],
        "ref_ent_ids": ["\t".join(map(str, link)) for link in pair.links.T[:linked]],
    }
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    """A net trained on a pair of which twenty entities are not linked."""
    where = tmp_path_factory.mktemp("align")
    pair = translated_pair(0, entities=150, triples=900)
    folder = written(pair, where, 130)
    run = RunChoice(str(where / "runs"), "trained")
    result = sanegnn.train(str(folder), "gcn,gcn", repeats=Repeats(2), training=BRIEF, run=run, machine=ONE)
    return pair, folder, where / "runs" / "trained", result


def test_a_folder_of_two_graphs_is_a_task_of_its_own(aligned):
    pair, folder, _, result = aligned
    assert read_pair(folder).triples.shape == pair.triples.shape
    assert result.metric == "hits@1"
    assert result.setting["scaling"] == "raw"
    assert result.setting["dropout"] == 0
    assert np.mean(result.tests) > 0.5


def test_the_records_tell_every_figure_in_both_directions(aligned):
    told = [one.figures for one in read(aligned[2] / "records.jsonl") if isinstance(one, Figures)]
    assert len(told) == 2
    for one, score in zip(told, aligned[3].tests, strict=True):
        assert (one["1→2 hits@1"] + one["2→1 hits@1"]) / 2 == pytest.approx(score)
        assert one["1→2 hits@1"] <= one["1→2 hits@10"] <= one["1→2 hits@50"]


def test_every_entity_that_is_not_linked_gets_ranked_matches(aligned, tmp_path):
    pair, _, model, _ = aligned
    assert cli(["match", str(model), "--top", "3", "-o", str(tmp_path / "matches.parquet")]) == 0
    table = pyarrow.parquet.read_table(tmp_path / "matches.parquet").to_pylist()
    truth = {str(pair.entities[a]): str(pair.entities[b]) for a, b in pair.links.T[130:]}
    assert len(table) == 2 * 20 * 3
    forth = [row for row in table if row["graph"] == 1]
    assert {row["entity"] for row in forth} == set(truth)
    assert {row["match"] for row in table if row["graph"] == 1} <= set(truth.values())
    best = {row["entity"]: row["match"] for row in forth if row["rank"] == 1}
    assert sum(best[entity] == match for entity, match in truth.items()) > 10
    for row in table:
        assert row["score"] == pytest.approx(1 / (1 + row["distance"]))
    ranks = [row["distance"] for row in forth[:3]]
    assert ranks == sorted(ranks)


def test_matches_go_to_csv_and_are_asked_of_an_alignment_alone(aligned, tmp_path, capsys):
    assert cli(["match", str(aligned[2]), "-o", str(tmp_path / "m.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entities"] == 40
    with (tmp_path / "m.csv").open(encoding="utf-8") as file:
        assert next(csv.reader(file)) == ["graph", "entity", "rank", "match", "distance", "score"]
    assert cli(["predict", str(aligned[2]), "digits"]) == 2
    assert "sanegnn match" in capsys.readouterr().err
    assert cli(["match", str(aligned[2]), "--top", "0"]) == 2


def test_a_model_of_matches_is_read_again(aligned):
    loaded = bundle.load(aligned[2])
    assert loaded.first == 20
    assert loaded.about["metric"] == "hits@1"
    assert loaded.table(1).num_rows == 40


def test_fit_searches_the_space_of_the_task(tmp_path):
    pair = translated_pair(1, entities=80, triples=480)
    found = sanegnn.search(
        pair,
        search=Search(restarts=1),
        knobs={"paper": Algorithm1(epochs=3, hidden=8)},
        training=Training(epochs=5, patience=5),
        run=RunChoice(str(tmp_path)),
        machine=ONE,
    )
    assert found.architecture.count(",") == 1
    assert "|" not in found.architecture


def test_rivals_are_laid_side_by_side(tmp_path):
    pair = translated_pair(2, entities=80, triples=480)
    board = sanegnn.compare(
        pair,
        field=Field(("gcn-align-se",), ("0",)),
        race=Race(repeats=2),
        knobs={"alignment": AlignmentKnobs(negatives=3)},
        training=BRIEF,
        run=RunChoice(str(tmp_path)),
        machine=ONE,
    )
    (row,) = board.rows
    assert row.contender == "gcn-align-se"
    assert row.test > 0.5
