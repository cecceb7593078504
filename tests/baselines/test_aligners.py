from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from sanegnn.aims import STARTS
from sanegnn.baselines import GcnAlign, Jape, contenders
from sanegnn.baselines.attributes import Pairs, SkipGram, alike, attribute_vectors, entity_vectors
from sanegnn.baselines.contender import Lane
from sanegnn.baselines.gcnalign import GcnAlignNet
from sanegnn.baselines.jape import JapeKnobs, JapeNet, Likeness, corrupted, pointed_to, rows_to_one
from sanegnn.baselines.names import contender, field
from sanegnn.data.generate import translated_pair
from sanegnn.errors import BadSetting
from sanegnn.seeds import generator
from sanegnn.settings import Race, Training
from sanegnn.strategies.darts import Algorithm1
from sanegnn.tasks import AlignmentTask
from sanegnn.testing.examples import example_task
from sanegnn.training import evaluate
from sanegnn.training.select import Bench
from sanegnn.work import InOrder

ALIGNERS = ("jape", "gcn-align-se", "gcn-align")
QUICK = {"jape": JapeKnobs(epochs=4, look=2, batch=200, most=5, steps=20, pairs=50)}


def task(entities=60, triples=300, kept=1.0, attributes=12, seed=0):
    return AlignmentTask.of(translated_pair(seed, entities, triples, 6, kept, attributes))


def lane(folder, whole, epochs=4, **changes):
    bench = Bench(whole.without_test(), InOrder(), Training(epochs=epochs), 0)
    return Lane(bench, folder, **{"repeats": 2, **changes})


def entrant(name, knobs=None):
    return contenders[name](knobs or QUICK.get(name) or contenders[name].knobs())


def raced(one, contender):
    race = list(contender.race(one))
    laps = [*race, *contender.finish(one, race[-1])]
    return laps, list(contender.nets(one, laps))


def told(laps):
    return [repr(replace(lap, seconds=0.0, clock=0.0)) for lap in laps]


@pytest.mark.parametrize("name", ALIGNERS)
def test_an_aligner_races_retrains_and_goes_on_from_its_folder(tmp_path, name):
    whole = task()
    one = lane(tmp_path / "one", whole)
    one.folder.mkdir()
    laps, nets = raced(one, entrant(name))
    assert [lap.phase for lap in laps] == ["tune", "retrain", "retrain"]
    assert len({lap.seed for lap in laps}) == 3
    again, same = raced(one, entrant(name))
    assert again == laps
    elsewhere = lane(tmp_path / "two", whole)
    elsewhere.folder.mkdir()
    assert told(raced(elsewhere, entrant(name))[0]) == told(laps)
    ready = whole.ready("raw", "cpu")
    for lap, net, kept in zip(laps, nets, same, strict=True):
        assert evaluate(net.net, ready, "val")[0] == pytest.approx(lap.validation)
        assert evaluate(net.net, ready, "test") == evaluate(kept.net, ready, "test")


@pytest.mark.parametrize("name", ALIGNERS)
def test_a_net_whose_weights_are_gone_is_trained_again(tmp_path, name):
    whole = task()
    one = lane(tmp_path, whole)
    laps, nets = raced(one, entrant(name))
    for file in (tmp_path / "nets").iterdir():
        file.unlink()
    ready = whole.ready("raw", "cpu")
    for net, again in zip(nets, entrant(name).nets(one, laps), strict=True):
        assert evaluate(net.net, ready, "test") == evaluate(again.net, ready, "test")


def test_an_aligner_refuses_another_task(tmp_path):
    bench = Bench(example_task().without_test(), InOrder(), Training(), 0)
    with pytest.raises(BadSetting, match="no pair of knowledge graphs"):
        list(entrant("gcn-align").race(Lane(bench, tmp_path)))


