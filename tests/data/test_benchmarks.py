import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sanegnn.data import GraphData, datasets, load, store
from sanegnn.data import pyg as pyg_module
from sanegnn.data.benchmarks import Benchmark
from sanegnn.data.generate import planted_partition
from sanegnn.errors import BadGraph, SaneError, UnknownName


def source_of(name):
    """What reads the raw files of a set."""
    return getattr(datasets[name].read, "__self__", None)


REAL = ("cora", "citeseer", "pubmed", "photo", "minesweeper")


@pytest.fixture
def shared_cora(dataset):
    """The folder of Cora's raw files, asked for before `home` hides it."""
    dataset("cora")
    return store.data_root() / "Cora" / "raw"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty cache folder and no data root."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SANEGNN_DATA", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    return tmp_path


@pytest.fixture
def offline(monkeypatch):
    """No name resolves."""

    def refuse(*args, **kwargs):
        raise OSError("no network here")

    monkeypatch.setattr("socket.getaddrinfo", refuse)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def tiny_root(tmp_path):
    """A data root with a small file in Minesweeper's layout, and what `load` must make of it."""
    raw = tmp_path / "root" / "Hetero" / "minesweeper" / "raw"
    raw.mkdir(parents=True)
    rng = np.random.default_rng(0)
    masks = np.eye(3, dtype=bool)[rng.integers(0, 3, (10, 30))]
    np.savez(
        raw / "minesweeper.npz",
        node_features=rng.random((30, 7)).astype(np.float32),
        node_labels=rng.integers(0, 2, 30),
        edges=np.stack([np.arange(29), np.arange(1, 30)], axis=1),
        train_masks=masks[..., 0], val_masks=masks[..., 1], test_masks=masks[..., 2],
    )  # fmt: skip
    return tmp_path / "root"


@pytest.fixture
def tiny(monkeypatch):
    """Minesweeper without its known numbers."""
    entry = datasets._entries["minesweeper"]
    free = Benchmark(entry.value.title, entry.value.read, entry.value.folder, entry.value.metric)
    monkeypatch.setitem(datasets._entries, "minesweeper", type(entry)("minesweeper", free, entry.source))


@pytest.mark.parametrize("name", REAL)
def test_real_sets_have_their_numbers(dataset, name):
    data = dataset(name)
    known = datasets[name].numbers
    assert (data.num_nodes, data.num_edges, data.num_features) == (
        known.nodes,
        2 * known.edges,
        known.features,
    )
    assert data.num_classes == known.classes
    assert len(known.checksum) == 8
    assert data.checksum.startswith(known.checksum)
    assert data.name == name
    assert data.metric == datasets[name].metric
    assert not data.directed
    again = dataset(name)
    assert (again.checksum, again.notes, again.public) == (data.checksum, data.notes, data.public)


def test_own_splits(dataset):
    cora = dataset("cora")
    assert cora.public == "public"
    assert cora.splits["public"].sizes == (140, 500, 1000)
    mines = dataset("minesweeper")
    assert list(mines.splits) == [f"public-{i}" for i in range(10)]
    assert mines.public == "public-0"
    assert mines.splits["public-3"].sizes == (5000, 2500, 2500)
    assert dataset("photo").splits == {}


def test_what_was_found_is_noted(dataset):
    assert dataset("citeseer").notes == ("48 isolated nodes",)
    assert dataset("cora").is_sparse
    assert not dataset("photo").is_sparse


@pytest.mark.parametrize("name", datasets)
def test_every_entry_is_described(name):
    known = datasets[name]
    assert known.title
    assert datasets.entry(name).source
    assert known.metric in {"accuracy", "micro_f1", "roc_auc", "hits@1"}
    assert not Path(known.folder).is_absolute()
    assert (known.folder == "") == (name == "digits" or name.startswith("planted-"))


@pytest.mark.parametrize("name", [name for name in datasets if hasattr(source_of(name), "kind")])
def test_every_folder_is_where_pyg_looks(name, home, offline):
    """Without a network PyG's class gets as far as its download, into the folder that the entry names."""
    source = source_of(name)
    seen = []

    def download(self):
        seen.append((Path(self.root), Path(self.raw_dir)))
        raise OSError("stop")

    import torch_geometric.datasets

    kind = getattr(torch_geometric.datasets, source.kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "download", download)
        with pytest.raises(SaneError, match="stop"):
            load(name, home / "root")
    root, raw = seen[0]
    assert raw.parts[-len(source.raw.parts) :] == source.raw.parts
    assert str(root).endswith(source.root)


def test_an_absent_set_is_named_and_nothing_is_left(home, offline):
    with pytest.raises(SaneError) as caught:
        load("texas", home / "root")
    for words in ("'texas'", str(home / "root" / "WebKB" / "texas" / "raw"), "SANEGNN_DATA", "--data-root"):
        assert words in str(caught.value)
    assert files(home) == ["tmp"]


def test_planetoid_downloads_in_another_way_and_leaves_nothing_either(home, monkeypatch):
    def refuse(*args):
        raise ConnectionError("no network\nhere")

    monkeypatch.setattr("torch_geometric.io.fs.cp", refuse)
    with pytest.raises(SaneError, match="ConnectionError: no network here"):
        load("cora", home / "root")
    assert files(home) == ["tmp"]


def test_a_download_is_put_in_place_whole(home, tiny, tiny_root, monkeypatch):
    import torch_geometric.datasets

    def download(self):
        for path in (tiny_root / "Hetero" / "minesweeper" / "raw").iterdir():
            shutil.copy(path, self.raw_dir)

    monkeypatch.setattr(torch_geometric.datasets.HeterophilousGraphDataset, "download", download)
    data = load("minesweeper", home / "new")
    assert data.num_nodes == 30
    assert files(home / "new") == files(tiny_root)
    assert files(home / "tmp") == []


