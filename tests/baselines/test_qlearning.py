"""The Q-learner on processes whose best policy is known."""

import numpy as np
import pytest
import torch

from sanegnn.baselines.qlearning import Learning, QLearner, Transitions
from sanegnn.kernels import Features
from sanegnn.seeds import generator
from sanegnn.work import one_thread


@pytest.fixture(autouse=True)
def alone():
    with one_thread():
        yield


def learned(discount, draw, steps=400):
    """A learner on four states, after random actions with what `draw(rows, actions)` answers."""
    settings = Learning(discount=discount, q_lr=5e-3, renew=20, minibatch=64)
    learner = QLearner(Features.of(np.eye(4, dtype=np.float32)), 2, settings, 0)
    rng = generator(0, "test")
    for _ in range(steps):
        rows = torch.from_numpy(rng.integers(4, size=16))
        actions = learner.act(rows, 1.0)
        learner.remember(Transitions(rows, actions, *draw(rows, actions)))
        learner.learn()
    return learner.act(torch.arange(4), 0.0).tolist(), learner


def test_it_learns_the_best_arm_of_every_state():
    def bandit(rows, actions):
        pays = torch.where(actions == rows % 2, 1.0, 0.0)
        return pays, rows, torch.ones(len(rows))

    assert learned(0.9, bandit)[0] == [0, 1, 0, 1]


def corridor(rows, actions):
    """Right leads to the next state and, from the last, to 1 and the end; left is 0.3 and the end at once."""
    right, last = actions == 1, rows == 3
    reward = torch.where(right, last.float(), 0.3)
    ended = (~right | last).float()
    return reward, torch.clamp(rows + 1, max=3), ended


def test_it_learns_to_wait_for_a_later_reward():
    greedy, learner = learned(0.9, corridor)
    assert greedy == [1, 1, 1, 1]
    values = learner.q(learner.states).detach()
    assert values[:, 1].tolist() == pytest.approx([0.9**3, 0.9**2, 0.9, 1.0], abs=0.1)
    assert values[:, 0].tolist() == pytest.approx([0.3] * 4, abs=0.1)


def test_without_a_discount_it_takes_what_it_gets():
    assert learned(0.0, corridor)[0] == [0, 0, 0, 1]


def test_the_memory_forgets_the_oldest():
    learner = QLearner(Features.of(np.eye(4, dtype=np.float32)), 2, Learning(capacity=5), 0)
    for begin in (0, 3):
        rows = torch.arange(begin, begin + 4)
        learner.remember(Transitions(rows, rows, rows.float(), rows, rows.float()))
    assert learner.memory.state.tolist() == [3, 3, 4, 5, 6]
