"""Policy-GNN as a contender: its policy against fixed depths, its laps, its nets, and how it goes on."""

import hashlib
import itertools
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from sanegnn.baselines import Clock, Lane, PolicyGnn, contenders
from sanegnn.baselines.metapolicy import MetaPolicy, PolicyCourse
from sanegnn.data import GraphData
from sanegnn.data.base import symmetric
from sanegnn.errors import SealedTest, UnknownName
from sanegnn.nets import Net
from sanegnn.seeds import generator
from sanegnn.settings import Setting, Training
from sanegnn.space import Architecture
from sanegnn.strategies import log
from sanegnn.tasks import NodeTask
from sanegnn.testing.examples import example_task
from sanegnn.training import evaluate, train_net
from sanegnn.training.select import Bench
from sanegnn.work import InOrder, Processes, one_thread

QUICK = MetaPolicy(
    depth=3, hidden=8, heads=2, lr=0.02, episodes=6, steps=3, buffer=16, minibatch=16, window=4
)
TRIALS = 9
"""Enough for three batches, the last of which TPE asks for."""


@pytest.fixture(autouse=True)
def alone():
    with one_thread():
        yield


def two_reaches(each=100, classes=3, friends=2, beyond=3):
    """Labelled centres of two kinds, which a mark tells apart; each has friends, and these have others.

    Near: the class stands on the friends, and noise on the others, so that one layer is enough and two are
    too many. Far: it stands on the others alone.
    """
    rng, codes = generator(0, "two-reaches"), np.eye(classes)
    x, y, ends = [], [], []

    def node(code, mark=(0, 0), label=-1):
        x.append([*code, *mark])
        y.append(label)
        return len(y) - 1

    for near, _ in itertools.product((True, False), range(each)):
        label = int(rng.integers(classes))
        centre = node(0 * codes[0], (near, not near), label)
        for _ in range(friends):
            friend = node(near * codes[label])
            ends.append((centre, friend))
            noise = 3 * rng.standard_normal((beyond, classes))
            ends += [(friend, node(code)) for code in (noise if near else [codes[label]] * beyond)]
    edges, _ = symmetric(np.array(ends).T, None, len(y))
    return GraphData.of({"x": np.array(x, np.float32), "edges": edges, "y": np.array(y)}, "two-reaches")


def test_the_policy_beats_every_fixed_depth_where_nodes_need_different_ones(tmp_path):
    task = NodeTask.of(two_reaches())
    knobs = MetaPolicy(
        depth=3, hidden=16, scaling="raw", input_dropout=0, dropout=0, lr=0.02, weight_decay=0, episodes=20
    ).but(activation="relu", buffer=64)
    one = Lane(Bench(task.without_test(), InOrder(), Training(), 0), tmp_path, trials=1)
    contender = PolicyGnn(knobs)
    *_, lap = contender.race(one)
    (trained,) = contender.nets(one, [lap])
    whole = task.ready("raw", "cpu")
    fixed = []
    for depth in (1, 2, 3):
        net = Net(Architecture(("gcn",) * depth), knobs.setting, whole.num_features, whole.num_outputs)
        train_net(net, one.bench.task.ready("raw", "cpu"), knobs.setting, Training(), 0)
        fixed.append(evaluate(net, whole, "test")[0])
    found = evaluate(trained.net, whole, "test")[0]
    assert found > min(fixed) + 0.2
    assert found > max(fixed)
    (batch,) = whole.batches("test")
    near = batch.inputs.features.to_dense()[batch.inputs.rows, 3] == 1
    assert set(trained.net.depths(batch.inputs)[near].tolist()) == {1}
    assert 1 not in trained.net.depths(batch.inputs)[~near].tolist()


def lane(folder, workers=None, **changes):
    bench = Bench(example_task().without_test(), workers or InOrder(), Training(epochs=8), 0)
    return Lane(bench, folder, **{"trials": TRIALS, "repeats": 2, **changes})


def raced(one, contender=None):
    """All laps of a contender, and the weights of its nets."""
    contender = contender or PolicyGnn(QUICK)
    race = list(contender.race(one))
    best = max(race[1:], key=lambda lap: lap.validation)
    laps = race + list(contender.finish(one, best))
    return laps, list(contender.nets(one, laps[1:]))


def told(laps):
    """All of the laps but the time they took."""
    return [repr(replace(lap, seconds=0.0, clock=0.0, memory=0.0)) for lap in laps]


