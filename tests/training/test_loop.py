import hashlib
import math
import subprocess
import sys

import pytest
import torch
from torch import nn

from sanegnn.errors import TrainingFailed
from sanegnn.seeds import Noise
from sanegnn.settings import Setting, Training
from sanegnn.space import Architecture
from sanegnn.tasks import Batch
from sanegnn.testing.examples import example_task
from sanegnn.training import evaluate, train_net
from sanegnn.training.jobs import Job, do, restored


class Counter(nn.Module):
    """One weight, which Adam raises by the learning rate in every epoch."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(()))

    def forward(self, inputs, noise=None):
        return self.weight


class Scripted:
    """A task whose validation scores, and losses, are given epoch by epoch."""

    def __init__(self, scores, losses=None):
        self.scores, self.losses = scores, losses or [1.0] * len(scores)
        self.epoch = 0

    def batches(self, part, noise=None):
        return (Batch(None, torch.tensor([len(part)])),)

    def loss(self, output, batch):
        if int(batch.target) == len("train"):
            self.epoch += 1
            return -output
        return torch.tensor(self.losses[self.epoch - 1])

    def score(self, outputs, part):
        return self.scores[self.epoch - 1]


def scripted(scores, losses=None, patience=3, floors=None):
    net = Counter()
    setting = Setting(lr=0.5, weight_decay=0.0)
    training = Training(epochs=len(scores), patience=patience)
    return net, train_net(net, Scripted(scores, losses), setting, training, 0, floors)


def test_the_weights_of_the_best_epoch_are_left_in_the_net():
    net, trained = scripted([0.1, 0.4, 0.9, 0.3, 0.2])
    assert trained.validation == 0.9
    assert net.weight.item() == pytest.approx(3 * 0.5)
    assert torch.equal(trained.state["weight"], net.weight)


def test_it_stops_after_patience():
    _, trained = scripted([0.5, 0.1, 0.1, 0.1, 0.1, 0.9], patience=3)
    assert trained.epochs == 4
    assert trained.validation == 0.5


def test_a_smaller_loss_is_better_among_equal_scores():
    net, _ = scripted([0.5, 0.5, 0.5, 0.5], [1.0, 0.7, 0.9, 0.7])
    assert net.weight.item() == pytest.approx(2 * 0.5)


def test_an_epoch_whose_loss_is_not_finite_is_no_best():
    net, trained = scripted([0.5, 0.9, 0.4], [1.0, math.nan, 1.0])
    assert trained.validation == 0.5
    assert net.weight.item() == pytest.approx(0.5)


def test_who_is_below_a_floor_stops_there():
    scores = [0.3] * 100
    _, trained = scripted(scores, patience=100, floors={15: 0.2, 30: 0.4, 60: 0.9})
    assert (trained.epochs, trained.pruned) == (30, True)
    assert trained.rungs == {15: 0.3, 30: 0.3}
    _, whole = scripted(scores, patience=100, floors={15: 0.3, 60: 0.3})
    assert (whole.epochs, whole.pruned) == (100, False)
    assert set(whole.rungs) == {15, 30, 60}


def test_a_training_without_a_finite_loss_fails_with_a_way_out():
    with pytest.raises(TrainingFailed, match=r"no epoch of 3 .* lower the learning rate"):
        scripted([0.5] * 5, [math.nan] * 5)


def job(text="gcn,gat | skip,zero | lstm", epochs=12, seed=3, **changes):
    setting = Setting(hidden=16, heads=2, scaling="standard", lr=0.02).but(**changes)
    return Job(Architecture.parse(text), setting, Training(epochs=epochs), seed)


def test_a_training_learns():
    outcome = do(example_task().without_test(), job(epochs=60))
    assert outcome.validation > 0.8
    assert outcome.epochs <= 60
    assert outcome.parameters > 0


def test_a_divergence_is_an_outcome_that_says_why():
    task = example_task()
    object.__setattr__(task, "x", task.x * 1e37)
    outcome = do(task, job("gin,gin,gin", scaling="raw", lr=1.0))
    assert outcome.validation is None
    assert "lower the learning rate" in outcome.why


CODE = """
import hashlib, sys
sys.path.insert(0, {folder!r})
import torch
torch.set_num_threads(1)
from test_loop import digest
print(digest())
"""


def digest():
    """The weights of a training and its score."""
    task = example_task().without_test()
    one = job(edge_dropout=0.2, attention_dropout=0.3, norm="batch")
    ready = task.ready(one.setting.scaling, "cpu")
    net = one.net(ready)
    trained = train_net(net, ready, one.setting, one.training, 5)
    state = b"".join(value.numpy().tobytes() for value in trained.state.values())
    return f"{trained.validation!r}-{hashlib.sha256(state).hexdigest()}"


def test_the_same_seed_gives_the_same_bits_in_a_fresh_process(request):
    folder = str(request.path.parent)
    command = [sys.executable, "-c", CODE.format(folder=folder)]
    fresh = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    torch.manual_seed(123)  # the global stream does not matter
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        assert fresh == digest()
    finally:
        torch.set_num_threads(threads)


def test_another_seed_gives_other_weights():
    task = example_task()
    nets = [job(seed=seed).net(task.ready("standard", "cpu")) for seed in (1, 2)]
    assert not torch.equal(nets[0].stem, nets[1].stem)


def test_kept_weights_give_the_same_score(tmp_path):
    task = example_task()
    one = Job(**{**job().__dict__, "file": tmp_path / "net.safetensors"})
    outcome = do(task.without_test(), one)
    ready = task.ready(one.setting.scaling, "cpu")
    assert evaluate(restored(one, ready), ready, "val")[0] == outcome.validation
    assert [path.name for path in tmp_path.iterdir()] == ["net.safetensors"]


def test_prediction_takes_no_noise():
    task = example_task()
    ready = task.ready("standard", "cpu")
    net = job().net(ready)
    assert evaluate(net, ready, "val") == evaluate(net, ready, "val")
    (batch,) = ready.batches("val")
    assert not torch.equal(net(batch.inputs), net(batch.inputs, Noise(1)))
