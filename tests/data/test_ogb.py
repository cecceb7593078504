"""OGB's layout, in files of the same form as OGB's own."""

import gzip
import io
import zipfile

import numpy as np
import pytest

from sanegnn.data import load, ogb
from sanegnn.errors import BadGraph, SaneError

EDGES = np.array([[0, 1], [1, 2], [2, 3], [4, 0], [3, 5]])
X = np.round(np.random.default_rng(0).standard_normal((6, 4)), 3)
Y = np.array([[0], [1], [0], [1], [2], [2]])
PARTS = {"train": [[0], [1], [4]], "valid": [[2]], "test": [[3], [5]]}


def content():
    """The files of an archive by their names."""
    tables = {"raw/edge": EDGES, "raw/node-feat": X, "raw/node-label": Y}
    tables |= {f"split/time/{part}": np.array(rows) for part, rows in PARTS.items()}
    rows = {
        name: "".join(",".join(map(str, row)) + "\n" for row in table.tolist())
        for name, table in tables.items()
    }
    return {f"{name}.csv.gz": gzip.compress(text.encode()) for name, text in rows.items()}


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "root"


def laid(root):
    for name, text in content().items():
        path = root / "ogbn_arxiv" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def test_a_set_of_ogb_is_a_graph_with_its_split(root):
    laid(root)
    for _ in range(2):  # from the files, then from the cache
        data = load("ogbn-arxiv", root)
        assert np.allclose(data.x if isinstance(data.x, np.ndarray) else data.x.toarray(), X)
        assert sorted(map(tuple, data.edges.T.tolist())) == sorted(map(tuple, EDGES.tolist()))
        assert data.y.tolist() == Y[:, 0].tolist()
        assert data.public == "public"
        assert data.splits["public"].val.tolist() == [2]
        assert data.directed


def test_an_archive_is_fetched_and_put_in_place(root, monkeypatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in content().items():
            archive.writestr(f"arxiv/{name}", text)
    asked = []
    monkeypatch.setattr(
        ogb, "urlopen", lambda address, timeout: asked.append(address) or io.BytesIO(packed.getvalue())
    )
    assert load("ogbn-arxiv", root).num_nodes == 6
    assert asked == ["http://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip"]
    assert [path.name for path in root.iterdir()] == ["ogbn_arxiv"]


@pytest.mark.parametrize("answer", [b"no archive", None])
def test_an_absent_set_is_named_and_nothing_is_left(root, monkeypatch, answer):
    def opened(address, timeout):
        if answer is None:
            raise OSError("no network here")
        return io.BytesIO(answer)

    monkeypatch.setattr(ogb, "urlopen", opened)
    with pytest.raises(SaneError, match=r"'ogbn-arxiv'.*is not there.*--data-root"):
        load("ogbn-arxiv", root)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("name", ["raw/node-feat.csv.gz", "split/time/valid.csv.gz"])
def test_torn_files_are_named(root, name):
    laid(root)
    (root / "ogbn_arxiv" / name).write_bytes(b"\x1f\x8b torn")
    with pytest.raises(BadGraph, match=r"the files of ogbn-arxiv .* cannot be read"):
        load("ogbn-arxiv", root)
