"""The trained model as a folder: weights, constants and class names, and what predicts with them."""

from sanegnn.bundle.links import LinkModel
from sanegnn.bundle.matches import Matches
from sanegnn.bundle.model import Model, load

__all__ = ["LinkModel", "Matches", "Model", "load"]
