"""Both sides of a comparison, ready to be timed: found equal, on the same task, under the same schedule."""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import cast

import torch

from bench.equal import check
from bench.stock import Raw, Stock, StockCourse, StockNet
from bench.timing import Action
from sanegnn.data import GraphData, datasets, load
from sanegnn.data.generate import planted_partition, random_graph
from sanegnn.data.store import data_root
from sanegnn.kernels import Graph
from sanegnn.nets import Net
from sanegnn.nets.supernet import MixedAggregator
from sanegnn.ops import Shape, initialise, node_ops
from sanegnn.seeds import Noise, derive
from sanegnn.settings import Setting
from sanegnn.space import Architecture, space
from sanegnn.strategies.course import Course
from sanegnn.strategies.darts import Algorithm1
from sanegnn.tasks.nodes import NodeSearch, NodeTask
from sanegnn.training.loop import learn

SPACE = space("paper", 3)
DEGREE = 20
"""The mean number of incoming edges of a node in the generated graphs."""


class Absent(Exception):
    """A dataset is not at hand."""


@cache
def dataset(name: str) -> NodeSearch:
    """The task of split 0 of a named dataset; "planted" is generated."""
    if name == "planted":
        return _task(planted_partition(0, nodes=1000, features=64))
    folder = data_root() / datasets[name].folder
    if not folder.is_dir():
        raise Absent(f"no raw files of {name} in {folder}: set SANEGNN_DATA to the folder that holds them")
    return _task(load(name))


def generated(edges: int, features: int = 32) -> NodeSearch:
    """A random graph of about so many directed edges."""
    return _task(random_graph(0, edges // DEGREE, edges // 2, features))


def _task(data: GraphData) -> NodeSearch:
    return NodeTask.of(data).without_test()


def course(task: NodeSearch, settings: Algorithm1) -> Course:
    """Algorithm 1 on sanegnn's supernet."""
    return Course(SPACE, task.ready(settings.scaling, "cpu"), settings, seed=0)


def stock_course(task: NodeSearch, settings: Algorithm1) -> StockCourse:
    """Algorithm 1 on the stock supernet."""
    return StockCourse(SPACE, task, settings, seed=0)


def searches(task: NodeSearch, settings: Algorithm1) -> tuple[Action, Action]:
    """A search epoch of either side: alpha step and weight step."""
    ours, theirs = course(task, settings), stock_course(task, settings)
    check(ours.net, cast("Stock", theirs.net), task.ready(settings.scaling, "cpu"))
    return ours.step, theirs.step


def trainings(task: NodeSearch, architecture: Architecture, setting: Setting) -> tuple[Action, Action]:
    """A training epoch of either side: forward, backward, Adam."""
    ready = task.ready(setting.scaling, "cpu")
    ours = Net(architecture, setting, ready.num_features, ready.num_outputs)
    theirs = StockNet(architecture, setting, Raw.of(task, setting.scaling))
    check(ours, theirs, ready)
    return training(ours, task, setting), training(theirs, task, setting)


def training(net: torch.nn.Module, task: NodeSearch, setting: Setting) -> Action:
    """One more epoch with every call."""
    ready, epochs = task.ready(setting.scaling, "cpu"), count()
    adam = torch.optim.Adam(net.parameters(), lr=setting.lr, weight_decay=setting.weight_decay, fused=True)
    return lambda: learn(net, ready, adam, Noise(derive(0, "epoch", next(epochs))))


def layer(graph: Graph, width: int) -> Action:
    """Forward and backward of all eleven aggregators of one mixed layer."""
    mixed = MixedAggregator([node_ops[name](Shape(width)) for name in SPACE.node_ops])
    initialise(mixed, 0)
    stream = torch.Generator().manual_seed(0)
    x = torch.randn(graph.num_nodes, width, generator=stream, requires_grad=True)
    gradient = torch.randn(graph.num_nodes, width, generator=stream)
    shares = torch.full((len(SPACE.node_ops),), 1 / len(SPACE.node_ops), requires_grad=True)
    leaves = (x, shares, *mixed.parameters())
    return lambda: torch.autograd.grad(mixed(x, graph, shares, None), leaves, gradient)
