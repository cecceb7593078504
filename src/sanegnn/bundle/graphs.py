"""The model of whole graphs: the class of each, or a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from sanegnn.bundle import calibration
from sanegnn.bundle.model import Array, model_of, models
from sanegnn.bundle.saved import Saved
from sanegnn.data import WholeGraphs
from sanegnn.data.labelled import read_again
from sanegnn.errors import BadGraph
from sanegnn.kernels import Segments
from sanegnn.nets import Inputs

TOGETHER = 256
"""Graphs that are predicted at once."""


@dataclass(frozen=True, eq=False)
class GraphsModel(Saved):
    """What `fit --task graphs` leaves; without classes it predicts a number for each graph.

    Args:
        mean: of the numbers of the training graphs.
        deviation: of these.
    """

    task: ClassVar[str] = "graphs"
    things: ClassVar[str] = "graphs"

    mean: float = 0.0
    deviation: float = 1.0

    @property
    def num_outputs(self) -> int:
        """One for every class, or the number."""
        return len(self.classes) or 1

    @property
    def constants(self) -> Mapping[str, float]:
        """What turns an output into a number."""
        return {"mean": self.mean, "deviation": self.deviation}

    def graphs(self, data: Any) -> WholeGraphs:
        """A sequence of graphs, or a folder of tables of such, as the model reads them."""
        fitted = self.preprocessing
        folder = fitted is not None and isinstance(data, str | Path)
        found = read_again(Path(data), fitted) if folder and fitted else WholeGraphs.of(data)
        if found.num_features != self.scaling.width:
            raise BadGraph(
                f"the model was fitted on {self.scaling.width:,} features, but {found.name} has "
                f"{found.num_features:,}"
            )
        return found.undirected() if self.undirected else found

    @torch.no_grad()
    def _outputs(self, data: Any) -> Tensor:
        """What each net says of all graphs, (nets, G, outputs)."""
        graphs, said = self.graphs(data), []
        for begin in range(0, len(graphs), TOGETHER):
            some = graphs.among(range(begin, min(begin + TOGETHER, len(graphs))))
            segments = Segments.of(torch.as_tensor(some.sizes, device=self.device))
            inputs = replace(Inputs.of(some, self.scaling, self.device), segments=segments)
            said.append(torch.stack([net(inputs) for net in self.nets]))
        return torch.cat(said, dim=1)

    def predict_proba(self, data: Any, calibrated: bool = False) -> Array:
        """Class probabilities (G, C) of every graph: the mean over the nets, calibrated if asked for."""
        if not self.classes:
            raise BadGraph("the model predicts a number for each graph, no classes: ask `predict`")
        odds: Array = torch.softmax(self._outputs(data), dim=2).mean(0).cpu().numpy()
        return calibration.temper(odds, self.temperature) if calibrated else odds

    def predict(self, data: Any) -> Array:
        """The most probable class, or the mean of the nets' numbers, of every graph (G,)."""
        if self.classes:
            predicted: Array = np.asarray(self.classes)[self.predict_proba(data).argmax(1)]
            return predicted
        said = self._outputs(data).mean(0)[:, 0].double() * self.deviation + self.mean
        numbers: Array = said.cpu().numpy()
        return numbers

    def table(self, data: Any) -> Any:
        """An Arrow table: the graph's id and what is predicted; of classes also confidence and p(class)."""
        graphs = self.graphs(data)
        first = {"id": pa.array(graphs.ids.tolist())}
        if not self.classes:
            return pa.table({**first, "predicted": self.predict(graphs)})
        odds = self.predict_proba(graphs)
        best = odds.argmax(1)
        confidence = calibration.temper(odds, self.temperature)[np.arange(len(best)), best]
        named = pa.array([self.classes[place] for place in best])
        chances = {f"p({name})": odds[:, place] for place, name in enumerate(self.classes)}
        return pa.table({**first, "predicted": named, "confidence": confidence, **chances})

    def calibrated_on(self, graphs: WholeGraphs) -> GraphsModel:
        """The same model with the temperature that these labelled graphs ask for."""
        if not self.classes:
            return self
        known = graphs.among(graphs.known)
        return replace(self, temperature=calibration.fit(self.predict_proba(known), known.y))


@models.add(GraphsModel.task)
def _model(content: Mapping[str, bytes], table: Mapping[str, Any], device: str) -> GraphsModel:
    model = model_of(GraphsModel, content, table, device)
    return replace(model, mean=table["mean"], deviation=table["deviation"])
