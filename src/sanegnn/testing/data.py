"""What every dataset and every task promises."""

from __future__ import annotations

import copy
import math
import pickle
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sanegnn.data import GraphData, resolve
from sanegnn.errors import SealedTest
from sanegnn.nets import Net
from sanegnn.seeds import Noise
from sanegnn.settings import SCALINGS, Setting
from sanegnn.space import Architecture
from sanegnn.tasks import Batch, Finished, Ready, SearchTask, Task, metrics
from sanegnn.tasks.alignment import LinkBatch
from sanegnn.testing.examples import require


def check_dataset(data: GraphData) -> None:
    """Every promise of a graph that a loader gives."""
    for contract in (holds_plain_arrays, holds_clean_edges, holds_known_labels, splits_its_labels):
        contract(data)
    require(copy.copy(data).checksum == data.checksum, "a copy has another checksum")
    require(data.metric in metrics, f"its metric {data.metric!r} is not registered")


def holds_plain_arrays(data: GraphData) -> None:
    """Features (N, F) float32, edges (2, E) int64, labels (N,) int64, weights (E,) float32; all finite."""
    nodes = data.num_nodes
    values = data.x if isinstance(data.x, np.ndarray) else data.x.data
    require(nodes > 0 and data.num_features > 0, "there are no nodes or no features")
    require(values.dtype == np.float32, f"features are {values.dtype}, not float32")
    require(bool(np.isfinite(values).all()), "some feature is not finite")
    require(data.edges.dtype == np.int64 and data.edges.shape[0] == 2, "edges are not (2, E) int64")
    require(data.y.dtype == np.int64 and data.y.shape == (nodes,), "labels are not (N,) int64")
    if data.weight is not None:
        require(data.weight.shape == (data.num_edges,), "there is not one weight for each edge")
        require(bool(np.isfinite(data.weight).all()), "some edge weight is not finite")


def holds_clean_edges(data: GraphData) -> None:
    """Edges name nodes, are sorted by source and target, and hold no self-loop and none twice."""
    source, target = data.edges
    if not data.num_edges:
        return
    require(data.edges.min() >= 0 and data.edges.max() < data.num_nodes, "an edge names a node out of range")
    require(not bool((source == target).any()), "there is a self-loop")
    keys = source * data.num_nodes + target
    require(bool((np.diff(keys) > 0).all()), "edges are not sorted, or one is there twice")


def holds_known_labels(data: GraphData) -> None:
    """Labels are places in `classes` or -1; there are two classes or more, each with a node."""
    require(data.num_classes >= 2, f"{data.num_classes} class: there is nothing to tell apart")
    require(data.y.min() >= -1 and data.y.max() < data.num_classes, "a label is no place in classes")
    absent = sorted(set(range(data.num_classes)) - set(data.y.tolist()))
    require(not absent, f"no node has the classes {absent}")


def splits_its_labels(data: GraphData) -> None:
    """Its own splits name labelled nodes; the public one is among them; seeds split and repeat."""
    for split in data.splits.values():
        split.check(data.y)
    require(
        data.public is None or data.public in data.splits, f"no split of its own is named {data.public!r}"
    )
    once, again = resolve(data, "0"), resolve(data, "0")
    for part in ("train", "val", "test"):
        require(np.array_equal(getattr(once, part), getattr(again, part)), f"seed 0 gave two {part} parts")


def check_task(task: Task) -> None:
    """Every promise of a task, of its sealed half too."""
    sealed = task.without_test()
    for contract in (
        tells_its_names,
        gives_batches,
        keeps_its_batches,
        descends_its_loss,
        keeps_what_it_made,
    ):
        contract(task)
        contract(sealed)
    seals_its_test(sealed)
    seals_its_test(pickle.loads(pickle.dumps(sealed)))
    opens_its_test(task)
    leaves_a_model(task)


def tells_its_names(task: SearchTask) -> None:
    """Name, split and metric stand beside every score."""
    for field in ("name", "split", "metric"):
        require(bool(getattr(task, field)), f"the task has no {field}")


def gives_batches(task: SearchTask) -> None:
    """Training and validation have batches under every scaling, and no node is in both."""
    for features in SCALINGS:
        ready = task.ready(features, "cpu")
        for part in ("train", "val"):
            batches = ready.batches(part)
            require(len(batches) > 0, f"{part} has no batch under {features!r} features")
            for batch in batches:
                require(len(scored(batch)) > 0, f"a batch of {part} scores nothing")
    disjoint(task.ready("raw", "cpu"), ("train", "val"))


def scored(batch: Batch) -> list[Any]:
    """What a batch is scored by: linked entities, joined pairs of nodes, or the nodes it asks for."""
    inputs = batch.inputs
    if isinstance(batch, LinkBatch):
        return [tuple(link) for link in batch.links.T.tolist()]
    if inputs.pairs is not None:
        joined = inputs.pairs[:, batch.target > 0].sort(dim=0).values
        return [tuple(pair) for pair in joined.T.tolist()]
    return list(range(inputs.graph.num_nodes)) if inputs.rows is None else inputs.rows.tolist()


