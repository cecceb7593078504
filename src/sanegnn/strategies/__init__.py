"""Ways to find architectures."""

from sanegnn.strategies.base import Proposal, Quest, Strategy, strategies
from sanegnn.strategies.candidates import Past, Searcher, TrialAndError
from sanegnn.strategies.darts import Algorithm1, Paper
from sanegnn.strategies.evolution import Aging, Evolution
from sanegnn.strategies.hyperband import Brackets, Hyperband
from sanegnn.strategies.random import Random
from sanegnn.strategies.tpe import Bayesian, Tpe

__all__ = [
    "Aging",
    "Algorithm1",
    "Bayesian",
    "Brackets",
    "Evolution",
    "Hyperband",
    "Paper",
    "Past",
    "Proposal",
    "Quest",
    "Random",
    "Searcher",
    "Strategy",
    "Tpe",
    "TrialAndError",
    "strategies",
]
