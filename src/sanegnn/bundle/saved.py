"""A trained model: the nets of one architecture and all that a prediction needs besides the graph.

model/
    manifest.json           version and checksums
    model.json              architecture, setting, classes, metric, split, scores, versions, temperature
    scaling.json            constants that scale the features, of the training graph
    preprocessing.json      constants of every column, where the graph came from tables
    net-0.safetensors ...   weights, a file for every retraining; a prediction is the mean of theirs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from safetensors.torch import save as bytes_of
from torch import Tensor

from sanegnn.bundle import files
from sanegnn.data import GraphData
from sanegnn.data.folders import read_again
from sanegnn.data.graphset import GraphSet
from sanegnn.data.prepare import Preprocessing
from sanegnn.data.tables import of as read_files
from sanegnn.data.tables import read as read_tables
from sanegnn.errors import BadGraph
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets import Net
from sanegnn.settings import Setting, Tables
from sanegnn.space import Architecture


@dataclass(frozen=True, eq=False)
class Saved:
    """What a model of any task holds: nets of one architecture, and how graphs become what they read.

    Args:
        architecture: of every net.
        setting: of every net.
        states: the weights of each net.
        scaling: of the input features, with the constants of the training graph.
        classes: the names of the classes.
        preprocessing: how tables become features; None where the graph was an object or a named dataset.
        undirected: whether the reverse of every edge is added.
        temperature: of the calibrated confidence, fitted on the validation nodes.
        several: whether a node may have several of the classes, each with a probability of its own.
        head: of every net.
        about: dataset, metric, split, scores and versions.
        device: where predictions are computed.
    """

    task: ClassVar[str]
    """The task by whose name it is read again."""
    things: ClassVar[str] = "nodes"
    """What it predicts for."""

    architecture: Architecture
    setting: Setting
    states: Sequence[Mapping[str, Tensor]] = field(repr=False)
    scaling: Scaling = field(repr=False)
    classes: tuple[str, ...]
    preprocessing: Preprocessing | None = field(default=None, repr=False)
    undirected: bool = False
    temperature: float = 1.0
    several: bool = False
    head: str = "linear"
    about: Mapping[str, Any] = field(default_factory=dict)
    device: str = "cpu"

    @cached_property
    def nets(self) -> list[Net]:
        """One net for every retraining."""
        return [self._net(state) for state in self.states]

    @property
    def num_outputs(self) -> int:
        """One for every class."""
        return len(self.classes)

    def _net(self, state: Mapping[str, Tensor]) -> Net:
        sizes = (self.scaling.width, self.num_outputs)
        net = Net(self.architecture, self.setting, *sizes, head=self.head)
        net.load_state_dict(state)
        return net.to(self.device).eval()

    def read(self, nodes: Any, edges: Any, name: str | None = None) -> GraphData:
        """A graph from tables, their columns made into features as those of the training graph were."""
        if self.preprocessing is None:
            raise BadGraph(
                f"the model was trained on {self.about.get('dataset')!r}, which did not come from tables: "
                "give it a graph with the same features, not tables"
            )
        return read_tables(nodes, edges, name=name, preprocessing=self.preprocessing)

    def graph(self, data: Any) -> GraphData:
        """Whatever holds a graph, as the model reads it."""
        if isinstance(data, Tables):
            if self.preprocessing is None:
                return self.read(data.nodes, data.edges)
            found = read_files(data, preprocessing=self.preprocessing)
        else:
            found = data if isinstance(data, GraphData) else GraphData.of(data, edgeless=True)
        if self.preprocessing and found.source and found.source.preprocessing != self.preprocessing:
            raise BadGraph(
                f"the columns of {found.name} were fitted anew; read its tables with model.read(nodes, edges)"
            )
        if found.num_features != self.scaling.width:
            raise BadGraph(
                f"the model was fitted on {self.scaling.width:,} features, but {found.name} has "
                f"{found.num_features:,}"
            )
        return found.undirected() if self.undirected else found

    @property
    def constants(self) -> Mapping[str, float]:
        """What a kind of model adds to `model.json`."""
        return {}

    def graphs(self, data: Any) -> Any:
        """One graph or a set of them, or a folder of tables of such a set, as the model reads them."""
        if isinstance(data, str | Path) and self.preprocessing is not None:
            folder = Path(data)
            return GraphSet(
                folder.name, tuple(map(self.graph, read_again(folder, self.preprocessing))), self.classes
            )
        if isinstance(data, GraphSet):
            return replace(data, graphs=tuple(map(self.graph, data.graphs)))
        return self.graph(data)

    def save(self, folder: Path | str) -> None:
        """Write the model into `folder`, as a whole or not at all."""
        about = {
            "task": self.task,
            "architecture": str(self.architecture),
            "setting": self.setting.table(),
            "classes": list(self.classes),
            "nets": len(self.states),
            "undirected": self.undirected,
            "temperature": self.temperature,
            "several": self.several,
            "head": self.head,
            **self.constants,
            "about": dict(self.about),
        }
        content = {"model.json": files.as_json(about), "scaling.json": files.as_json(self.scaling.table())}
        if self.preprocessing is not None:
            content["preprocessing.json"] = files.as_json(self.preprocessing.table())
        for place, state in enumerate(self.states):
            content[f"net-{place}.safetensors"] = bytes_of(
                {name: value.detach().cpu().contiguous() for name, value in state.items()}
            )
        files.write(Path(folder), content, str(self.about.get("versions", {}).get("sanegnn", "")))
