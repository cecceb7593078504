import numpy as np
import pytest
import torch

from sanegnn.aims import AlignmentKnobs
from sanegnn.data.generate import translated_pair
from sanegnn.data.knowledge import weighted_edges
from sanegnn.errors import SealedTest, UnknownName
from sanegnn.seeds import Noise
from sanegnn.tasks import AlignmentTask
from sanegnn.tasks.alignment import LinkBatch
from sanegnn.tasks.figures import figures


def made(entities=40, attributes=8, read=2000, **knobs):
    pair = translated_pair(0, entities=entities, triples=200, attributes=attributes)
    return AlignmentTask.of(pair, knobs=AlignmentKnobs(attributes=read, **knobs))


def test_figures_by_hand():
    ranks = torch.tensor([1, 2, 10, 11, 50, 100])
    found = {name: figures[name](ranks) for name in figures}
    assert found == {
        "hits@1": pytest.approx(1 / 6),
        "hits@10": pytest.approx(3 / 6),
        "hits@50": pytest.approx(5 / 6),
        "mrr": pytest.approx((1 + 1 / 2 + 1 / 10 + 1 / 11 + 1 / 50 + 1 / 100) / 6),
    }


def test_every_entity_is_there_twice_and_the_views_do_not_touch():
    task = made()
    assert task.x.shape == (160, 88)
    assert np.array_equal(task.x.toarray()[:80, :80], np.eye(80))
    assert np.array_equal(task.x.toarray()[80:, 80:], task.data.attributes.toarray())
    edges, weight = weighted_edges(task.data.triples)
    assert np.array_equal(task.edges, np.concatenate([edges, edges + 80], axis=1))
    assert np.array_equal(task.weight, np.tile(weight, 2))


def test_without_attributes_there_is_one_view():
    task = made(attributes=0)
    assert task.views == 1
    assert task.x.shape == (80, 80)


def test_only_the_most_frequent_attributes_are_read():
    assert made(attributes=12).attributes.shape[1] == 12
    assert made(attributes=12, read=3).x.shape == (160, 83)


def test_false_links_replace_one_end_by_an_entity_of_its_graph():
    ready = made(negatives=3).ready("raw", "cpu")
    (batch,) = ready.batches("train", Noise(1))
    links, right, left = batch.target.split([12, 36, 36], dim=1)
    train = ready.parts["train"].links
    assert links.tolist() == train.tolist()
    assert right[0].tolist() == train[0].tolist() * 3
    assert left[1].tolist() == train[1].tolist() * 3
    assert right[1].min() >= 40
    assert left[0].max() < 40


def test_false_links_follow_the_noise_of_an_epoch():
    ready = made().ready("raw", "cpu")
    one, again, other = (ready.batches("train", Noise(key))[0].target for key in (1, 1, 2))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert ready.batches("val", Noise(1))[0] is ready.batches("val", Noise(2))[0]


def test_the_loss_is_that_of_the_margin():
    ready = made(attributes=0, negatives=1, margin=3.0).ready("raw", "cpu")
    output = torch.tensor([[0.0], [5.0], [1.0], [2.5]])
    target = torch.tensor([[0, 1, 0, 1, 1, 0], [2, 3, 3, 2, 2, 3]])  # links (0,2) (1,3), then false ones
    true, false_right, false_left = (1.0, 2.5), (2.5, 4.0), (4.0, 2.5)
    wanted = [t + 3 - f for other in (false_right, false_left) for t, f in zip(true, other, strict=True)]
    loss = ready.loss(output, LinkBatch(ready.inputs, target, target[:, :2]))
    assert loss.item() == pytest.approx(np.mean(np.maximum(wanted, 0)))


def test_the_loss_takes_both_views():
    ready = made(negatives=1).ready("raw", "cpu")
    (batch,) = ready.batches("val")
    one, other = (torch.randn(8, 3, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    both = ready.loss(torch.cat([one, other]), batch)
    alone = [ready.loss(torch.cat([view, view]), batch) for view in (one, other)]
    assert both.item() == pytest.approx((alone[0].item() + alone[1].item()) / 2)


def test_a_distance_is_joined_by_beta():
    ready = made(beta=0.9).ready("raw", "cpu")
    output = torch.randn(20, 3)
    joined = ready.joined(output)
    views = output.view(2, 10, 3)
    apart = (joined[0] - joined[1]).abs().sum()
    shares = [(view[0] - view[1]).abs().sum() for view in views]
    assert apart.item() == pytest.approx(0.9 * shares[0].item() + 0.1 * shares[1].item(), rel=1e-5)


def test_a_validation_link_is_ranked_among_those_of_validation_a_test_link_among_both():
    task = made()
    ready = task.ready("raw", "cpu")
    val, test = (ready.batches(part)[0].inputs.rows for part in ("val", "test"))
    known = task.data.links
    assert sorted(val[:8].tolist()) == sorted(task.val.links.ravel().tolist())
    assert sorted(test[:56].tolist()) == sorted(np.setdiff1d(known, task.train.links).tolist())
    assert (val[8:] - 80).tolist() == val[:8].tolist()


@pytest.mark.parametrize("part", ["train", "val", "test"])
def test_embeddings_that_know_the_links_hit_and_others_miss(part):
    task = made()
    ready = task.ready("raw", "cpu")
    vectors = torch.randn(160, 16, generator=torch.Generator().manual_seed(0))
    rows = ready.batches(part)[0].inputs.rows
    missed = ready.score([vectors if rows is None else vectors[rows]], part)
    for side in (0, 80):
        vectors[task.data.links[1] + side] = vectors[task.data.links[0] + side]
    assert ready.score([vectors if rows is None else vectors[rows]], part) == 1.0
    assert missed < 0.5


def test_directions_are_told_apart():
    task = made(attributes=0, beta=1.0)
    ready = task.ready("raw", "cpu")
    left, right = torch.zeros(4, 1), torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    forth, back = ready.ranks([torch.cat([left, right])], "val")
    assert forth.tolist() == [1, 2, 3, 4]
    assert back.tolist() == [4] * 4


def test_the_search_knows_no_test_link():
    sealed = made().without_test()
    assert not hasattr(sealed, "test")
    assert not hasattr(sealed, "data")
    with pytest.raises(SealedTest, match="test part is sealed"):
        sealed.ready("raw", "cpu").batches("test")


def test_a_metric_that_is_not_known_is_refused():
    with pytest.raises(UnknownName, match="hits@1"):
        AlignmentTask.of(translated_pair(0), metric="hits@2")
