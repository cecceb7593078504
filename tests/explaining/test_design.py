"""What an operation of a design is worth: runner-ups from records, losses from fresh trainings."""

import math

import pytest

import sanegnn
from sanegnn.data.generate import planted_partition
from sanegnn.errors import BadGraph, BadSetting
from sanegnn.explaining.design import Replaced, paired, runner_ups
from sanegnn.records import Candidate, Derived, Done, Epoch, Trial
from sanegnn.runs import Run
from sanegnn.settings import DataChoice, Machine, Repeats, Search, Seed, Setting, Training
from sanegnn.space import Architecture, space

DATA = planted_partition(2, nodes=80, features=6)
WINNER = "gcn,gat | skip,zero | max"


def begun(root, winner=WINNER, name="one", **settings):
    """A run that found the winner, so far without a word about other architectures."""
    groups = {
        "search": Search("paper", "paper", 2),
        "data": DataChoice("0"),
        "training": Training(4),
        "seed": Seed(),
    }
    about = {"command": "search", "dataset": DATA.name, "data": DATA.checksum}
    run = Run.open(root, name, {**groups, **settings}, about)
    result = {"architecture": winner, "setting": Setting(hidden=8, heads=1).table(), "metric": "accuracy"}
    run.append(Done(result))
    return run


def changes(run, winner=WINNER, named="paper"):
    found = runner_ups(run, space(named, 2), Architecture.parse(winner))
    return {slot: (op, other, because, str(new)) for (slot, op, other, because), new in found}


def test_the_runner_up_has_the_next_largest_alpha(tmp_path):
    searched = space("paper", 2)
    alphas = {slot.key: [0.0] * len(slot.choices) for slot in searched.slots}
    choice = searched.encode(Architecture.parse(WINNER))
    for slot in searched.slots:
        alphas[slot.key][choice[slot.key]] = 0.5
        alphas[slot.key][(choice[slot.key] + 1) % len(slot.choices)] = 0.3
    with begun(tmp_path) as run:
        run.append(Derived("paper", 1, 0, WINNER, 0.5, 1.0))
        with run.journal("search/restart-1.jsonl") as kept:
            kept.append(Epoch(1, 1, 1.0, 1.0, 0.5, {key: row[::-1] for key, row in alphas.items()}))
            kept.append(Epoch(1, 2, 1.0, 1.0, 0.5, alphas))
        found = changes(run)
    assert set(found) == {slot.key for slot in searched.slots}
    for slot in searched.slots:
        names = slot.choices
        held = choice[slot.key]
        assert found[slot.key][:3] == (names[held], names[(held + 1) % len(names)], "next by alpha")
    assert found["skip.1"][3] == "gcn,gat | skip,skip | max"


def test_without_alphas_the_best_other_candidate_says(tmp_path):
    def candidate(number, text, score):
        return Candidate(0, number, text, 0, score, 4, 4, 1.0, 1.0, 10, "")

    with begun(tmp_path) as run:
        run.append(Trial("gin,gat | skip,skip | max", 0, {}, 0.7, 4, 1.0, False))
        run.append(Trial("gcn,gcn,gcn", 0, {}, 0.99, 4, 1.0, False))
        with run.journal("search/restart-0.jsonl") as kept:
            kept.append(candidate(0, "sage_sum,gat | skip,zero | lstm", 0.8))
            kept.append(candidate(1, "gat,gin | skip,zero | lstm", math.nan))
        found = changes(run)
    assert found["node.0"] == (
        "gcn", "sage_sum", "in sage_sum,gat | skip,zero | lstm", "sage_sum,gat | skip,zero | max"
    )  # fmt: skip
    assert found["skip.1"][1:3] == ("skip", "in gin,gat | skip,skip | max")
    assert set(found) == {"node.0", "skip.1", "layer.0"}


def test_a_plain_winner_is_replaced_among_plain_stacks(tmp_path):
    with begun(tmp_path, "gcn,gcn") as run:
        run.append(Trial("gat,gat", 0, {}, 0.7, 4, 1.0, False))
        assert changes(run, "gcn,gcn", "plain")["node.1"][3] == "gcn,gat"


def test_every_change_is_trained_on_the_same_seeds(tmp_path):
    with begun(tmp_path, "gcn,gin") as run:
        run.append(Trial("gat,gcn", 0, {}, 0.7, 4, 1.0, False))
    told = []
    found = sanegnn.explain(
        tmp_path / "one", DATA, repeats=Repeats(2), machine=Machine(workers=1), on_event=told.append
    )
    again = sanegnn.explain(tmp_path / "one" / "model", DATA, repeats=Repeats(2), machine=Machine(workers=1))
    assert found == again
    assert [row.slot for row in found.rows] == ["node.0", "node.1"]
    assert (found.repeats, found.metric, found.architecture) == (2, "accuracy", "gcn,gin")
    assert 0 < found.validation <= 1
    assert len(told) == 1 + 3 * 2
    assert found.table()["rows"][0]["words"] == found.rows[0].words


def test_paired_by_hand():
    assert paired([0.5, 0.7], [0.4, 0.4]) == (pytest.approx(0.2), pytest.approx(0.1))
    assert paired([0.5], [0.4])[1] == math.inf


def test_words_claim_no_more_than_was_measured():
    said = [
        Replaced("node.0", "gat", "gin", "", *pair).words for pair in ((0.1, 0.04), (0.1, 0.06), (-0.1, 0.01))
    ]
    assert said == ["worse without", "no difference measured", "better without"]


def test_what_cannot_be_explained_is_refused(tmp_path):
    begun(tmp_path).close()
    with pytest.raises(BadGraph, match="its checksum differs"):
        sanegnn.explain(tmp_path / "one", planted_partition(1, nodes=50), machine=Machine(workers=1))
    about = {"command": "train", "dataset": DATA.name, "data": DATA.checksum}
    with Run.open(tmp_path, "two", {"data": DataChoice()}, about) as run:
        pass
    with pytest.raises(BadSetting, match="has no result yet"):
        sanegnn.explain(tmp_path / "two")
    with Run.open(tmp_path, "two", {"data": DataChoice()}, about) as run:
        run.append(Done({"architecture": WINNER, "setting": {}, "metric": "accuracy"}))
    with pytest.raises(BadSetting, match="searched nothing"):
        sanegnn.explain(tmp_path / "two")
