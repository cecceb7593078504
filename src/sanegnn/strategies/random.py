"""Random search: every candidate is drawn from the whole space, each member as likely as another.

The paper's `Random` samples 200 architectures, trains each to convergence and keeps the best by
validation. Candidates are drawn without repetition here, so that none of the budget is spent twice. A
searcher has to beat this one on the same budget to be worth its name (Li, Talwalkar, UAI 2019).
"""

from __future__ import annotations

from sanegnn.space import Architecture
from sanegnn.strategies.base import strategies
from sanegnn.strategies.candidates import Past, Searcher, TrialAndError


@strategies.add("random", source="Li, Talwalkar: Random Search and Reproducibility for NAS, UAI 2019")
class Random(Searcher[TrialAndError]):
    """The best of architectures drawn at random, each trained to convergence."""

    knobs = TrialAndError

    def ask(self, past: Past, count: int) -> list[Architecture]:
        """Members of the space that were not drawn before."""
        return past.fresh(count, past.space.sample)
