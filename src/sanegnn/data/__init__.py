"""Graphs in: checked, cleaned, split, by name or from the user's own objects."""

from sanegnn.data.base import Data, GraphData
from sanegnn.data.benchmarks import datasets, load
from sanegnn.data.splits import Split, resolve, stratified
from sanegnn.data.wholegraphs import WholeGraphs

__all__ = ["Data", "GraphData", "Split", "WholeGraphs", "datasets", "load", "resolve", "stratified"]
