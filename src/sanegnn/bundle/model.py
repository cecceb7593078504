"""A trained model: the nets of one architecture and all that a prediction needs besides the graph.

model/
    manifest.json           version and checksums
    model.json              architecture, setting, classes, metric, split, scores, versions, temperature
    scaling.json            constants that scale the features, of the training graph
    preprocessing.json      constants of every column, where the graph came from tables
    net-0.safetensors ...   weights, a file for every retraining; a prediction is the mean of theirs
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load as tensors_of
from safetensors.torch import save as bytes_of
from torch import Tensor

from sanegnn.bundle import calibration, files
from sanegnn.data import GraphData
from sanegnn.data.prepare import Preprocessing
from sanegnn.data.tables import of as read_files
from sanegnn.data.tables import read as read_tables
from sanegnn.errors import BadGraph, BadModel
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets import Inputs, Net
from sanegnn.registry import Registry
from sanegnn.settings import Setting, Tables
from sanegnn.space import Architecture

Array = np.ndarray[Any, np.dtype[Any]]

Reader = Callable[[Mapping[str, bytes], Mapping[str, Any], str], Any]
"""From the files of a model, the table in `model.json` and a device to the model."""

models: Registry[Reader] = Registry("kind of model")
"""How the model of each task is read, by the task's name."""


@dataclass(frozen=True, eq=False)
class Model:
    """What `fit` and `train` leave, and what `sanegnn.load` gives back.

    Args:
        architecture: of every net.
        setting: of every net.
        states: the weights of each net.
        scaling: of the input features, with the constants of the training graph.
        classes: the names of the classes.
        preprocessing: how tables become features; None where the graph was an object or a named dataset.
        undirected: whether the reverse of every edge is added.
        temperature: of the calibrated confidence, fitted on the validation nodes.
        about: dataset, metric, split, scores and versions.
        device: where predictions are computed.
    """

    architecture: Architecture
    setting: Setting
    states: Sequence[Mapping[str, Tensor]] = field(repr=False)
    scaling: Scaling = field(repr=False)
    classes: tuple[str, ...]
    preprocessing: Preprocessing | None = field(default=None, repr=False)
    undirected: bool = False
    temperature: float = 1.0
    about: Mapping[str, Any] = field(default_factory=dict)
    device: str = "cpu"

    @cached_property
    def nets(self) -> list[Net]:
        """One net for every retraining."""
        return [self._net(state) for state in self.states]

    def _net(self, state: Mapping[str, Tensor]) -> Net:
        net = Net(self.architecture, self.setting, self.scaling.width, len(self.classes))
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
            found = GraphData.of(data)
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

    def predict_proba(self, data: Any, calibrated: bool = False) -> Array:
        """Class probabilities (N, C) of every node: the mean over the nets, calibrated if asked for."""
        inputs = Inputs.of(self.graph(data), self.scaling, self.device)
        with torch.no_grad():
            odds = torch.stack([torch.softmax(net(inputs), dim=1) for net in self.nets]).mean(0)
        probabilities: Array = odds.cpu().numpy()
        return calibration.temper(probabilities, self.temperature) if calibrated else probabilities

    def predict(self, data: Any) -> Array:
        """The most probable class (N,) of every node."""
        predicted: Array = np.asarray(self.classes)[self.predict_proba(data).argmax(1)]
        return predicted

    def calibrated_on(self, data: GraphData, rows: Array, target: Array) -> Model:
        """The same model with the temperature that these labelled nodes ask for."""
        temperature = calibration.fit(self.predict_proba(data)[rows], target)
        return Model(**{**_fields(self), "temperature": temperature})

    def save(self, folder: Path | str) -> None:
        """Write the model into `folder`, as a whole or not at all."""
        about = {
            "task": "nodes",
            "architecture": str(self.architecture),
            "setting": self.setting.table(),
            "classes": list(self.classes),
            "nets": len(self.states),
            "undirected": self.undirected,
            "temperature": self.temperature,
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


def _fields(model: Model) -> dict[str, Any]:
    return {name: getattr(model, name) for name in Model.__dataclass_fields__}


def load(path: Path | str, device: str = "cpu") -> Any:
    """The model in a folder, `runs/<name>/model` or the run's own; refused when damaged or too new."""
    folder = Path(path)
    if not (folder / files.MANIFEST).exists() and (folder / "model").is_dir():
        folder = folder / "model"
    content = files.read(folder)
    try:
        table = json.loads(content["model.json"])
        return models[table.get("task", "nodes")](content, table, device)
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(f"{folder} holds something that this program does not understand: {error}") from error


@models.add("nodes")
def _model(content: Mapping[str, bytes], table: Mapping[str, Any], device: str) -> Model:
    prepared = content.get("preprocessing.json")
    return Model(
        Architecture.parse(table["architecture"]),
        Setting.of(table["setting"]),
        [tensors_of(content[f"net-{place}.safetensors"]) for place in range(table["nets"])],
        Scaling.of(json.loads(content["scaling.json"])),
        tuple(table["classes"]),
        Preprocessing.of(json.loads(prepared)) if prepared else None,
        table["undirected"],
        table["temperature"],
        table["about"],
        device,
    )
