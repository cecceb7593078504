import math
import subprocess
import sys
from itertools import product

import pytest
import torch

from sanegnn import journal
from sanegnn.errors import RunFolder
from sanegnn.records import Epoch
from sanegnn.seeds import Noise, derive
from sanegnn.space import SearchSpace, space
from sanegnn.strategies import Quest, log
from sanegnn.strategies.alphas import strongest
from sanegnn.strategies.course import Course
from sanegnn.strategies.darts import Algorithm1, Paper
from sanegnn.strategies.oneshot import Restart, Sight
from sanegnn.tasks import NodeTask
from sanegnn.testing.examples import example_task
from sanegnn.work import InOrder, Processes, one_thread

SPACE = SearchSpace("small", 2, ("gcn", "sage_mean", "gat"), ("skip", "zero"), ("concat", "max", "lstm"))
TINY = Algorithm1(epochs=6, hidden=8)


def run(task, restart, settings):
    return Paper(settings).run(task, restart)


def test_the_defaults_are_the_paper_s():
    knobs = Algorithm1()
    assert (knobs.epochs, knobs.hidden, knobs.lr, knobs.dropout) == (200, 32, 0.005, 0.6)
    assert (knobs.weight_decay, knobs.epsilon, knobs.top) == (2e-4, 0.0, 1)


def course(settings=TINY, seed=1, searched=SPACE):
    ready = example_task().without_test().ready(settings.setting.scaling, "cpu")
    return Course(searched, ready, settings, seed)


def walked(settings, seed=1, searched=SPACE):
    one = course(settings, seed, searched)
    for _ in range(settings.epochs):
        one.step()
    return one


def bits(one):
    """Alphas and weights as they are, to the bit."""
    return one.alpha_table(), [weight.detach().numpy().tobytes() for weight in one.weights]


# --- the two steps ------------------------------------------------------------------------------------


def test_an_alpha_step_moves_alphas_and_no_weight():
    one = course()
    alphas, weights = bits(one)
    one.alpha_step(log_noise(), Sight(one))
    assert all(one.alpha_table()[key] != alphas[key] for key in alphas)
    assert bits(one)[1] == weights


def test_a_weight_step_moves_weights_and_no_alpha():
    one = course()
    alphas, weights = bits(one)
    one.weight_step(None, log_noise())
    assert bits(one)[0] == alphas
    names = [name for name, _ in one.net.named_parameters()]
    still = {name for name, new, old in zip(names, bits(one)[1], weights, strict=True) if new == old}
    assert still <= {"readouts.2.score_bias"}  # a softmax does not feel a shift


def ends(proposals):
    """What was proposed, without the time it took."""
    return [(one.architecture, one.score) for one in proposals]


def log_noise():
    return Noise(derive(0, "step"))


def test_alphas_learn_from_validation_and_weights_from_training_alone():
    """Other validation labels leave the first weight step as it was; other training labels the alpha step."""

    def stepped(part):
        task = example_task()
        labels = getattr(task, part).target
        labels[:] = (labels + 1) % 3
        one = Course(SPACE, task.ready("unit", "cpu"), TINY, 1)
        one.alpha_step(log_noise(), Sight(one))
        alphas = one.alpha_table()
        two = Course(SPACE, task.ready("unit", "cpu"), TINY, 1)
        two.weight_step(None, log_noise())
        return alphas, bits(two)[1]

    plain, train, val = stepped("test"), stepped("train"), stepped("val")
    assert train[0] == plain[0] != val[0]
    assert val[1] == plain[1] != train[1]


def test_a_step_on_a_path_trains_that_path_alone():
    one = course()
    before = {name: value.clone() for name, value in one.net.state_dict().items()}
    one.weight_step(dict.fromkeys(one.alphas.rows, 0), log_noise())
    moved = {name for name, value in one.net.state_dict().items() if not torch.equal(value, before[name])}
    assert "layers.0.ops.0.weight" in moved
    assert not [name for name in moved if ".ops.1." in name or ".ops.2." in name or "readouts.1" in name]


def test_the_second_order_takes_another_course():
    first, second = walked(TINY), walked(TINY.but(xi=0.1))
    assert first.alpha_table() != second.alpha_table()
    assert all(math.isfinite(value) for row in second.alpha_table().values() for value in row)


# --- what is derived --------------------------------------------------------------------------------------


def argmax(searched, alphas):
    return searched.decode({key: max(range(len(row)), key=row.__getitem__) for key, row in alphas.items()})