def test_a_root_that_cannot_be_written_is_only_read(home, tiny, tiny_root):
    before = files(tiny_root)
    folders = [tiny_root, *(path for path in tiny_root.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        first = load("minesweeper", tiny_root)
        again = load("minesweeper", tiny_root)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert first.checksum == again.checksum
    assert (first.num_nodes, first.num_edges, len(first.splits)) == (30, 58, 10)
    assert files(tiny_root) == before
    assert len(files(home / "cache" / "sanegnn" / "processed")) == 1


def test_the_cleaned_graph_is_read_again_without_pyg(home, tiny, tiny_root, monkeypatch):
    first = load("minesweeper", tiny_root)
    monkeypatch.setattr(pyg_module.PyGSource, "_run", None)
    assert load("minesweeper", tiny_root).checksum == first.checksum


def test_other_raw_files_are_read_anew(home, tiny, tiny_root):
    first = load("minesweeper", tiny_root)
    path = tiny_root / "Hetero" / "minesweeper" / "raw" / "minesweeper.npz"
    with np.load(path) as arrays:
        changed = {**arrays, "node_labels": 1 - arrays["node_labels"]}
    np.savez(path, **changed)
    os.utime(path, ns=(1, 1))
    assert load("minesweeper", tiny_root).checksum != first.checksum


def test_a_spoiled_cache_is_made_anew(home, tiny, tiny_root):
    first = load("minesweeper", tiny_root)
    (kept,) = (home / "cache" / "sanegnn" / "processed").iterdir()
    kept.write_bytes(kept.read_bytes()[:200])
    assert load("minesweeper", tiny_root).checksum == first.checksum
    assert load("minesweeper", tiny_root).checksum == first.checksum


def test_a_cache_that_cannot_be_written_is_no_error(home, tiny, tiny_root):
    (home / "cache").write_text("a file where a folder should be")
    assert load("minesweeper", tiny_root).num_nodes == 30


def test_corrupt_raw_files_are_named(home, tiny, tiny_root):
    np.savez(tiny_root / "Hetero" / "minesweeper" / "raw" / "minesweeper.npz", node_labels=np.ones(3))
    with pytest.raises(BadGraph, match=r"raw files of minesweeper in .*/raw cannot be read .*corrupt"):
        load("minesweeper", tiny_root)
    assert files(home / "tmp") == []


@pytest.mark.parametrize("part", ["x", "graph", "test.index"])
def test_torn_raw_files_are_named(shared_cora, home, part):
    raw = home / "root" / "Cora" / "raw"
    shutil.copytree(shared_cora, raw, copy_function=shutil.copyfile)
    path = raw / f"ind.cora.{part}"
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(BadGraph, match="cora"):
        load("cora", home / "root")


def test_raw_files_that_are_not_complete_are_told(home, offline):
    raw = home / "root" / "WebKB" / "texas" / "raw"
    raw.mkdir(parents=True)
    (raw / "out1_graph_edges.txt").write_text("")
    with pytest.raises(SaneError, match=r"has only out1_graph_edges.txt, and the download failed"):
        load("texas", home / "root")
    assert files(raw) == ["out1_graph_edges.txt"]


def test_other_numbers_than_the_known_are_refused(home, tiny_root):
    with pytest.raises(BadGraph, match=r"nodes=30.* it must have .*nodes=10000"):
        load("minesweeper", tiny_root)


def test_an_unknown_name_suggests_the_near_one():
    with pytest.raises(UnknownName, match="did you mean 'citeseer'"):
        load("citesear")


def test_the_root_is_the_argument_then_the_variable_then_the_cache(home, monkeypatch):
    assert store.data_root() == home / "cache" / "sanegnn"
    monkeypatch.setenv("SANEGNN_DATA", str(home / "named"))
    assert store.data_root() == home / "named"
    assert store.data_root(home / "given") == home / "given"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert store.cache_home() == Path.home() / ".cache" / "sanegnn"


@pytest.mark.parametrize("sparse", [False, True])
def test_a_graph_survives_the_npz(tmp_path, sparse):
    base = planted_partition(0)
    x = np.where(base.x > 2.5, base.x, 0) if sparse else base.x
    weight = np.arange(1.0, base.num_edges + 1)
    data = GraphData.of({
        "x": x, "edges": base.edges, "y": [f"Klasse {k}" for k in base.y], "weight": weight,
        "splits": {"a/b": ([0], [1], [2])}, "public": "a/b", "metric": "macro_f1",
    })  # fmt: skip
    store.write_whole(tmp_path / "a.npz", lambda file: store.save_npz(file, data))
    with (tmp_path / "a.npz").open("rb") as file:
        again = store.load_npz(file)
    assert again.is_sparse == sparse
    assert (again.checksum, again.notes, again.name) == (data.checksum, data.notes, data.name)


def test_a_write_that_fails_leaves_nothing(tmp_path):
    (tmp_path / "a").write_text("old")

    def fail(file):
        file.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        store.write_whole(tmp_path / "a", fail)
    assert files(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_fresh_process_is_quiet_and_light(tiny_root, tmp_path):
    code = (
        "import sys, json, sanegnn.data as d; before = [m for m in ('torch', 'sklearn', 'torch_geometric') "
        "if m in sys.modules]\n"
        "try: d.load('minesweeper', sys.argv[1])\n"
        "except d.benchmarks.BadGraph as error: print(json.dumps([before, 'nodes=30' in str(error)]))"
    )
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    env.pop("PYTEST_CURRENT_TEST")
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tiny_root)],
        capture_output=True,
        text=True,
        env=env,
        check=True,
    )
    assert told.stderr == ""
    assert json.loads(told.stdout) == [[], True]
