"""What the saved model says of every judged node, written down for the report once the test was opened."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from sanegnn.bundle import Model, load
from sanegnn.bundle.calibration import temper
from sanegnn.data import GraphData, measures
from sanegnn.data.doctor import examine
from sanegnn.data.splits import Split
from sanegnn.errors import SealedTest
from sanegnn.nets import Inputs
from sanegnn.records import TestOpened
from sanegnn.reporting.evidence import FILE, PARTS, Array, Evidence
from sanegnn.seeds import derive, generator
from sanegnn.session import Session
from sanegnn.tasks import NodeTask

MOST = 1000
"""Nodes on the map; more are drawn by lot, class by class."""
NARROW = 30
"""Principal components that the map is made of."""
PERPLEXITY, STEPS = 30.0, 500


def testify(session: Session) -> None:
    """Write the evidence of a run whose test was opened and whose model is saved."""
    if not session.run.records(TestOpened):
        raise SealedTest("the test part is sealed: no evidence is written before it was opened")
    if (session.run.path / FILE).exists() or not isinstance(session.task, NodeTask):
        return
    model = load(session.run.path, session.bench.device)
    evidence(session.task, model, session.bench.seed).save(session.run.path)


def evidence(task: NodeTask, model: Model, seed: int) -> Evidence:
    """The evidence of a model on the nodes of a task."""
    graph, parts = task.data, task.parts()
    node = np.concatenate([parts[name].rows for name in PARTS])
    target = np.concatenate([parts[name].target for name in PARTS])
    part = np.repeat(np.arange(len(PARTS)), [len(parts[name].rows) for name in PARTS])
    odds = model.predict_proba(graph)[node]
    predicted = odds.argmax(1)
    calm = temper(odds, model.temperature)
    entry = np.arange(len(node))
    mapped = sample(target, MOST, seed)
    about = _about(task, model) | {"ids": [str(one) for one in graph.ids[node[mapped]]]}
    return Evidence(
        about,
        node.astype(np.int64),
        part.astype(np.uint8),
        target.astype(np.int32),
        predicted.astype(np.int32),
        odds[entry, predicted].astype(np.float32),
        calm[entry, predicted].astype(np.float32),
        measures.degrees(graph)[node].astype(np.int32),
        alike(graph)[node].astype(np.float32),
        mapped.astype(np.int64),
        flat(embedded(model, graph)[node[mapped]], seed).astype(np.float32),
    )


def _about(task: NodeTask, model: Model) -> dict[str, Any]:
    graph = task.data
    found = measures.homophily(graph)
    findings = examine(graph, Split(task.split, *(part.rows for part in task.parts().values())))
    return {
        "dataset": graph.name,
        "split": task.split,
        "metric": task.metric,
        "classes": list(task.classes),
        "temperature": model.temperature,
        "nets": len(model.states),
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "homophily": found.edge if found else None,
        "findings": [[one.level, one.code, one.sentence] for one in findings],
    }


def alike(graph: GraphData) -> Array:
    """Of every node (N,) the share of its labelled in-neighbours that are of its class; NaN without such."""
    source, end = graph.edges
    told = (graph.y[source] >= 0) & (graph.y[end] >= 0)
    same = told & (graph.y[source] == graph.y[end])
    counts = [np.bincount(end[which], minlength=graph.num_nodes) for which in (same, told)]
    return np.where(counts[1] > 0, counts[0] / np.maximum(counts[1], 1), np.nan)


def embedded(model: Model, graph: GraphData) -> Array:
    """z (N, D) of the first net: what its head reads."""
    inputs = Inputs.of(model.graph(graph), model.scaling, model.device)
    with torch.no_grad():
        states: Array = model.nets[0].embed(inputs).cpu().numpy()
    return states


def sample(target: Array, most: int, seed: int) -> Array:
    """Places of at most `most` entries, from every class as many as its share, in their order."""
    rng, wanted = generator(seed, "map"), min(1.0, most / max(1, len(target)))
    drawn = []
    for one in np.unique(target):
        own = np.flatnonzero(target == one)
        drawn.append(rng.choice(own, size=max(1, int(wanted * len(own))), replace=False))
    return np.sort(np.concatenate(drawn)) if drawn else np.empty(0, dtype=np.int64)


def flat(states: Array, seed: int) -> Array:
    """A map (M, 2) where near states are near: t-SNE (van der Maaten, Hinton, 2008) of main components."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    wide = min(NARROW, *states.shape)
    if len(states) < 8 or np.ptp(states) == 0:
        return np.zeros((len(states), 2))
    lot = derive(seed, "map", "tsne") % 2**32
    perplexity = min(PERPLEXITY, (len(states) - 1) / 3)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant states have no principal components; the map shows it
        narrow = PCA(wide, random_state=lot).fit_transform(states.astype(np.float64))
        made = TSNE(perplexity=perplexity, init="pca", max_iter=STEPS, random_state=lot, n_jobs=1)
        placed: Array = made.fit_transform(narrow)
    centred: Array = placed - placed.mean(0)
    return centred
