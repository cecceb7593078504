"""The model of tasks over nodes, and how the model of any task is read from its folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from safetensors.torch import load as tensors_of

from sanegnn.bundle import calibration, files
from sanegnn.bundle.saved import Saved
from sanegnn.data import GraphData
from sanegnn.data.prepare import Preprocessing
from sanegnn.errors import BadModel
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets import Inputs
from sanegnn.registry import Registry
from sanegnn.settings import Setting
from sanegnn.space import Architecture

Array = np.ndarray[Any, np.dtype[Any]]

Reader = Callable[[Mapping[str, bytes], Mapping[str, Any], str], Any]
"""From the files of a model, the table in `model.json` and a device to the model."""

models: Registry[Reader] = Registry("kind of model")
"""How the model of each task is read, by the task's name."""


@dataclass(frozen=True, eq=False)
class Model(Saved):
    """What `fit` and `train` leave, and what `sanegnn.load` gives back: classes, or labels, of nodes."""

    task: ClassVar[str] = "nodes"

    def predict_proba(self, data: Any, calibrated: bool = False) -> Array:
        """Class probabilities (N, C) of every node: the mean over the nets, calibrated if asked for."""
        inputs = Inputs.of(self.graph(data), self.scaling, self.device)
        to_odds = torch.sigmoid if self.several else partial(torch.softmax, dim=1)
        with torch.no_grad():
            odds = torch.stack([to_odds(net(inputs)) for net in self.nets]).mean(0)
        probabilities: Array = odds.cpu().numpy()
        return self.tempered(probabilities) if calibrated else probabilities

    def tempered(self, odds: Array) -> Array:
        """Calibrated probabilities (N, C)."""
        if not self.several:
            return calibration.temper(odds, self.temperature)
        return calibration.temper(calibration.paired(odds), self.temperature)[:, 1].reshape(odds.shape)

    def predict(self, data: Any) -> Array:
        """The most probable class (N,) of every node; which labels it has (N, C) if it may have several."""
        if self.several:
            return self.predict_proba(data) > 0.5
        predicted: Array = np.asarray(self.classes)[self.predict_proba(data).argmax(1)]
        return predicted

    def calibrated_on(self, graphs: Sequence[GraphData], rows: Array | None = None) -> Model:
        """The same model with the temperature that these nodes ask for: `rows`, or all that have a label."""
        odds = np.concatenate([self.predict_proba(one) for one in graphs])
        y = np.concatenate([one.y for one in graphs])
        if self.several:
            odds, y = calibration.paired(odds), y.ravel()
        chosen = np.flatnonzero(y >= 0) if rows is None else rows
        return replace(self, temperature=calibration.fit(odds[chosen], y[chosen]))


M = TypeVar("M", bound=Saved)


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


def model_of(kind: type[M], content: Mapping[str, bytes], table: Mapping[str, Any], device: str) -> M:
    """A model of that kind from its files."""
    prepared = content.get("preprocessing.json")
    return kind(
        Architecture.parse(table["architecture"]),
        Setting.of(table["setting"]),
        [tensors_of(content[f"net-{place}.safetensors"]) for place in range(table["nets"])],
        Scaling.of(json.loads(content["scaling.json"])),
        tuple(table["classes"]),
        Preprocessing.of(json.loads(prepared)) if prepared else None,
        table["undirected"],
        table["temperature"],
        table.get("several", False),
        table.get("head", "linear"),
        table["about"],
        device,
    )


models.add(Model.task)(partial(model_of, Model))
