import statistics
import subprocess
import sys

import numpy as np
import pytest

from sanegnn.data import datasets, load, stratified
from sanegnn.data.planted import SETTING, planted
from sanegnn.ops import node_ops
from sanegnn.settings import Training
from sanegnn.space import Architecture, Recipe, SearchSpace, presets
from sanegnn.tasks import NodeTask
from sanegnn.testing import check_dataset
from sanegnn.training.jobs import Job, do

PAPER: SearchSpace = presets["paper"](3)

PAIRS = {
    "planted-sum": ("gin,gin,gin | skip,skip,skip | concat", "sage_mean,sage_mean,sage_mean"),
    "planted-mean": ("sage_mean,sage_mean,sage_mean | skip,skip,skip | concat", "gcn,gcn,gcn"),
    "planted-max": ("sage_max,sage_max,sage_max | skip,skip,skip | concat", "sage_mean,sage_mean,sage_mean"),
    "planted-match": ("gat_cos,gat_cos,gat_cos | skip,skip,skip | concat", "gat,gat,gat"),
    "planted-ring": (
        "sage_mean,sage_mean,sage_mean | zero,skip,zero | concat",
        "sage_mean,sage_mean,sage_mean | skip,zero,zero | concat",
    ),
    "planted-path": (
        "sage_mean,sage_mean,sage_mean | skip,skip,skip | concat",
        "sage_mean,sage_mean,sage_mean | skip,skip,zero | concat",
    ),
    "planted-mixture": (
        "sage_max,sage_mean,sage_mean | skip,skip,skip | concat",
        "gcn,gcn,gcn | skip,skip,skip | concat",
    ),
}
"""An architecture that holds the answer, and one that does not."""


def neighbours(data):
    """The list of every node's neighbours."""
    found = [[] for _ in range(data.num_nodes)]
    for source, target in data.edges.T.tolist():
        found[target].append(source)
    return found


def marks(data):
    """The first column as numbers of Python."""
    return data.x[:, 0].astype(float).tolist()


def count(data):
    s = marks(data)
    return [sum(s[u] for u in near) for near in neighbours(data)]


def mean(data):
    s = marks(data)
    return [statistics.fmean(s[u] for u in near) - s[v] / 4 for v, near in enumerate(neighbours(data))]


def extreme(data):
    rows = data.x[:, :4].astype(float).tolist()

    def c(values):
        return values[0] + values[1] - values[2] - values[3]

    tops = [[max(rows[u][j] for u in near) for j in range(4)] for near in neighbours(data)]
    return [c(top) - c(rows[v]) / 4 for v, top in enumerate(tops)]


def ring(data):
    s, near = marks(data), neighbours(data)
    return [sum(s[w] for u in near[v] for w in near[u] if w != v) - 2 * s[v] for v in range(data.num_nodes)]


def path(data):
    s, near = marks(data), neighbours(data)

    def end(before, here, steps):
        return s[here] if not steps else sum(end(here, u, steps - 1) for u in near[here] if u != before)

    return [sum(end(v, u, 2) for u in near[v]) for v in range(data.num_nodes)]


def mixture(data):
    score = extreme(data)
    return [sum(score[u] for u in near) for near in neighbours(data)]


def match(data):
    keys = 2 * data.x[:, :8].astype(float) - 1
    best = [max(near, key=lambda u: keys[u] @ keys[v]) for v, near in enumerate(neighbours(data))]
    return data.x[best, 8].tolist()


SCORES = {
    "planted-sum": count,
    "planted-mean": mean,
    "planted-max": extreme,
    "planted-match": match,
    "planted-ring": ring,
    "planted-path": path,
    "planted-mixture": mixture,
}


def test_every_planted_graph_is_looked_at_here():
    assert list(SCORES) == list(PAIRS) == list(planted)


@pytest.mark.parametrize("name", planted)
def test_it_is_a_dataset_with_a_name(name):
    data = load(name)
    check_dataset(data)
    assert data.name == name
    assert not data.directed
    assert data.checksum == planted[name].make(0).checksum != planted[name].make(1).checksum
    assert datasets[name].numbers.checksum


def test_a_fresh_process_makes_the_same():
    code = "from sanegnn.data import load; print(*(load(name).checksum for name in {!r}))"
    out = subprocess.run(
        [sys.executable, "-c", code.format(list(planted))], capture_output=True, text=True, check=True
    )
    assert out.stdout.split() == [load(name).checksum for name in planted]


@pytest.mark.parametrize("name", planted)
def test_the_classes_are_balanced(name):
    data = planted[name].make(3)
    shares = np.bincount(data.y[data.y >= 0]) / (data.y >= 0).sum()
    assert shares == pytest.approx([0.5, 0.5], abs=0.05)
    assert sum(stratified(data.y, 0).sizes) == (data.y >= 0).sum()


@pytest.mark.parametrize("name", planted)
def test_the_label_is_the_planted_function(name):
    data = planted[name].make(3)
    known = data.y >= 0
    score, y = np.array(SCORES[name](data))[known], data.y[known]
    wrong = (score > np.median(score)) != y if name != "planted-match" else (score > 0.5) != y
    ties = 0.02 if name == "planted-match" else np.mean(np.isclose(score, np.median(score), atol=1e-6))
    assert wrong.mean() <= ties


@pytest.mark.parametrize("name", planted)
def test_every_scaling_of_the_features_gives_the_same(name):
    x = planted[name].make(0).x
    half = x.shape[1] // 2
    assert x[:, :half] + x[:, half:] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", planted)
def test_the_answer_can_be_drawn_and_missed(name):
    steps = planted[name].steps
    assert all(op in node_ops for step in steps for op in step)
    rng = np.random.default_rng(0)
    held = sum(PAPER.sample(rng) in Recipe(steps) for _ in range(2000)) / 2000
    assert 0.001 < held < 0.6


def trained(data, text, training, seed=0):
    """The validation score of a training."""
    job = Job(Architecture.parse(text), SETTING, training, seed)
    return do(NodeTask.of(data).without_test(), job).validation


@pytest.mark.parametrize("name", PAIRS)
def test_the_planted_design_wins(name):
    right, wrong = PAIRS[name]
    recipe, data = Recipe(planted[name].steps), planted[name].make(0)
    assert Architecture.parse(right) in recipe
    assert Architecture.parse(wrong) not in recipe
    short = Training(100, 30)
    assert trained(data, right, short) > trained(data, wrong, short) + 0.05


def alike(op):
    """Three layers of one aggregator, all states kept."""
    return f"{op},{op},{op} | skip,skip,skip | concat"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", planted)
def test_the_planted_family_leads_the_median_aggregator(name):
    data, training = planted[name].make(0), Training(200, 40)
    plain = [trained(data, alike(op), training) for op in PAPER.node_ops]
    right = trained(data, PAIRS[name][0], training)
    assert right > statistics.median(plain) + 0.05