def disjoint(ready: Ready, parts: Sequence[str]) -> None:
    """Nothing of the same graph is scored in two parts, and no edge tells of a pair that is held out."""
    seen: dict[tuple[int, Any], str] = {}
    for part in parts:
        for batch in ready.batches(part):
            for one in scored(batch):
                other = seen.setdefault((id(batch.inputs.graph), one), part)
                require(other == part, f"{one} is in {other} and in {part}")
            if part != "train" and batch.inputs.pairs is not None:
                hides(batch)


def hides(batch: Batch) -> None:
    """No message goes along a pair that is to be predicted."""
    edges = {tuple(sorted(edge)) for edge in batch.inputs.graph.edge_index.T.tolist()}
    told = edges & set(scored(batch))
    require(not told, f"messages go along {len(told)} of the pairs that are held out")


def keeps_its_batches(task: SearchTask) -> None:
    """The same noise gives the same training batches, and any noise as many; what is scored stays."""
    ready = task.ready("raw", "cpu")
    one, again, other = (ready.batches("train", Noise(key)) for key in (1, 1, 2))
    for first, second in zip(one, again, strict=True):
        require(torch.equal(first.target, second.target), "the same noise gave two batches")
        require(_kept_pairs([first]) == _kept_pairs([second]), "the same noise gave two samples of pairs")
    require(len(one) == len(other) == len(ready.batches("train")), "the number of batches changes")
    held = [ready.batches("val", Noise(key)) for key in (1, 2)]
    require(_kept_pairs(held[0]) == _kept_pairs(held[1]), "what validation is scored by depends on noise")


def _kept_pairs(batches: Sequence[Batch]) -> list[Any]:
    """The pairs of all batches, in any order."""
    return sorted(str(None if one.inputs.pairs is None else one.inputs.pairs.tolist()) for one in batches)


def descends_its_loss(task: SearchTask) -> None:
    """The loss is finite and has a gradient at the outputs of its batch; scores are finite numbers."""
    ready = task.ready("unit", "cpu")
    for part in ("train", "val"):
        outputs = []
        for batch in ready.batches(part):
            output = untrained(ready)(batch.inputs).detach().requires_grad_()
            loss = ready.loss(output, batch)
            require(bool(loss.isfinite()), f"the loss of {part} is {float(loss.detach())}")
            (slope,) = torch.autograd.grad(loss, output)
            require(bool(slope.any()), f"the loss of {part} has no gradient")
            outputs.append(output.detach())
            require(
                ready.together([outputs[-1]] * 2).shape[0] == len(outputs[-1]),
                "two nets together lose outputs",
            )
        require(math.isfinite(ready.score(outputs, part)), f"the score of {part} is not finite")


def untrained(ready: Ready) -> Net:
    """A small net with the outputs and the head that the task asks for."""
    sizes = (ready.num_features, ready.num_outputs)
    pool = None if ready.batches("train")[0].inputs.segments is None else "sum"
    design = Architecture(("gcn",), pool=pool)
    return Net(design, Setting(hidden=8, heads=1), *sizes, head=ready.head).eval()


def keeps_what_it_made(task: SearchTask) -> None:
    """Tensors are made once for a scaling and a device, and are not shipped to workers."""
    require(task.ready("unit", "cpu") is task.ready("unit", "cpu"), "the tensors are made twice")
    again: Any = pickle.loads(pickle.dumps(task))
    ready = again.ready("unit", "cpu")
    require(ready.num_outputs == task.ready("unit", "cpu").num_outputs, "a shipped task has other outputs")


def seals_its_test(sealed: SearchTask) -> None:
    """On the sealed task the test part is not an attribute, and asking for it is refused."""
    require(not hasattr(sealed, "test"), "the sealed task has an attribute `test`")
    try:
        sealed.ready("unit", "cpu").batches("test")
    except SealedTest:
        return
    raise AssertionError("the sealed task gave the batches of the test part")


def opens_its_test(task: Task) -> None:
    """The whole task has test batches that share no row with the other parts."""
    ready = task.ready("raw", "cpu")
    require(len(ready.batches("test")) > 0, "the task has no test batch")
    disjoint(ready, ("train", "val", "test"))
    require(set(task.sizes) == {"train", "val", "test"}, f"the sizes are those of {sorted(task.sizes)}")
    require(min(task.sizes.values()) > 0, "a part is empty")


def leaves_a_model(task: Task) -> None:
    """What it makes of trained nets can be written."""
    ready = task.ready("unit", "cpu")
    net, about = untrained(ready), {"dataset": task.name}
    finished = Finished(net.architecture, net.setting, [net.state_dict()], about)
    with tempfile.TemporaryDirectory() as folder:
        task.model(finished).save(Path(folder) / "model")
        require(any((Path(folder) / "model").iterdir()), "the model left no file")
