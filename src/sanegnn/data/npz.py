"""The common layout of attributed graphs as .npz (Shchur et al., Pitfalls of GNN evaluation, 2018).

adj_data, adj_indices, adj_indptr, adj_shape        the adjacency as CSR
attr_data, attr_indices, attr_indptr, attr_shape    the features as CSR, or attr_matrix as they are
labels                                              a number or word for every node
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp

from sanegnn.data.base import GraphData
from sanegnn.errors import BadGraph


def read_npz(path: Path) -> GraphData:
    """The graph in such a file; arrays of Python objects (names, say) are passed over, never unpickled."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {"edges": _matrix(arrays, "adj"), "x": _matrix(arrays, "attr"), "y": _labels(arrays)}
    except OSError as error:
        raise BadGraph(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, BadZipFile, EOFError) as error:
        raise BadGraph(f"{path} is not an attributed graph as .npz: {error}") from error
    if found["edges"] is None:
        raise BadGraph(
            f"{path} holds no adjacency: adj_data, adj_indices, adj_indptr and adj_shape are needed"
        )
    return GraphData.of({key: value for key, value in found.items() if value is not None}, path.stem)


def _matrix(arrays: Any, name: str) -> Any:
    """The CSR matrix of that name, or the plain one."""
    if f"{name}_matrix" in arrays:
        return arrays[f"{name}_matrix"]
    if f"{name}_data" not in arrays:
        return None
    data, indices, indptr, shape = (
        arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr", "shape")
    )
    return sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))


def _labels(arrays: Any) -> Any:
    if "labels" in arrays:
        return arrays["labels"]
    matrix = _matrix(arrays, "labels")
    return None if matrix is None else matrix.toarray().argmax(1)
