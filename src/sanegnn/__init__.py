"""Bring a graph, get the graph neural network designed for it."""
