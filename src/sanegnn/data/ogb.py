"""OGB's sets of nodes, read from the files of their archives; the package ogb is not needed.

<data root>/ogbn_arxiv/raw/            edge.csv.gz, node-feat.csv.gz, node-label.csv.gz
<data root>/ogbn_arxiv/split/time/     train.csv.gz, valid.csv.gz, test.csv.gz
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.request import urlopen
from zipfile import BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from sanegnn.data import store
from sanegnn.data.base import GraphData
from sanegnn.data.pyg import PATIENCE, absent, brief
from sanegnn.data.splits import Split
from sanegnn.errors import BadGraph, SaneError

HOME = "http://snap.stanford.edu/ogb/data/nodeproppred"


@dataclass(frozen=True)
class OGBSource:
    """A set of OGB.

    Args:
        folder: where its files lie below the data root.
        archive: the file at OGB's address.
        split: the folder of its own split.
    """

    folder: str
    archive: str
    split: str

    @property
    def raw(self) -> PurePosixPath:
        """Where the raw files lie below the data root."""
        return PurePosixPath(self.folder, "raw")

    def read(self, name: str, root: Path) -> GraphData:
        """The cleaned graph, from the cache when its files are the same as before."""
        home = root / self.folder
        if not (root / self.raw).is_dir():
            self._fetch(name, home)
        key = store.fingerprint(name, home)
        kept = store.recall(key)
        if kept is not None:
            return kept
        data = GraphData.of(self._arrays(name, home), name)
        store.keep(key, data)
        return data

    def _arrays(self, name: str, home: Path) -> dict[str, Any]:
        """Features, edges, labels and OGB's split."""
        raw, split = home / "raw", home / "split" / self.split
        try:
            parts = [_table(split / f"{part}.csv.gz")[:, 0] for part in ("train", "valid", "test")]
            return {
                "x": _table(raw / "node-feat.csv.gz").astype(np.float32),
                "edges": _table(raw / "edge.csv.gz").T,
                "y": _table(raw / "node-label.csv.gz")[:, 0],
                "splits": {"public": Split("public", *parts)},
                "public": "public",
            }
        except (OSError, pa.ArrowException, ValueError) as error:
            raise BadGraph(
                f"the files of {name} in {home} cannot be read ({brief(error)}); they are corrupt or not "
                "complete: put them there anew"
            ) from error

    def _fetch(self, name: str, home: Path) -> None:
        """Put the content of OGB's archive in its place, as a whole or not at all."""
        try:
            home.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=home.parent, prefix=".ogb-") as passing:
                packed, folder = Path(passing, "archive.zip"), Path(passing, "content")
                with urlopen(f"{HOME}/{self.archive}", timeout=PATIENCE) as answer, packed.open("wb") as file:
                    shutil.copyfileobj(answer, file)
                with ZipFile(packed) as archive:
                    archive.extractall(folder)
                next(folder.glob("*/raw")).parent.rename(home)
        except (OSError, HTTPException, BadZipFile, StopIteration) as error:
            raise SaneError(absent(name, home / "raw", error)) from error


def _table(path: Path) -> npt.NDArray[Any]:
    """The numbers of a CSV file without a header, (rows, columns)."""
    bare = pa.csv.ReadOptions(autogenerate_column_names=True)
    table = pa.csv.read_csv(path, read_options=bare)
    return np.stack([column.to_numpy() for column in table.columns], axis=1)