def test_the_architecture_is_that_of_the_alphas_after_the_last_update(tmp_path):
    task, quick = example_task().without_test(), TINY.but(alpha_lr=0.01, epochs=12)
    run(task, Restart(0, 5, SPACE, "cpu", tmp_path), quick)
    derived = [argmax(SPACE, epoch.alphas) for epoch in journal.read(tmp_path / "restart-0.jsonl")]
    turns = [epoch for epoch in range(2, 13) if derived[epoch - 1] != derived[epoch - 2]]
    assert turns, "a test of the last update needs an epoch whose update matters"
    for last in turns:
        (proposal,) = run(task, Restart(0, 5, SPACE, "cpu", None), quick.but(epochs=last))
        assert proposal.architecture == derived[last - 1]


def test_every_epoch_is_recorded_with_all_alphas(tmp_path):
    run(example_task().without_test(), Restart(2, 5, SPACE, "cpu", tmp_path), TINY)
    epochs = journal.read(tmp_path / "restart-2.jsonl")
    assert len(epochs) == TINY.epochs
    for epoch in epochs:
        assert isinstance(epoch, Epoch)
        assert epoch.restart == 2
        assert {key: len(row) for key, row in epoch.alphas.items()} == {
            slot.key: len(slot.choices) for slot in SPACE.slots
        }
        assert 0 <= epoch.val_score <= 1
        assert math.isfinite(epoch.train_loss + epoch.val_loss)


@pytest.mark.parametrize("top", [1, 2, 7, 40, 1000])
def test_strongest_against_brute_force(top):
    one = course()
    gen = torch.Generator().manual_seed(top)
    alphas = {slot.key: torch.randn(len(slot.choices), generator=gen).tolist() for slot in SPACE.slots}

    def strength(picks):
        odds = (torch.softmax(torch.tensor(alphas[s.key]), 0) for s in SPACE.slots)
        return math.prod(float(row[pick]) for row, pick in zip(odds, picks, strict=True))

    every = sorted(product(*(range(len(slot.choices)) for slot in SPACE.slots)), key=strength, reverse=True)
    keys = [slot.key for slot in one.space.slots]
    brute = [SPACE.decode(dict(zip(keys, picks, strict=True))) for picks in every[:top]]
    found = strongest(SPACE, alphas, top)
    assert found == brute
    assert found[0] == argmax(SPACE, alphas)


def test_top_k_proposes_k_distinct_members():
    proposals = walked(TINY.but(top=5)).derive(5)
    assert len({architecture for architecture, _ in proposals}) == 5


# --- exploration --------------------------------------------------------------------------------------


def test_epsilon_one_never_moves_an_alpha_and_gives_the_best_drawn_path():
    settings = TINY.but(epsilon=1.0, top=4)
    one, fresh = walked(settings), course(settings)
    assert one.alpha_table() == fresh.alpha_table()
    proposals = one.derive(4)
    scores = [score for _, score in proposals]
    assert scores == sorted(scores, reverse=True)
    for architecture, score in proposals:
        assert one.validate(SPACE.encode(architecture))[0] == score
    drawn = {path: one.validate(SPACE.encode(path))[0] for path in SPACE}
    assert scores[0] == max(drawn.values()), "200 draws miss none of 108 paths' best ties"


def test_epsilon_between_explores_now_and_then():
    one = course(TINY.but(epsilon=0.5))
    moved = []
    for _ in range(20):
        before = one.alpha_table()
        one.step()
        moved.append(one.alpha_table() != before)
    assert 3 < sum(moved) < 17


# --- seeds ------------------------------------------------------------------------------------------------

FRESH = """
from sanegnn.strategies.darts import Algorithm1, Paper
from sanegnn.strategies.oneshot import Restart
from sanegnn.space import SearchSpace
from sanegnn.testing.examples import example_task
import json, sys
from pathlib import Path
from sanegnn import journal
from sanegnn.work import InOrder
space = SearchSpace("small", 2, ("gcn", "sage_mean", "gat"), ("skip", "zero"), ("concat", "max", "lstm"))
folder = Path(sys.argv[1])
job = Restart(0, 5, space, "cpu", folder)
work = Paper(Algorithm1(epochs=6, hidden=8)).run
((proposal,),) = InOrder().map(work, [job], example_task().without_test())
print(proposal.architecture, proposal.score, journal.read(folder / "restart-0.jsonl")[-1].alphas)
"""