def found(whole, contender, epochs=60):
    sealed = whole.without_test()
    ready = sealed.ready("raw", "cpu")
    net = contender.net(sealed, ready, 1)
    contender.learn(net, sealed, ready, Training(epochs=epochs, patience=epochs), 2)
    return evaluate(net, whole.ready("raw", "cpu"), "test")[0]


def test_a_permuted_copy_is_aligned_by_structure_alone():
    whole = task(entities=200, triples=1200, attributes=0)
    assert found(whole, entrant("gcn-align-se")) > 0.85


def test_attributes_help_where_the_structure_is_in_part_another():
    whole = task(entities=200, triples=800, kept=0.5, attributes=20)
    structure, both = found(whole, entrant("gcn-align-se")), found(whole, entrant("gcn-align"))
    assert both > structure + 0.08
    assert structure > 0.2


def test_jape_aligns_far_above_chance_and_better_with_attributes():
    whole = task(entities=200, triples=1200, kept=0.8, attributes=20)
    knobs = JapeKnobs(epochs=60, batch=500, most=5, steps=300, pairs=100)
    alone = found(whole, entrant("jape", knobs.but(delta=0.0)))
    refined = found(whole, entrant("jape", knobs))
    assert alone > 0.1  # chance is 1 of 140
    assert refined > alone + 0.1


def test_gcn_align_by_hand():
    whole = task(entities=12, triples=40, attributes=0)
    ready = whole.ready("raw", "cpu")
    net = GcnAlignNet(24, 3, 24, 1, 0)
    edges, weight = torch.as_tensor(whole.edges), torch.as_tensor(whole.weight)
    adjacency = torch.eye(24).index_put((edges[1], edges[0]), weight, accumulate=True)
    scale = adjacency.sum(1).rsqrt()
    mean = scale[:, None] * adjacency * scale
    table = net.table / net.table.norm(dim=1, keepdim=True)
    assert torch.allclose(net(ready.inputs), mean @ torch.relu(mean @ table), atol=1e-6)


def test_the_structure_alone_tells_nothing_of_attributes():
    whole = task()
    ready = whole.ready("raw", "cpu")
    one, both = (GcnAlignNet(ready.num_features, 4, 120, views, 0)(ready.inputs) for views in (1, 2))
    assert torch.equal(one[:120], both[:120])
    assert not one[120:].any()
    assert both[120:].any()


def test_linked_entities_share_a_vector_and_others_do_not():
    whole = task()
    vectors = JapeNet(whole.without_test(), 5, 0).vectors()
    left, right = whole.train.links
    assert torch.equal(vectors[left], vectors[right])
    assert not torch.equal(vectors[whole.val.links[0]], vectors[whole.val.links[1]])
    assert torch.allclose(vectors.norm(dim=1), torch.ones(120))


def test_a_translation_by_hand():
    net = JapeNet(task().without_test(), 2, 0)
    heads = int(net.shared[0]), int(net.shared[70])
    with torch.no_grad():
        net.entities[heads[0]] = torch.tensor([2.0, 0.0])
        net.entities[heads[1]] = torch.tensor([0.0, 3.0])
        net.relations[1] = torch.tensor([0.0, 0.5])
    apart = net.translated(torch.tensor([[0], [1], [70]]))
    assert apart.tolist() == pytest.approx([1.0])  # (1, 0) + (0, 1) - (0, 1)


def test_false_triples_stay_in_their_graph():
    whole = task()
    false = corrupted(whole.triples, 60, 120, generator(0))
    first = whole.triples[0] < 60
    assert (false[[0, 2]][:, first] < 60).all()
    assert (false[[0, 2]][:, ~first] >= 60).all()
    assert (false[1] == whole.triples[1]).all()
    changed = false != whole.triples
    assert not (changed[0] & changed[2]).any()
    assert 0.8 < changed.any(0).mean() <= 1


