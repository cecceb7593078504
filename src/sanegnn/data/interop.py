"""From the objects that people have to raw arrays; nothing is checked or cleaned here.

PyG and torch objects are told by their shape and module, so that neither library is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from sanegnn.data.base import GraphData, Source
from sanegnn.data.splits import PARTS, Split
from sanegnn.errors import BadGraph

WAYS = "give a GraphData, a PyG Data, a tuple (x, edges, y), or a mapping with those keys"
KEYS = {"x", "edges", "edge_index", "y", "weight", "edge_weight", "splits", "classes", "num_nodes", "name"}
KEYS |= {"metric", "public", "notes", *(f"{part}_mask" for part in PARTS)}


@dataclass
class Raw:
    """A graph as it came: any of the arrays may be missing or wrong."""

    name: str = "graph"
    x: Any = None
    edges: Any = None
    y: Any = None
    weight: Any = None
    num_nodes: int | None = None
    classes: tuple[str, ...] = ()
    masks: dict[str, Any] = field(default_factory=dict)
    splits: dict[str, Split] = field(default_factory=dict)
    metric: str = "accuracy"
    public: str | None = None
    notes: tuple[str, ...] = ()
    source: Source | None = None


def read(obj: Any, name: str | None = None) -> Raw:
    """The raw arrays of `obj`, by the first reader that knows its kind."""
    for fits, reader in READERS:
        if fits(obj):
            raw = reader(obj)
            raw.name = name or raw.name
            return raw
    raise BadGraph(f"cannot read a graph from {type(obj).__name__}; {WAYS}")


def is_sparse(value: Any) -> bool:
    """Whether a value is a SciPy sparse matrix or array."""
    return bool(sp.issparse(value))


def numpy_of(value: Any) -> Any:
    """A NumPy array or SciPy matrix of whatever array `value` is: torch tensors, frames, lists."""
    if value is None or is_sparse(value) or isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach"):
        return _from_torch(value)
    try:
        return np.asarray(value)
    except ValueError as error:
        raise BadGraph(f"a {type(value).__name__} is not an array: {error}") from error


def _from_torch(tensor: Any) -> Any:
    """A dense or sparse torch tensor, from whichever device, as float32 where it is a short float."""
    import torch

    tensor = tensor.detach().cpu()
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    if tensor.layout is torch.strided:
        return tensor.numpy()
    coo = tensor.to_sparse_coo().coalesce()
    return sp.coo_array((coo.values().numpy(), tuple(coo.indices().numpy())), shape=tuple(coo.shape))


def _graph_data(data: GraphData) -> Raw:
    return Raw(
        data.name, data.x, data.edges, data.y, data.weight, data.num_nodes, data.classes,
        splits=dict(data.splits), metric=data.metric, public=data.public, notes=data.notes,
        source=data.source,
    )  # fmt: skip


def _mapping(table: Mapping[str, Any]) -> Raw:
    strange = sorted(set(table) - KEYS)
    if strange:
        raise BadGraph(f"unknown key {strange[0]!r}; known: {', '.join(sorted(KEYS))}")
    masks = {part: numpy_of(table[f"{part}_mask"]) for part in PARTS if table.get(f"{part}_mask") is not None}
    return Raw(
        name=table.get("name", "graph"),
        x=numpy_of(table.get("x")),
        edges=numpy_of(_first(table, "edges", "edge_index")),
        y=numpy_of(table.get("y")),
        weight=numpy_of(_first(table, "weight", "edge_weight")),
        num_nodes=table.get("num_nodes"),
        classes=tuple(map(str, table.get("classes", ()))),
        masks=masks,
        splits={key: _split(key, value) for key, value in dict(table.get("splits", {})).items()},
        metric=table.get("metric", "accuracy"),
        public=table.get("public"),
        notes=tuple(table.get("notes", ())),
    )


def _first(table: Mapping[str, Any], *keys: str) -> Any:
    return next((table[key] for key in keys if table.get(key) is not None), None)


def _split(name: str, value: Any) -> Split:
    """A Split as it is, or one of three arrays of ids."""
    if isinstance(value, Split):
        return value
    if isinstance(value, Sequence) and len(value) == 3:
        return Split(name, *(numpy_of(ids) for ids in value))
    raise BadGraph(f"split {name!r} is {type(value).__name__}; give a Split or three arrays of node ids")


def _triple(parts: Sequence[Any]) -> Raw:
    if not 2 <= len(parts) <= 3:
        raise BadGraph(f"a tuple of {len(parts)} is not a graph; give (x, edges, y) or (x, edges)")
    return _mapping(dict(zip(("x", "edges", "y"), parts, strict=False)))


def _pyg(data: Any) -> Raw:
    """A PyG `Data`: its tensors, masks and, where `edge_index` is missing, a plain refusal."""
    if data.edge_index is None and "adj_t" in data:
        raise BadGraph("the Data has adj_t but no edge_index; undo ToSparseTensor, or set data.edge_index")
    kept = {key: data[key] for key in ("x", "edge_index", "y", "edge_weight", "num_nodes") if key in data}
    raw = _mapping({**kept, **{f"{part}_mask": getattr(data, f"{part}_mask", None) for part in PARTS}})
    if getattr(data, "edge_attr", None) is not None and raw.weight is None:
        raw.notes += ("edge_attr is not used; set edge_weight for one weight per edge",)
    return raw


def _pyg_dataset(dataset: Any) -> Raw:
    if len(dataset) != 1:
        raise BadGraph(f"{dataset} holds {len(dataset):,} graphs; give one of them, such as dataset[0]")
    return read(dataset[0])


def _refuse_hetero(data: Any) -> Raw:
    raise BadGraph(
        f"{type(data).__name__} has several kinds of nodes or edges; "
        "data.to_homogeneous() makes one graph of them, once their features have one width"
    )


def _is_pyg(*kinds: str) -> Callable[[Any], bool]:
    """Whether an object's class is, or comes from, PyG's class of one of these names."""

    def fits(obj: Any) -> bool:
        family = [base for base in type(obj).__mro__ if base.__module__.startswith("torch_geometric.")]
        return any(base.__name__ in kinds for base in family)

    return fits


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda obj: isinstance(obj, kinds)


def _networkx(graph: Any) -> Raw:
    """A NetworkX graph; the labels are in the node attribute label, y or class."""
    from sanegnn.data.tables import read as read_tables

    attributes = {key for _, data in graph.nodes(data=True) for key in data}
    label = next((key for key in ("label", "y", "class") if key in attributes), None)
    return _graph_data(read_tables(graph, label=label, name=graph.name or None))


def _is_networkx(obj: Any) -> bool:
    return any(base.__module__.startswith("networkx.") for base in type(obj).__mro__)


READERS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Raw]], ...] = (
    (_is(GraphData), _graph_data),
    (_is_pyg("HeteroData"), _refuse_hetero),
    (_is_pyg("Data"), _pyg),
    (_is_pyg("Dataset"), _pyg_dataset),
    (_is_networkx, _networkx),
    (_is(Mapping), _mapping),
    (_is(tuple, list), _triple),
)
