import subprocess
import sys
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanegnn.seeds import Noise, derive, generator


def test_the_numbers_are_pinned():
    assert derive(0) == 4246866556266386882
    assert derive(0, "cora", "search", 3) == 2513611412209476420


def test_a_fresh_process_derives_the_same():
    code = "from sanegnn.seeds import derive; print(derive(7, 'cora', 'search', 3))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(out.stdout) == derive(7, "cora", "search", 3)


def test_paths_do_not_run_into_each_other():
    steps = ["a", "b", "ab", "1", 1, 12, 2, ""]
    paths = [(), *((one,) for one in steps), *product(steps, repeat=2), *product(steps, repeat=3)]
    seeds = {derive(seed, *path) for seed in (0, 1, 11) for path in paths}
    assert len(seeds) == 3 * len(paths)


@given(st.integers(0, 2**62), st.lists(st.text() | st.integers()))
def test_a_seed_fits_63_bits(seed, path):
    assert 0 <= derive(seed, *path) < 2**63


def test_another_place_does_not_shift_a_stream():
    before = generator(0, "run", 1).random(5)
    generator(0, "run", 0).random(3)
    assert np.array_equal(before, generator(0, "run", 1).random(5))
    assert not np.array_equal(before, generator(0, "run", 2).random(5))


def test_noise_has_places_of_its_own():
    noise = Noise(5)
    assert noise.at("layer", 1) == noise.at("layer", 1)
    assert len({noise.key, noise.at("layer", 1).key, noise.at("layer", 2).key, noise.at("stem").key}) == 4


def test_the_global_streams_are_left_alone():
    state = np.random.get_state()[1].copy()
    generator(3, "x").random(10)
    assert np.array_equal(state, np.random.get_state()[1])
