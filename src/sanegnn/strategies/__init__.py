"""Ways to find architectures."""

from sanegnn.strategies.annealed import Annealing, Cooling
from sanegnn.strategies.base import Proposal, Quest, Strategy, strategies
from sanegnn.strategies.candidates import Past, Searcher, TrialAndError
from sanegnn.strategies.darts import Algorithm1, Paper
from sanegnn.strategies.evolution import Aging, Evolution
from sanegnn.strategies.gdas import Gdas, Gumbel
from sanegnn.strategies.hyperband import Brackets, Hyperband
from sanegnn.strategies.perturbed import Perturb, Perturbation
from sanegnn.strategies.random import Random
from sanegnn.strategies.sane import Sane, Turns
from sanegnn.strategies.shrinking import Shrink, Shrinkage
from sanegnn.strategies.spos import SinglePath, Spos
from sanegnn.strategies.stable import Patience, Stopping
from sanegnn.strategies.tpe import Bayesian, Tpe

__all__ = [
    "Aging",
    "Algorithm1",
    "Annealing",
    "Bayesian",
    "Brackets",
    "Cooling",
    "Evolution",
    "Gdas",
    "Gumbel",
    "Hyperband",
    "Paper",
    "Past",
    "Patience",
    "Perturb",
    "Perturbation",
    "Proposal",
    "Quest",
    "Random",
    "Sane",
    "Searcher",
    "Shrink",
    "Shrinkage",
    "SinglePath",
    "Spos",
    "Stopping",
    "Strategy",
    "Tpe",
    "TrialAndError",
    "Turns",
    "strategies",
]
