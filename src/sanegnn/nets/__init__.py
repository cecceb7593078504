"""Networks over the operations: the derived net of one architecture, the supernet of a whole space."""

from sanegnn.nets.backbone import Inputs
from sanegnn.nets.derived import Net, inherit, widths
from sanegnn.nets.ensemble import Ensemble, mean_chances, mean_odds
from sanegnn.nets.heads import heads
from sanegnn.nets.supernet import Choice, Gated, Supernet, mixable

__all__ = [
    "Choice",
    "Ensemble",
    "Gated",
    "Inputs",
    "Net",
    "Supernet",
    "heads",
    "inherit",
    "mean_chances",
    "mean_odds",
    "mixable",
    "widths",
]
