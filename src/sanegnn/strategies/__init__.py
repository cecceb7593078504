"""Ways to find architectures."""

from sanegnn.strategies.autognn import AutoGnn
from sanegnn.strategies.base import Proposal, Quest, Strategy, strategies
from sanegnn.strategies.candidates import Past, Searcher, TrialAndError
from sanegnn.strategies.controlled import Controlled, Reinforced
from sanegnn.strategies.darts import Algorithm1, Paper
from sanegnn.strategies.evolution import Aging, Evolution
from sanegnn.strategies.graphnas import GraphNas, GraphNasWs
from sanegnn.strategies.hyperband import Brackets, Hyperband
from sanegnn.strategies.random import Random
from sanegnn.strategies.sharing import Shared
from sanegnn.strategies.tpe import Bayesian, Tpe

__all__ = [
    "Aging",
    "Algorithm1",
    "AutoGnn",
    "Bayesian",
    "Brackets",
    "Controlled",
    "Evolution",
    "GraphNas",
    "GraphNasWs",
    "Hyperband",
    "Paper",
    "Past",
    "Proposal",
    "Quest",
    "Random",
    "Reinforced",
    "Searcher",
    "Shared",
    "Strategy",
    "Tpe",
    "TrialAndError",
    "strategies",
]
