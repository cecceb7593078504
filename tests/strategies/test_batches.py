"""Searches over parts of several batches."""

import copy

import pytest
import torch

from sanegnn.data import Split
from sanegnn.data.generate import planted_partition
from sanegnn.data.graphset import GraphSet
from sanegnn.seeds import Noise
from sanegnn.space import SearchSpace
from sanegnn.strategies.course import Course
from sanegnn.strategies.darts import Algorithm1
from sanegnn.strategies.gdas import Gumbel, GumbelCourse
from sanegnn.strategies.spos import SinglePath, Uniform
from sanegnn.tasks import InductiveTask
from sanegnn.tasks.inductive import InductiveKnobs

SPACE = SearchSpace("batches", 2, ("gcn", "sage_mean"), ("skip", "zero"), ("concat", "max"))
SMALL = {"hidden": 8, "epochs": 2}
COURSES = [
    (Course, Algorithm1(**SMALL)),
    (Course, Algorithm1(**SMALL, xi=0.01)),
    (GumbelCourse, Gumbel(**SMALL)),
    (Uniform, SinglePath(**SMALL)),
]


def task(batch=1):
    """Three graphs to train on, two for validation."""
    graphs = [planted_partition(seed, nodes=24, classes=2, features=4, degree=4.0) for seed in range(6)]
    split = Split("own", [0, 1, 2], [3, 4], [5])
    data = GraphSet.of(graphs, "six", splits={"own": split}, public="own")
    return InductiveTask.of(data, "own", knobs=InductiveKnobs(batch))


class Watched:
    """The tensors of a task, and the order in which losses were asked for."""

    def __init__(self, ready, stochastic=True):
        self.ready, self.seen, self.stochastic = ready, [], stochastic

    def __getattr__(self, name):
        return getattr(self.ready, name)

    def batches(self, part, noise=None):
        return self.ready.batches(part, noise if self.stochastic else None)

    def loss(self, output, batch):
        for part in ("train", "val"):
            for place, one in enumerate(self.ready.batches(part)):
                if one is batch:
                    self.seen.append((part, place))
        return self.ready.loss(output, batch)


def watched(kind=Course, knobs=COURSES[0][1], **how):
    ready = Watched(task().ready("unit", "cpu"), **how)
    return kind(SPACE, ready, knobs, 1), ready


def test_each_step_takes_the_next_batch_and_an_epoch_all_training_batches():
    one, ready = watched(stochastic=False)
    one.step()
    assert ready.seen == [("val", 0), ("train", 0), ("val", 1), ("train", 1), ("val", 0), ("train", 2)]
    ready.seen.clear()
    one.step()
    assert ready.seen == [("val", 1), ("train", 0), ("val", 0), ("train", 1), ("val", 1), ("train", 2)]


def test_the_noise_of_a_pass_orders_its_batches():
    one, ready = watched()
    for _ in range(2):
        one.step()
    trained = [place for part, place in ready.seen if part == "train"]
    assert sorted(trained[:3]) == sorted(trained[3:]) == [0, 1, 2]
    assert trained != [0, 1, 2, 0, 1, 2]


def test_the_score_of_an_epoch_is_over_all_validation_batches():
    """Also where there are fewer training batches than validation batches."""
    ready = Watched(task(batch=3).ready("unit", "cpu"))
    ready.ready._batches["val"] = task().ready("unit", "cpu")._batches["val"]
    one = Course(SPACE, ready, Algorithm1(hidden=8, epochs=1, alpha_lr=1e-7, lr=1e-7), 1)
    told = one.step()
    score, loss = one.validate(one.mix())
    assert told["val_score"] == pytest.approx(score, abs=0.05)
    assert told["val_loss"] == pytest.approx(loss, abs=1e-4)


@pytest.mark.parametrize(("kind", "knobs"), COURSES)
def test_a_course_goes_on_in_the_middle_to_the_bit(kind, knobs):
    whole, _ = watched(kind, knobs)
    whole.step()
    state = copy.deepcopy(whole.state())
    whole.step()
    later, _ = watched(kind, knobs)
    later.restore(state)
    later.step()
    assert whole.taken == later.taken > 0
    for name, value in whole.net.state_dict().items():
        assert torch.equal(value, later.net.state_dict()[name]), name


def test_a_training_epoch_takes_every_batch_once_in_the_order_of_its_noise():
    ready = task().ready("unit", "cpu")
    places = {id(one): place for place, one in enumerate(ready.batches("train"))}
    orders = [[places[id(one)] for one in ready.batches("train", Noise(key))] for key in range(6)]
    assert all(sorted(order) == [0, 1, 2] for order in orders)
    assert len({tuple(order) for order in orders}) > 1
