"""The rivals of a search: networks that people designed, and whoever else takes part in a comparison."""

from sanegnn.baselines.contender import Clock, Contender, Lane, Trained, contenders
from sanegnn.baselines.designed import Designed
from sanegnn.baselines.gcnalign import GcnAlign
from sanegnn.baselines.human import Design, designs
from sanegnn.baselines.jape import Jape
from sanegnn.baselines.policygnn import PolicyGnn
from sanegnn.baselines.pooled import FOR_NODES
from sanegnn.baselines.searching import Searching

__all__ = [
    "FOR_NODES",
    "Clock",
    "Contender",
    "Design",
    "Designed",
    "GcnAlign",
    "Jape",
    "Lane",
    "PolicyGnn",
    "Searching",
    "Trained",
    "contenders",
    "designs",
]
