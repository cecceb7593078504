"""What an alignment leaves: the embeddings of the entities that are not linked yet, and their matches.

model/
    manifest.json            version and checksums
    model.json               architecture, dataset, metric, split, scores, versions
    entities.json            the entities' names, those of the first graph first
    vectors.safetensors      their embeddings; distances are L1
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from safetensors.numpy import load, save

from sanegnn.bundle import files
from sanegnn.bundle.model import models
from sanegnn.kernels.matching import nearest


@dataclass(frozen=True, eq=False)
class Matches:
    """Entities of two graphs in one space.

    Args:
        architecture: the text of the nets that embedded them.
        entities: what they are called (M,), those of the first graph first.
        first: how many are in the first graph.
        vectors: their embeddings (M, D).
        about: dataset, metric, split, scores and versions.
        device: where distances are computed.
    """

    architecture: str
    entities: npt.NDArray[Any]
    first: int
    vectors: npt.NDArray[np.float32] = field(repr=False)
    about: Mapping[str, Any] = field(default_factory=dict, repr=False)
    device: str = "cpu"

    def table(self, top: int = 10) -> Any:
        """The `top` nearest entities of the other graph for every entity, a row each, as an Arrow table.

        The score of a match is 1 / (1 + distance).
        """
        names, vectors = np.split(self.entities, [self.first]), np.split(self.vectors, [self.first])
        sides = [self._side(number, names, vectors, top) for number in (0, 1)]
        return pa.concat_tables(sides)

    def _side(self, number: int, names: list[Any], vectors: list[Any], top: int) -> Any:
        left, right = (torch.as_tensor(vectors[side], device=self.device) for side in (number, 1 - number))
        places, apart = (found.cpu().numpy() for found in nearest(left, right, top))
        most = places.shape[1]
        return pa.table(
            {
                "graph": np.full(places.size, number + 1),
                "entity": pa.array(np.repeat(names[number], most).tolist(), pa.string()),
                "rank": np.tile(np.arange(1, most + 1), len(places)),
                "match": pa.array(names[1 - number][places.ravel()].tolist(), pa.string()),
                "distance": apart.ravel(),
                "score": 1 / (1 + apart.ravel()),
            }
        )

    def save(self, folder: Path | str) -> None:
        """Write it into `folder`, as a whole or not at all."""
        told = {"task": "alignment", "architecture": self.architecture, "first": self.first}
        content = {
            "model.json": files.as_json({**told, "about": dict(self.about)}),
            "entities.json": files.as_json({"entities": self.entities.tolist()}),
            "vectors.safetensors": save({"vectors": np.ascontiguousarray(self.vectors)}),
        }
        files.write(Path(folder), content, str(self.about.get("versions", {}).get("sanegnn", "")))


@models.add("alignment")
def _matches(content: Mapping[str, bytes], table: Mapping[str, Any], device: str) -> Matches:
    entities = np.array(json.loads(content["entities.json"])["entities"], dtype=str)
    vectors = load(content["vectors.safetensors"])["vectors"]
    return Matches(table["architecture"], entities, table["first"], vectors, table["about"], device)
