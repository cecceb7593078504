"""Where datasets lie, and the cleaned graphs kept so that raw files are read once.

<data root>/<folder>/raw/          the raw files as PyG lays them out; may be read-only
~/.cache/sanegnn/processed/*.npz   cleaned graphs, keyed by their raw files; may be deleted
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sanegnn.data.base import GraphData
from sanegnn.data.splits import PARTS, Split
from sanegnn.errors import BadGraph

T = TypeVar("T")
LAYOUT = 1
Arrays = dict[str, npt.NDArray[Any]]


def cache_home() -> Path:
    """The folder for what can be made again: `$XDG_CACHE_HOME/sanegnn`, or `~/.cache/sanegnn`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sanegnn"


def data_root(root: Path | str | None = None) -> Path:
    """The folder that holds the datasets: the argument, else `SANEGNN_DATA`, else the cache folder."""
    return Path(root or os.environ.get("SANEGNN_DATA") or cache_home()).expanduser().absolute()


def fingerprint(name: str, raw: Path) -> str:
    """A name for what the raw files under `raw` give: their place, sizes and times, and who reads them."""
    files = sorted(path for path in raw.rglob("*") if path.is_file())
    facts: list[object] = [LAYOUT, version("torch-geometric"), name, str(raw.resolve())]
    facts += [(str(path.relative_to(raw)), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return f"{name}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}"


def recall(key: str) -> GraphData | None:
    """The cleaned graph kept under `key`; None when there is none that can be read."""
    return recalled(key, load_npz)


def recalled(key: str, read: Callable[[BinaryIO], T]) -> T | None:
    """What was kept under `key`; None when there is nothing that can be read."""
    try:
        with (_processed(key)).open("rb") as file:
            return read(file)
    except (OSError, ValueError, KeyError, BadZipFile, BadGraph):
        return None


def keep(key: str, data: GraphData) -> None:
    """Keep a cleaned graph for the next time."""
    kept(key, lambda file: save_npz(file, data))


def kept(key: str, write: Callable[[BinaryIO], None]) -> None:
    """Keep something for the next time; a cache that cannot be written is no error."""
    path = _processed(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, write)
    except OSError:
        return


def _processed(key: str) -> Path:
    return cache_home() / "processed" / f"{key}.npz"


def write_whole(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write a file under a passing name and put it in place when it is complete."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def save_npz(file: BinaryIO, data: GraphData) -> None:
    """Write a graph as arrays and one JSON text; nothing in it is pickled."""
    arrays: Arrays = {"edges": data.edges, "y": data.y}
    if isinstance(data.x, np.ndarray):
        arrays["x"] = data.x
    else:
        arrays |= {"x.data": data.x.data, "x.indices": data.x.indices, "x.indptr": data.x.indptr}
    if data.weight is not None:
        arrays["weight"] = data.weight
    for key, split in data.splits.items():
        arrays |= {f"split/{key}/{part}": getattr(split, part) for part in PARTS}
    words = {
        "name": data.name,
        "classes": data.classes,
        "shape": data.x.shape,
        "splits": {key: split.name for key, split in data.splits.items()},
        "metric": data.metric,
        "public": data.public,
        "notes": data.notes,
    }
    np.savez(file, words=np.array(json.dumps(words)), **arrays)  # type: ignore[arg-type]


def load_npz(file: BinaryIO) -> GraphData:
    """The graph that `save_npz` wrote."""
    with np.load(file, allow_pickle=False) as arrays:
        words = json.loads(str(arrays["words"]))
        if "x" in arrays:
            x = arrays["x"]
        else:
            x = sp.csr_array(
                (arrays["x.data"], arrays["x.indices"], arrays["x.indptr"]), shape=tuple(words["shape"])
            )
        splits = {
            key: Split(name, *(arrays[f"split/{key}/{part}"] for part in PARTS))
            for key, name in words["splits"].items()
        }
        return GraphData(
            words["name"], x, arrays["edges"], arrays["y"], tuple(words["classes"]),
            arrays.get("weight"),
            splits, words["metric"], words["public"], tuple(words["notes"]),
        )  # fmt: skip
