from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from sanegnn.data import Split, resolve, stratified
from sanegnn.data.generate import planted_partition
from sanegnn.errors import BadSplit

SIZES = {"cora": (1624, 542, 542), "citeseer": (1996, 665, 666), "pubmed": (11830, 3943, 3944)}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", SIZES)
def test_the_seeded_split_is_scikit_learns(dataset, name, seed):
    data = dataset(name)
    train, rest = train_test_split(
        np.arange(data.num_nodes), train_size=0.6, stratify=data.y, random_state=seed
    )
    val, test = train_test_split(rest, test_size=0.5, stratify=data.y[rest], random_state=seed)
    split = resolve(data, str(seed))
    assert split.sizes == SIZES[name]
    assert split.name == f"60/20/20 seed {seed}"
    for ours, theirs in zip((split.train, split.val, split.test), (train, val, test), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_only_labelled_nodes_are_split():
    y = np.where(np.arange(100) % 4 == 3, -1, np.arange(100) % 2)
    split = stratified(y, 0)
    together = np.sort(np.concatenate([split.train, split.val, split.test]))
    np.testing.assert_array_equal(together, np.flatnonzero(y >= 0))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(5, 30), min_size=1, max_size=6), st.integers(0, 1000))
def test_five_nodes_of_each_class_are_enough(counts, seed):
    y = np.repeat(np.arange(len(counts)), counts)
    split = stratified(y, seed).check(y)
    assert sum(split.sizes) == len(y)
    assert set(y[split.train]) == set(y)


def test_a_class_that_is_too_small_is_named():
    with pytest.raises(BadSplit, match=r"class 'rare' has 2 labelled nodes; .* needs 5"):
        stratified(np.repeat([0, 1], [50, 2]), 0, ("common", "rare"))
    with pytest.raises(BadSplit, match=r"class '1' has 1 labelled nodes"):
        stratified(np.repeat([0, 1], [50, 1]), 0)


def test_no_labels_no_split():
    with pytest.raises(BadSplit, match="no node has a label"):
        stratified(np.full(9, -1), 0)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([], [1], [2]), "train is empty"),
        (([0], [1], [1, 2]), "1 nodes are in val and in test, node 1"),
        (([0, 0], [1], [2]), "more than once"),
        (([-1], [1], [2]), "negative id -1"),
        (([[0]], [1], [2]), "flat array"),
        (([0.5], [1], [2]), "flat array"),
        (([True, False], [1], [2]), "flatnonzero"),
    ],
)
def test_bad_splits_are_named(parts, message):
    with pytest.raises(BadSplit, match=rf"split 'mine': .*{message}"):
        Split("mine", *map(np.asarray, parts))


def test_names_resolve():
    data = planted_partition(0)
    own = {name: Split(name, [0], [i], [9]) for i, name in enumerate(("public-0", "public-1"), start=1)}
    data = replace(data, splits=own, public="public-1")
    assert resolve(data, "public") is own["public-1"]
    assert resolve(data, "public-0") is own["public-0"]
    assert resolve(data, "3").name == "60/20/20 seed 3"


@pytest.mark.parametrize("text", ["public", "public-3", "", "-1", "1.5", "²", "99999999999"])
def test_unknown_splits_are_refused(text):
    with pytest.raises(BadSplit, match=r"planted-0 has no split .*seed such as 0"):
        resolve(planted_partition(0), text)
