"""Eq. 8 against finite differences of alpha -> L_val(w - xi grad_w L_tra(w, alpha), alpha), in float64."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from sanegnn.nets import Supernet
from sanegnn.seeds import Noise
from sanegnn.settings import Setting
from sanegnn.space import SearchSpace, space
from sanegnn.strategies.hypergradient import hypergradient
from sanegnn.testing.examples import example_inputs, filled, numbers

SPACES = {
    "small": SearchSpace("small", 2, ("gcn", "gat", "gin"), ("skip", "zero"), ("concat", "lstm")),
    "paper": space("paper", 2),
    "plain": space("plain", 2),
}
TRAIN, VAL = torch.arange(0, 6), torch.arange(6, 12)
CLASS = torch.arange(12) % 3


class Bilevel:
    """A supernet with its two losses; the training loss has dropout from a fixed key."""

    def __init__(self, searched):
        self.net = filled(Supernet(searched, Setting(hidden=8, heads=2, activation="tanh"), 5, 3))
        self.inputs = example_inputs()
        self.weights = list(self.net.parameters())
        self.keys = [slot.key for slot in searched.slots]
        sizes = [len(slot.choices) for slot in searched.slots]
        self.alphas = [numbers(size, seed=place).requires_grad_() for place, size in enumerate(sizes)]

    def loss(self, rows, noise=None):
        mix = {key: torch.softmax(row, 0) for key, row in zip(self.keys, self.alphas, strict=True)}
        return cross_entropy(self.net(self.inputs, mix, noise)[rows], CLASS[rows])

    def validation(self):
        return self.loss(VAL)

    def training(self):
        return self.loss(TRAIN, Noise(3))

    def objective(self, xi):
        """L_val(w - xi grad_w L_tra(w, alpha), alpha)."""
        slopes = torch.autograd.grad(self.training(), self.weights, allow_unused=True)
        before = [weight.detach().clone() for weight in self.weights]
        with torch.no_grad():
            for weight, slope in zip(self.weights, slopes, strict=True):
                if slope is not None:
                    weight.sub_(xi * slope)
            value = float(self.validation())
            for weight, old in zip(self.weights, before, strict=True):
                weight.copy_(old)
        return value

    def differences(self, xi, reach=1e-5):
        found = []
        for alpha in self.alphas:
            slope = torch.zeros_like(alpha)
            for place in range(len(alpha)):
                values = []
                for step in (reach, -reach):
                    with torch.no_grad():
                        alpha[place] += step
                    values.append(self.objective(xi))
                    with torch.no_grad():
                        alpha[place] -= step
                slope[place] = (values[0] - values[1]) / (2 * reach)
            found.append(slope)
        return found

    def hypergradient(self, xi, **more):
        return hypergradient(self.alphas, self.weights, self.validation, self.training, xi, **more)


def furthest(one, other):
    return max(float((a - b).abs().max()) for a, b in zip(one, other, strict=True))


def size(one):
    return max(float(part.abs().max()) for part in one)


@pytest.mark.parametrize("xi", [0.05, 0.5])
@pytest.mark.parametrize("name", SPACES)
def test_second_order_is_the_slope_of_the_unrolled_loss(name, xi):
    problem = Bilevel(SPACES[name])
    truth = problem.differences(xi)
    assert furthest(problem.hypergradient(xi, reach=1e-4), truth) < 1e-6
    assert furthest(problem.hypergradient(xi), truth) < 1e-3 * size(truth)


@pytest.mark.parametrize("name", SPACES)
def test_single_precision_is_enough(name):
    problem = Bilevel(SPACES[name])
    truth = problem.hypergradient(0.5, reach=1e-4)
    problem.net.float()
    problem.alphas = [alpha.detach().float().requires_grad_() for alpha in problem.alphas]
    assert furthest(problem.hypergradient(0.5), truth) < 0.01 * size(truth)


def test_the_second_term_matters():
    """Without it the check above would fail by far: it can tell the two orders apart."""
    problem = Bilevel(SPACES["small"])
    truth, first = problem.differences(0.5), problem.hypergradient(0.0)
    assert furthest(first, truth) > 0.05 * size(truth)


@pytest.mark.parametrize("name", SPACES)
def test_first_order_is_autograd(name):
    problem = Bilevel(SPACES[name])
    direct = torch.autograd.grad(problem.validation(), problem.alphas)
    assert furthest(problem.hypergradient(0.0), direct) == 0.0
    assert furthest(direct, problem.differences(0.0)) < 1e-8


@pytest.mark.parametrize("xi", [0.0, 0.1])
def test_weights_and_alphas_are_left_as_they_were(xi):
    problem = Bilevel(SPACES["small"])
    everything = [*problem.weights, *problem.alphas]
    before = [part.detach().clone() for part in everything]
    problem.hypergradient(xi)
    assert all(torch.equal(part, old) for part, old in zip(everything, before, strict=True))
    assert all(part.requires_grad and part.grad is None for part in everything)


@pytest.mark.parametrize("xi", [0.0, 0.1])
def test_weights_are_left_as_they_were_when_a_loss_fails(xi):
    problem = Bilevel(SPACES["small"])
    before = [weight.detach().clone() for weight in problem.weights]

    def broken():
        raise MemoryError

    with pytest.raises(MemoryError):
        hypergradient(problem.alphas, problem.weights, broken, problem.training, xi)
    assert all(torch.equal(part, old) for part, old in zip(problem.weights, before, strict=True))
    assert all(weight.requires_grad for weight in problem.weights)
