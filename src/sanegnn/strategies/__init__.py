"""Ways to find architectures."""

from sanegnn.strategies.annealed import Annealing, Cooling
from sanegnn.strategies.autognn import AutoGnn
from sanegnn.strategies.base import Proposal, Quest, Strategy, strategies
from sanegnn.strategies.candidates import Past, Searcher, TrialAndError
from sanegnn.strategies.controlled import Controlled, Reinforced
from sanegnn.strategies.darts import Algorithm1, Paper
from sanegnn.strategies.evolution import Aging, Evolution
from sanegnn.strategies.gdas import Gdas, Gumbel
from sanegnn.strategies.graphnas import GraphNas, GraphNasWs
from sanegnn.strategies.hyperband import Brackets, Hyperband
from sanegnn.strategies.perturbed import Perturb, Perturbation
from sanegnn.strategies.random import Random
from sanegnn.strategies.sane import Guided, Sane
from sanegnn.strategies.sharing import Shared
from sanegnn.strategies.shrinking import Shrink, Shrinkage
from sanegnn.strategies.spos import SinglePath, Spos
from sanegnn.strategies.stable import Patience, Stopping
from sanegnn.strategies.tpe import Bayesian, Tpe

__all__ = [
    "Aging",
    "Algorithm1",
    "Annealing",
    "AutoGnn",
    "Bayesian",
    "Brackets",
    "Controlled",
    "Cooling",
    "Evolution",
    "Gdas",
    "GraphNas",
    "GraphNasWs",
    "Guided",
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
    "Reinforced",
    "Sane",
    "Searcher",
    "Shared",
    "Shrink",
    "Shrinkage",
    "SinglePath",
    "Spos",
    "Stopping",
    "Strategy",
    "Tpe",
    "TrialAndError",
    "strategies",
]
