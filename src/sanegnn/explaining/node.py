"""The neighbours, edges and features that made the prediction of one node.

Two questions are asked, each answered by shares that add up. *Features*: on the whole graph, the scaled
features of all nodes grow from zero to what they are, and the probability of the predicted class goes from
what the graph alone says to what the model says; every entry of X gets its share of that way. *Edges*: with
all features in place, every message grows from zero to what it is.

For the edges that are shown it is measured as well what the model says of the graph without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from sanegnn.bundle import Model
from sanegnn.data import GraphData
from sanegnn.explaining.around import Around, around
from sanegnn.explaining.gradients import integrated


@dataclass(frozen=True)
class EdgeShare:
    """An edge, its share of the probability, and p(class) in the graph without it.

    In an undirected graph both directions are one edge.
    """

    source: Any
    target: Any
    share: float
    without: float


@dataclass(frozen=True)
class NodeShare:
    """A node, how many edges away it is, and the share of its features."""

    id: Any
    distance: int
    share: float


@dataclass(frozen=True)
class FeatureShare:
    """A feature, its share over all nodes, and what of it comes from the node's own value."""

    feature: str
    share: float
    own: float


@dataclass(frozen=True)
class Explanation:
    """What made a prediction; shares are in probability, the largest first whatever their sign.

    Args:
        node: its id.
        predicted: the class.
        probability: p(class), as the model gives it.
        without_features: p(class) if all scaled features were zero.
        without_edges: p(class) if no message came.
        edges, nodes, features: the largest shares.
        missed: how far the shares of all features, and of all edges, are from adding up.
    """

    node: Any
    predicted: str
    probability: float
    without_features: float
    without_edges: float
    edges: tuple[EdgeShare, ...]
    nodes: tuple[NodeShare, ...]
    features: tuple[FeatureShare, ...]
    missed: tuple[float, float]

    def table(self) -> dict[str, Any]:
        """The explanation as JSON keeps it."""
        return asdict(self)


def explain_node(model: Model, data: Any, node: Any, top: int = 10) -> Explanation:
    """Why the model predicts what it predicts for the node of that id; `top` shares of each kind."""
    read = model.graph(data)
    one = around(model, read, node)
    by_entry = integrated(one.chance, one.x)
    by_edge = integrated(one.chance_under, torch.ones(one.edges.shape[1]))
    with torch.no_grad():
        whole, featureless = float(one.chance()), float(one.chance(torch.zeros_like(one.x)))
        edgeless = float(one.chance_under(torch.zeros(one.edges.shape[1])))
    return Explanation(
        one.ids[one.place],
        model.classes[one.target],
        whole,
        featureless,
        edgeless,
        _edges(one, by_edge, top, read.directed),
        _nodes(one, by_entry.sum(1), top),
        _features(one, by_entry, names(model, read), top),
        (whole - featureless - float(by_entry.sum()), whole - edgeless - float(by_edge.sum())),
    )


def names(model: Model, data: GraphData) -> Sequence[str]:
    """What the features are called: as in the tables, else by their numbers."""
    known = model.preprocessing.names if model.preprocessing else ()
    return known if len(known) == data.num_features else [f"feature {f}" for f in range(data.num_features)]


def _largest(shares: Tensor, top: int) -> list[int]:
    """The places of the largest shares, whatever their sign; none of zero."""
    order = shares.abs().argsort(descending=True, stable=True)[:top]
    return [place for place in order.tolist() if shares[place] != 0]


def _edges(one: Around, shares: Tensor, top: int, directed: bool) -> tuple[EdgeShare, ...]:
    """Edges by their shares; the two directions of an undirected edge are added."""
    ends = one.edges if directed else one.edges.sort(dim=0).values
    key = ends[0] * len(one.ids) + ends[1]
    found, group = torch.unique(key, return_inverse=True)
    total = shares.new_zeros(found.numel()).index_add(0, group, shares)
    rows = []
    for place in _largest(total, top):
        source, target = divmod(int(found[place]), len(one.ids))
        nearer = one.distances[source] < one.distances[target] and not directed
        pair = (target, source) if nearer else (source, target)
        names = [one.ids[end] for end in pair]
        rows.append(EdgeShare(names[0], names[1], float(total[place]), one.without(group == place)))
    return tuple(rows)


def _nodes(one: Around, shares: Tensor, top: int) -> tuple[NodeShare, ...]:
    """Nodes by the shares of their features."""
    places = _largest(shares, top)
    return tuple(NodeShare(one.ids[place], one.distances[place], float(shares[place])) for place in places)


def _features(one: Around, shares: Tensor, names: Sequence[str], top: int) -> tuple[FeatureShare, ...]:
    """Features by their shares over all nodes."""
    total, own = shares.sum(0), shares[one.place]
    places = _largest(total, top)
    return tuple(FeatureShare(names[place], float(total[place]), float(own[place]) + 0.0) for place in places)