def test_links_point_to_pairs():
    whole = task(entities=60)
    points = {(h, t) for h, _, t in whole.triples.T.tolist()}
    expected = np.zeros((60, 60))
    for left, right in whole.train.links.T.tolist():
        for i in range(60):
            for j in range(60):
                expected[i, j] += (left, i) in points and (right, 60 + j) in points
    assert np.array_equal(pointed_to(whole.without_test()).toarray(), expected)


def test_likeness_by_hand():
    whole = rows_to_one(sp.csr_array(np.array([[1.0, 3.0], [0.0, 0.0]])))
    assert whole.toarray().tolist() == [[0.25, 0.75], [0.0, 0.0]]
    none = sp.csr_array((2, 2), dtype=np.float32)
    likeness = Likeness((whole, none, none), 2, JapeKnobs(delta=0.5))
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    drawn = np.array([0.25, 0.75]) / np.hypot(0.25, 0.75)
    assert likeness.loss(vectors).item() == pytest.approx(0.5 * ((drawn - [1, 0]) ** 2).sum())


def test_alike_are_the_largest_cosines_above_the_bound():
    sides = [
        np.eye(3, dtype=np.float32),
        np.array([[1, 0, 0], [0.8, 0.6, 0], [0.9, 0, 0.1]], dtype=np.float32),
    ]
    assert alike(*sides, 0.7, 2).toarray() == pytest.approx(np.array([[1, 0, 0.9], [0, 0, 0], [0, 0, 0]]))


def test_pairs_are_drawn_inside_entities_and_across_links():
    held = sp.csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]))
    inside = Pairs(held, np.zeros((2, 0), dtype=np.int64)).draw(200, generator(0))
    assert {tuple(sorted(pair)) for pair in inside.T.tolist()} == {(0, 1), (2, 3)}
    across = Pairs(held, np.array([[0], [1]])).draw(400, generator(0))
    assert {tuple(sorted(pair)) for pair in across.T.tolist()} >= {(0, 2), (1, 3)}


def test_attributes_that_come_together_are_near():
    first, second = np.tile([1, 1, 1, 0, 0, 0], (20, 1)), np.tile([0, 0, 0, 1, 1, 1], (20, 1))
    held = sp.csr_array(np.concatenate([first, second]).astype(np.float32))
    vectors = attribute_vectors(held, np.zeros((2, 0), np.int64), SkipGram(8, 300, 50, 6), 0)
    cosines = (vectors @ vectors.T).numpy()
    assert cosines[:3, :3].min() > cosines[:3, 3:].max()
    entities = entity_vectors(held, vectors)
    assert entities[0] @ entities[1] == pytest.approx(1)
    assert entities[0] @ entities[39] < 0.9


def test_who_has_one_attribute_is_told_nothing():
    held = sp.csr_array(np.array([[1.0, 0.0], [1.0, 1.0]], dtype=np.float32))
    vectors = entity_vectors(held, torch.eye(2))
    assert not vectors[0].any()
    assert np.linalg.norm(vectors[1]) == pytest.approx(1)


def test_both_are_exported():
    assert {GcnAlign.label, Jape.label} <= set(contenders)


def test_aligners_are_the_human_rivals_of_their_task_and_of_no_other():
    assert field(["human"], AlignmentTask) == ALIGNERS
    assert not set(ALIGNERS) & set(field(["all"]))
    with pytest.raises(BadSetting, match="jape"):
        field(["jape"])


def test_nets_begin_as_the_task_has_it_where_nobody_turned_a_knob():
    turned = {"paper": Algorithm1(dropout=0.3)}
    begun = contender("paper", Race(), turned, AlignmentTask)
    knobs = begun.strategy.settings
    assert (knobs.scaling, knobs.input_dropout, knobs.dropout) == ("raw", 0.0, 0.3)
    assert begun.settings.space == "align"
    assert contender("gcn", Race(), {}, AlignmentTask).starts == STARTS["alignment"]
    assert contender("gcn", Race(), {}).starts == {}
