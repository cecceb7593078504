import numpy as np
import pytest
import torch

from sanegnn.kernels import matching
from sanegnn.kernels.matching import nearest, ranks


def embeddings(rows, width=5, seed=0):
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(seed))


def brute_force(left, right, queries):
    apart = np.abs(left.numpy()[:, None, :] - right.numpy()[None, :, :]).sum(2)
    forth = [sorted(apart[i]).index(apart[i, i]) + 1 for i in range(queries)]
    back = [sorted(apart[:, i]).index(apart[i, i]) + 1 for i in range(queries)]
    return forth, back


@pytest.mark.parametrize("block", [2**24, 7])
@pytest.mark.parametrize("rows", [(20, 20), (25, 31), (31, 25)])
def test_ranks_are_those_of_a_whole_table(block, rows, monkeypatch):
    monkeypatch.setattr(matching, "BLOCK", block * rows[1] if block < 100 else block)
    left, right = embeddings(rows[0]), embeddings(rows[1], seed=1)
    right[:20] = left[:20] + 0.8 * right[:20]
    forth, back = ranks(left, right, 20)
    assert (forth.tolist(), back.tolist()) == brute_force(left, right, 20)
    assert forth.max() > 1


def test_equal_rows_are_never_hits():
    forth, back = ranks(torch.ones(4, 3), torch.ones(4, 3), 4)
    assert forth.tolist() == back.tolist() == [4] * 4


def test_the_true_match_is_as_near_alone_as_in_a_block():
    left = embeddings(300, 400)
    forth, back = ranks(left, left.clone(), 300)
    assert forth.tolist() == back.tolist() == [1] * 300
    near = left + 1e-3 * embeddings(300, 400, seed=2)
    assert ranks(left, near, 300)[0].tolist() == [1] * 300


@pytest.mark.parametrize("block", [2**24, 3])
def test_nearest_are_those_of_a_whole_table(block, monkeypatch):
    monkeypatch.setattr(matching, "BLOCK", block)
    left, right = embeddings(9), embeddings(6, seed=1)
    apart = np.abs(left.numpy()[:, None, :] - right.numpy()[None, :, :]).sum(2)
    places, distances = nearest(left, right, 4)
    assert places.tolist() == apart.argsort(1)[:, :4].tolist()
    assert distances.numpy() == pytest.approx(np.sort(apart, 1)[:, :4])


def test_nearest_gives_no_more_than_there_are():
    assert nearest(embeddings(3), embeddings(2), 10)[0].shape == (3, 2)
    assert nearest(embeddings(0), embeddings(2), 10)[0].shape == (0, 2)
