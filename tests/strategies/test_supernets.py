"""The searches on one supernet: their own maths, and that each goes on where it was killed."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from sanegnn.data import GraphData
from sanegnn.nets import Gated, Supernet
from sanegnn.seeds import generator
from sanegnn.settings import Setting
from sanegnn.space import SearchSpace
from sanegnn.strategies import (
    Cooling,
    Gumbel,
    Patience,
    Perturbation,
    Shrinkage,
    SinglePath,
    log,
    strategies,
)
from sanegnn.strategies.annealed import Annealed
from sanegnn.strategies.course import Course
from sanegnn.strategies.darts import Algorithm1
from sanegnn.strategies.gdas import GumbelCourse, straight_through
from sanegnn.strategies.log import Log
from sanegnn.strategies.oneshot import Restart
from sanegnn.strategies.paths import evolved, fair
from sanegnn.strategies.perturbed import Perturbed
from sanegnn.strategies.shrinking import Shrinking
from sanegnn.strategies.stable import Stable
from sanegnn.tasks import NodeTask
from sanegnn.testing.examples import example_inputs, example_task
from sanegnn.work import one_thread

SPACE = SearchSpace("small", 2, ("gcn", "sage_mean", "gat"), ("skip", "zero"), ("concat", "max", "lstm"))
QUICK = {
    "annealed": Cooling(epochs=6, hidden=8),
    "gdas": Gumbel(epochs=8, hidden=8),
    "perturbed": Perturbation(epochs=3, hidden=8, settle=1),
    "shrinking": Shrinkage(epochs=8, hidden=8),
    "spos": SinglePath(epochs=9, hidden=8, evaluations=12, alive=3),
    "stable": Patience(epochs=9, hidden=8, calm=3),
}


def course(kind, settings, task=None, searched=SPACE, seed=1):
    ready = (task or example_task()).without_test().ready(settings.scaling, "cpu")
    return kind(searched, ready, settings, seed)


# --- Algorithm 1 is what it was ---------------------------------------------------------------------------

PINNED = {
    "first order": ({}, [-0.00186205423, 0.00164847437, 0.00317554735], 0.9882215857505798),
    "second order": ({"xi": 0.1}, [-0.00185357349, 0.00164554478, 0.00314598484], 0.9823503494262695),
    "exploring": ({"epsilon": 0.5}, [-0.00026829043, 0.00014230164, 0.00148494251], 1.0988126993179321),
}


@pytest.mark.parametrize("case", PINNED)
def test_algorithm_1_gives_the_alphas_that_it_gave(case):
    changes, alphas, loss = PINNED[case]
    one = course(Course, Algorithm1(epochs=6, hidden=8, **changes))
    with one_thread():
        for _ in range(6):
            told = one.step()
    assert one.alpha_table()["node.0"] == pytest.approx(alphas, rel=1e-5)
    assert told["val_loss"] == pytest.approx(loss, rel=1e-5)


# --- paths ------------------------------------------------------------------------------------------------


def test_fair_paths_take_every_operation_of_a_slot_once_a_lap():
    paths = [fair(SPACE, 4, turn) for turn in range(6)]
    for slot in SPACE.slots:
        every = list(range(len(slot.choices)))
        for lap in range(0, 6, len(every)):
            assert sorted(path[slot.key] for path in paths[lap : lap + len(every)]) == every
    assert paths == [fair(SPACE, 4, turn) for turn in range(6)]
    assert paths != [fair(SPACE, 5, turn) for turn in range(6)]


def test_evolution_finds_the_best_path_of_a_known_score():
    wanted = SPACE.sample(generator(3, "wanted"))

    def score(architecture):
        one, other = SPACE.encode(architecture), SPACE.encode(wanted)
        return sum(one[key] == other[key] for key in one)

    ranked = evolved(SPACE, score, seed=0, evaluations=60, alive=5)
    assert ranked[0] == (wanted, 5)
    assert [value for _, value in ranked] == sorted((value for _, value in ranked), reverse=True)


# --- straight-through -------------------------------------------------------------------------------------


def test_the_gate_is_one_and_has_the_gradient_of_its_probability():
    """softmax(0, ln 3) = (1/4, 3/4): d p_1 / d alpha = p_1 (δ - p) = (-3/16, 3/16), over τ."""
    row = torch.tensor([0.0, math.log(3.0)], dtype=torch.float64, requires_grad=True)
    gate = straight_through(2 * row, torch.zeros(2, dtype=torch.float64), 2.0)
    assert gate.place == 1
    assert float(gate.factor.detach()) == 1.0
    gate.factor.backward()
    assert torch.allclose(row.grad, torch.tensor([-3 / 16, 3 / 16], dtype=torch.float64))
    assert straight_through(row, torch.tensor([2.0, 0.0], dtype=torch.float64), 1.0).place == 0


def test_a_gated_path_is_that_path_and_its_slope_is_that_of_the_one_hot_mixture():
    inputs = example_inputs()
    net = Supernet(SPACE, Setting(hidden=8, heads=2), 5, 3, seed=1).double().eval()
    path = SPACE.encode(SPACE.sample(generator(0, "path")))
    factors = {key: torch.ones((), dtype=torch.float64, requires_grad=True) for key in path}
    gated = net(inputs, {key: Gated(path[key], factors[key]) for key in path})
    assert torch.equal(gated, net(inputs, path))
    rows = {
        slot.key: torch.eye(len(slot.choices), dtype=torch.float64)[path[slot.key]].requires_grad_()
        for slot in SPACE.slots
    }
    slopes = torch.autograd.grad(gated.square().sum(), list(factors.values()))
    whole = torch.autograd.grad(net(inputs, rows).square().sum(), [rows[key] for key in factors])
    for key, slope, row in zip(factors, slopes, whole, strict=True):
        assert torch.allclose(slope, row[path[key]]), key


def test_a_step_of_gdas_moves_every_alpha_of_the_slots_that_matter():
    one = course(GumbelCourse, Gumbel(epochs=3, hidden=8))
    before = one.alpha_table()
    one.step()
    assert all(one.alpha_table()["layer.0"][place] != before["layer.0"][place] for place in range(3))
    assert one.temperature == 10.0
    one.epoch = 3
    assert one.temperature == pytest.approx(0.1)


# --- mixtures that change --------------------------------------------------------------------------------


def test_an_annealed_mixture_ends_near_one_path():
    one = course(Annealed, Cooling(epochs=10, hidden=8, coldest=1e-4))
    assert max(float(odds.detach().max()) for odds in one.mix().values()) < 0.51
    for _ in range(10):
        one.step()
    assert min(float(odds.detach().max()) for odds in one.mix().values()) > 0.99


@pytest.mark.parametrize(("epochs", "warm"), [(3, 0.0), (8, 0.2), (40, 0.9)])
def test_shrinking_never_empties_a_slot_and_ends_with_one_operation_each(epochs, warm):
    one = course(Shrinking, Shrinkage(epochs=epochs, hidden=8, warm=warm))
    sizes = [one.closed]
    while not one.done:
        one.step()
        sizes.append(one.closed)
        assert all(one.open.values())
    assert sizes == sorted(sizes)
    assert sizes[int(warm * epochs)] == 0
    assert all(len(places) == 1 for places in one.open.values())
    ((found, _),) = one.derive(5)
    assert SPACE.encode(found) == {key: place for key, (place,) in one.open.items()}


def test_shrinking_closes_the_weakest_of_the_widest_slots():
    one = course(Shrinking, Shrinkage(epochs=8, hidden=8))
    with torch.no_grad():
        one.alphas.rows["skip.0"][1] = -50.0
        one.alphas.rows["node.1"][2] = -9.0
    one.close()
    assert one.open["node.1"] == [0, 1]
    assert one.open["skip.0"] == [0, 1]


def test_a_stable_search_stops_when_nothing_changes():
    one = course(Stable, Patience(epochs=500, hidden=8, alpha_lr=1e-7, calm=4))
    while not one.done:
        one.step()
    assert one.epoch == 5


def neighbours_decide(nodes=240):
    """The class is the sign of the mean feature of the neighbours: without edges it is a coin."""
    rng = generator(0, "decide")
    x = rng.standard_normal((nodes, 3)).astype(np.float32)
    source, target = rng.integers(nodes, size=(2, 4 * nodes))
    total = np.zeros(nodes)
    np.add.at(total, target, x[source, 0])
    return NodeTask.of(
        GraphData.of({"x": x, "edges": np.stack([source, target]), "y": (total > 0).astype(int)})
    )


def test_perturbation_keeps_the_operation_that_is_needed():
    """Its alpha is made the smaller one, so that only the loss can say which is needed."""
    for needed, ops in enumerate([("sage_mean", "linear"), ("linear", "sage_mean")]):
        searched = SearchSpace("needed", 1, ops)
        settings = Perturbation(epochs=40, hidden=8, dropout=0.0, input_dropout=0.0, scaling="raw", lr=0.02)
        one = course(Perturbed, settings, neighbours_decide(), searched)
        with torch.no_grad():
            one.alphas.rows["node.0"][needed] = -0.5
        while not one.done:
            one.step()
        assert one.open["node.0"] == [needed]
        assert str(one.derive(1)[0][0]) == "sage_mean"


# --- seeds and interruptions ------------------------------------------------------------------------------


class Killed(BaseException):
    """The end of the process, as far as this test is concerned."""


def ends(proposals):
    return [(str(one.architecture), one.score) for one in proposals]


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("every", [0.0, 0.02], ids=["saved always", "saved at times"])
def test_a_restart_that_was_killed_ends_the_same(tmp_path, monkeypatch, name, every):
    monkeypatch.setattr(log, "EVERY", every)
    task, strategy, keep = example_task().without_test(), strategies[name](QUICK[name]), Log.keep
    whole = strategy.run(task, Restart(0, 5, SPACE, "cpu", None))
    for last in (2, 5):

        def mortal(self, epoch, last=last):
            if epoch.epoch == last:
                raise Killed
            keep(self, epoch)

        monkeypatch.setattr(Log, "keep", mortal)
        with pytest.raises(Killed):
            strategy.run(task, Restart(0, 5, SPACE, "cpu", tmp_path))
    monkeypatch.setattr(Log, "keep", keep)
    assert ends(strategy.run(task, Restart(0, 5, SPACE, "cpu", tmp_path))) == ends(whole)


def searched_all():
    """What every quick search ends with."""
    found = {}
    with one_thread():
        for name in QUICK:
            run = strategies[name](QUICK[name]).run
            found[name] = ends(run(example_task().without_test(), Restart(0, 5, SPACE, "cpu", None)))
    return found


FRESH = "import sys; sys.path.insert(0, sys.argv[1]); import test_supernets as t; print(t.searched_all())"


def test_a_fresh_process_finds_the_same():
    torch.manual_seed(99)  # the global stream does not matter
    command = [sys.executable, "-c", FRESH, str(Path(__file__).parent)]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert there.strip() == str(searched_all())
