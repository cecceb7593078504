"""The trained model as a folder: weights, constants and class names, and what predicts with them."""

from sanegnn.bundle.graphs import GraphsModel
from sanegnn.bundle.links import LinkModel
from sanegnn.bundle.matches import Matches
from sanegnn.bundle.model import Model, load

__all__ = ["GraphsModel", "LinkModel", "Matches", "Model", "load"]
