import os
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared" / "data"


def pytest_configure(config):
    # PyG scripts a class while it is imported, and torch deprecates that.
    config.addinivalue_line("filterwarnings", "ignore:`torch.jit.script` is deprecated:DeprecationWarning")


@pytest.fixture(scope="session", autouse=True)
def places(tmp_path_factory):
    """Real data from beside the repository where they are; a cache of the session's own."""
    patch = pytest.MonkeyPatch()
    if "SANEGNN_DATA" not in os.environ and SHARED.is_dir():
        patch.setenv("SANEGNN_DATA", str(SHARED))
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def dataset(places):
    """Load a named dataset, or skip the test where its raw files are not at hand."""
    from sanegnn.data import datasets, load
    from sanegnn.data.store import data_root

    def fetch(name):
        folder = data_root() / datasets[name].folder
        if datasets[name].folder and not folder.is_dir():
            pytest.skip(f"no raw files of {name} in {folder}")
        return load(name)

    return fetch