def weights(nets):
    return [
        trained and {name: value.tolist() for name, value in trained.net.state_dict().items()}
        for trained in nets
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    laps, nets = raced(lane(tmp_path_factory.mktemp("whole")))
    return laps, weights(nets)


def test_it_is_registered_with_its_phases_in_order(whole):
    assert contenders["policygnn"] is PolicyGnn
    laps, nets = whole
    assert [lap.phase for lap in laps] == ["search", *["tune"] * TRIALS, *["retrain"] * 2]
    assert {lap.label for lap in laps} == {"gcn,gcn,gcn"}
    assert math.isnan(laps[0].validation)
    assert all(0 <= lap.validation <= 1 for lap in laps[1:])
    assert [lap.clock for lap in laps] == sorted(lap.clock for lap in laps)
    assert all(nets)
    assert len(nets) == TRIALS + 2
    assert laps[0].memory > 0


def test_the_scaling_is_left_alone_and_the_first_setting_is_the_knobs(whole):
    laps, _ = whole
    assert Setting.of(laps[1].setting) == QUICK.setting
    assert {lap.setting["scaling"] for lap in laps[1:]} == {"unit"}
    assert len({repr(lap.setting) for lap in laps if lap.phase == "tune"}) == TRIALS


def test_a_net_scores_what_its_lap_says_and_knows_no_test_part(tmp_path):
    one = lane(tmp_path, trials=1)
    laps, nets = raced(one)
    for lap, trained in zip(laps[1:], nets, strict=True):
        ready = one.bench.task.ready(trained.scaling, "cpu")
        assert evaluate(trained.net, ready, "val")[0] == lap.validation
        with pytest.raises(SealedTest):
            ready.batches("test")
        assert trained.net(ready.inputs).shape == (90, 3)


def test_it_goes_on_where_it_was_cut_off(whole, tmp_path):
    for count in (1, 7):
        one = lane(tmp_path / str(count))
        list(itertools.islice(PolicyGnn(QUICK).race(one), count))
        laps, nets = raced(lane(one.folder))
        assert told(laps) == told(whole[0])
        assert weights(nets) == whole[1]


def test_a_policy_goes_on_from_its_last_episode(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(log, "EVERY", -1.0)
    step, done = PolicyCourse.step, []

    def cut_off(course):
        done.append(course.epoch)
        if len(done) == 4:
            raise KeyboardInterrupt
        return step(course)

    monkeypatch.setattr(PolicyCourse, "step", cut_off)
    with pytest.raises(KeyboardInterrupt):
        list(PolicyGnn(QUICK).race(lane(tmp_path)))
    laps, nets = raced(lane(tmp_path))
    assert done == [0, 1, 2, 3, 3, 4, 5]
    assert told(laps) == told(whole[0])
    assert weights(nets) == whole[1]


def test_called_again_it_gives_the_same_without_any_work(tmp_path):
    class Nobody:
        def map(self, function, jobs, shared):
            assert not jobs
            return iter(())

    laps, _ = raced(lane(tmp_path, trials=5))
    again = lane(tmp_path, Nobody(), trials=5, clock=Clock())
    assert told(raced(again)[0]) == told(laps)
    assert again.clock.now() >= laps[-1].clock


def test_a_net_whose_file_is_gone_is_trained_again(whole, tmp_path):
    laps, _ = raced(lane(tmp_path))
    for file in [*(tmp_path / "nets").iterdir(), tmp_path / "policy.safetensors"]:
        file.unlink()
    assert weights(PolicyGnn(QUICK).nets(lane(tmp_path), laps[1:])) == whole[1]


def test_processes_give_the_same(whole, tmp_path):
    laps, nets = raced(lane(tmp_path, Processes(2)))
    assert told(laps) == told(whole[0])
    assert weights(nets) == whole[1]


def test_a_fresh_process_gives_the_same_bits(whole, tmp_path):
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]);"
        "from test_policygnn import digest, lane, raced, weights;"
        "laps, nets = raced(lane(Path(sys.argv[2]))); print(digest(laps, weights(nets)))"
    )
    here = str(__file__).rpartition("/")[0]
    out = subprocess.run(
        [sys.executable, "-c", code, here, tmp_path], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == digest(*whole)


def digest(laps, nets):
    return hashlib.sha256(repr((told(laps), nets)).encode()).hexdigest()


def test_a_wall_clock_ends_search_and_tuning(tmp_path):
    laps = list(PolicyGnn(QUICK).race(lane(tmp_path, seconds=1e-3)))
    assert [lap.phase for lap in laps] == ["search", *["tune"] * 4]
    assert laps[0].epochs == 1


def test_a_training_that_goes_astray_is_a_lap_without_a_score_or_a_net(tmp_path):
    one = lane(tmp_path, trials=2)
    broken = replace(one, bench=replace(one.bench, task=infinite(one.bench.task)))
    for _ in range(2):
        laps = list(PolicyGnn(QUICK).race(broken))
        assert [lap.phase for lap in laps] == ["search", "tune", "tune"]
        assert all(math.isnan(lap.validation) for lap in laps)
    assert list(PolicyGnn(QUICK).nets(broken, laps[1:])) == [None] * 2


def infinite(task):
    """The same task with features that no net can read."""
    return replace(task, x=np.full_like(task.x, np.inf), _made={})


def test_an_unknown_backbone_is_refused():
    with pytest.raises(UnknownName, match="no node aggregator named 'gatt'; did you mean 'gat'"):
        PolicyGnn(MetaPolicy(backbone="gatt"))
