"""Scaling: constants of one graph, used on another."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from sanegnn.errors import BadGraph, UnknownName
from sanegnn.kernels import Features
from sanegnn.kernels.scaling import SCALINGS, Scaling


def dense(seed=0, rows=40):
    return np.random.default_rng(seed).standard_normal((rows, 5)).astype(np.float32) * [1, 2, 3, 4, 0] + 3


def sparse(seed=0, rows=40):
    return sp.random_array((rows, 9), density=0.1, rng=np.random.default_rng(seed), dtype=np.float32)


@pytest.mark.parametrize("make", [dense, sparse])
@pytest.mark.parametrize("mode", SCALINGS)
def test_a_part_of_the_nodes_is_scaled_as_in_the_whole(mode, make):
    whole = make()
    scaling = Scaling.fit(Features.of(whole), mode)
    here = scaling(Features.of(whole)).to_dense()
    few = whole.tocsr()[3:9] if sp.issparse(whole) else whole[3:9]
    assert torch.equal(scaling(Features.of(few)).to_dense(), here[3:9])


@pytest.mark.parametrize("make", [dense, sparse])
@pytest.mark.parametrize("mode", SCALINGS)
def test_json_keeps_every_bit(mode, make):
    scaling = Scaling.fit(Features.of(make()), mode)
    assert Scaling.of(json.loads(json.dumps(scaling.table()))) == scaling


def test_standard_and_unit_by_hand():
    x = Features.of(np.array([[1.0, 3.0], [3.0, 3.0]], dtype=np.float32))
    assert x.scaled("standard").to_dense().tolist() == [[-1, 0], [1, 0]]
    assert torch.allclose(x.scaled("unit").to_dense(), torch.tensor([[0.5, 1.5], [1, 1]]))


def test_the_form_follows_the_fitted_graph():
    scaling = Scaling.fit(Features.of(sparse()), "standard")
    assert scaling.sparse
    full = Features.of(np.ones((4, 9), dtype=np.float32))
    assert not full.is_sparse
    assert scaling(full).is_sparse
    other = Scaling.fit(full, "standard")
    assert not other(Features.of(sparse())).is_sparse


def test_another_width_and_another_mode_are_refused():
    with pytest.raises(BadGraph, match="5 columns, but 9 were fitted"):
        Scaling.fit(Features.of(sparse()), "raw")(Features.of(dense()))
    with pytest.raises(UnknownName, match="feature scaling"):
        Scaling.fit(Features.of(dense()), "standart")