def test_a_fresh_process_finds_the_same_architecture(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    command = [sys.executable, "-c", FRESH, str(tmp_path / "there")]
    fresh = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    quest_task = example_task().without_test()
    job = Restart(0, 5, SPACE, "cpu", tmp_path / "here")
    torch.manual_seed(99)  # the global stream does not matter
    (((proposal),),) = InOrder().map(lambda task, job: run(task, job, TINY), [job], quest_task)
    alphas = journal.read(tmp_path / "here" / "restart-0.jsonl")[-1].alphas
    assert fresh == f"{proposal.architecture} {proposal.score} {alphas}"


def quest(workers, folder, restarts=3, seed=0):
    folder.mkdir()
    return Quest(example_task().without_test(), SPACE, seed, restarts, workers, "cpu", folder)


def test_restarts_in_processes_end_with_the_same_bits(tmp_path):
    found = []
    for name, workers in (("one", InOrder()), ("two", Processes(2))):
        list(Paper(TINY).search(quest(workers, tmp_path / name)))
        found.append([journal.read(tmp_path / name / f"restart-{place}.jsonl") for place in range(3)])
    assert found[0] == found[1]
    assert len({str(restart[-1].alphas) for restart in found[0]}) == 3


def test_another_restart_does_not_change_the_others(tmp_path):
    two = list(Paper(TINY).search(quest(InOrder(), tmp_path / "two", 2)))
    three = list(Paper(TINY).search(quest(InOrder(), tmp_path / "three", 3)))
    assert ends(three[:2]) == ends(two)


# --- killed and gone on with --------------------------------------------------------------------------------


class Killed(BaseException):
    """The end of the process, as far as this test is concerned."""


@pytest.fixture
def die(monkeypatch):
    """Die in the middle of an epoch, before it is recorded."""
    step = Course.step

    def at(epoch):
        def mortal(self):
            told = step(self)
            if self.epoch == epoch:
                raise Killed
            return told

        monkeypatch.setattr(Course, "step", mortal)

    yield at
    monkeypatch.setattr(Course, "step", step)


@pytest.mark.parametrize("every", [0.0, 1e9, 0.02], ids=["saved always", "saved never", "saved at times"])
@pytest.mark.parametrize("changes", [{}, {"xi": 0.1}, {"epsilon": 0.5}], ids=str)
def test_a_restart_that_was_killed_ends_with_the_same_bits(tmp_path, die, monkeypatch, every, changes):
    settings = TINY.but(**changes)
    task = example_task().without_test()
    monkeypatch.setattr(log, "EVERY", every)
    whole = run(task, Restart(0, 5, SPACE, "cpu", ready(tmp_path / "whole")), settings)
    cut = Restart(0, 5, SPACE, "cpu", ready(tmp_path / "cut"))
    for epoch in (1, 3, 4):
        die(epoch)
        with pytest.raises(Killed):
            run(task, cut, settings)
    die(None)
    again = run(task, cut, settings)
    assert ends(again) == ends(whole)
    epochs = [journal.read(tmp_path / name / "restart-0.jsonl") for name in ("whole", "cut")]
    assert epochs[0] == epochs[1]
    states = [torch.load(tmp_path / name / "restart-0.state", weights_only=True) for name in ("whole", "cut")]
    assert same(states[0]["work"], states[1]["work"])


def ready(folder):
    folder.mkdir()
    return folder


def same(one, other):
    """Whether two states are equal to the bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


def test_a_restart_that_is_done_is_not_done_again(tmp_path, die):
    task, restart = example_task().without_test(), Restart(0, 5, SPACE, "cpu", tmp_path)
    first = run(task, restart, TINY)
    die(TINY.epochs + 1)
    again = run(task, restart, TINY)
    assert ends(again) == ends(first)
    assert again[0].seconds >= first[0].seconds * 0.5


@pytest.mark.parametrize("damage", ["empty", "cut", "noise", "other"])
def test_a_corrupt_checkpoint_is_an_error_of_the_folder(tmp_path, damage):
    task, restart = example_task().without_test(), Restart(0, 5, SPACE, "cpu", tmp_path)
    run(task, restart, TINY)
    file = tmp_path / "restart-0.state"
    data = file.read_bytes()
    if damage == "other":
        run(task, Restart(1, 5, space("plain", 1), "cpu", tmp_path), TINY)
        data = (tmp_path / "restart-1.state").read_bytes()
    file.write_bytes({"empty": b"", "cut": data[: len(data) // 2], "noise": b"x" * 99, "other": data}[damage])
    with pytest.raises(RunFolder, match=r"cannot read the checkpoint .*restart-0.state.*--fresh"):
        run(task, restart, TINY)
    file.unlink()
    assert run(task, restart, TINY)


# --- it learns ----------------------------------------------------------------------------------------------


def supernet_on_cora(dataset, epochs):
    task = NodeTask.of(dataset("cora")).without_test()
    settings = Algorithm1(epochs=epochs)
    one = Course(space("paper", 3), task.ready(settings.setting.scaling, "cpu"), settings, 0)
    with one_thread():
        scores = [one.step()["val_score"] for _ in range(epochs)]
    return scores[-1]


def test_a_supernet_learns_cora(dataset):
    assert supernet_on_cora(dataset, 50) > 0.8


@pytest.mark.slow
def test_a_default_search_ends_with_a_supernet_that_learned_cora(dataset):
    assert supernet_on_cora(dataset, Algorithm1().epochs) > 0.8
