"""Ways to find architectures."""

from sanegnn.strategies.base import Proposal, Quest, Strategy, strategies
from sanegnn.strategies.darts import Algorithm1, Paper

__all__ = ["Algorithm1", "Paper", "Proposal", "Quest", "Strategy", "strategies"]
