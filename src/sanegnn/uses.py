"""What is done with a trained model besides predicting: it is written in other formats, and explained.

sanegnn.export("runs/papers", "onnx")             files, and how far they are from the model
sanegnn.explain("runs/papers", graph, node="p7")  neighbours, edges and features behind a prediction
sanegnn.explain("runs/papers")                    what every operation of the design is worth
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, overload

from sanegnn.bundle import Model, load
from sanegnn.errors import BadExport, BadSetting
from sanegnn.events import Listener, silent
from sanegnn.explaining import Design, Explanation, explain_design, explain_node
from sanegnn.exporting import Export
from sanegnn.exporting import write as write_export
from sanegnn.settings import Machine, Repeats
from sanegnn.work import one_thread


def export(model: Model | Path | str, to: str = "code", folder: Path | str | None = None) -> Export:
    """Write a trained model as `code`, `onnx` or `torch`, run what was written, and compare.

    Without a folder, the files come into `export` beside the model's own folder.
    """
    if isinstance(model, Path | str):
        folder = folder or _home(model) / "export"
    if folder is None:
        raise BadSetting("a model that was not read from a folder needs one to be exported to: give `folder`")
    with one_thread():
        return write_export(_model(model), to, Path(folder))


@overload
def explain(model: Model | Path | str, data: Any, *, node: str | int, top: int = 10) -> Explanation: ...


@overload
def explain(
    model: Path | str,
    data: Any = None,
    *,
    repeats: Repeats = Repeats(3),
    machine: Machine = Machine(),
    on_event: Listener = silent,
) -> Design: ...


def explain(
    model: Model | Path | str,
    data: Any = None,
    *,
    node: str | int | None = None,
    top: int = 10,
    repeats: Repeats = Repeats(3),
    machine: Machine = Machine(),
    on_event: Listener = silent,
) -> Explanation | Design:
    """Why `model` predicts what it predicts for a node of `data`; without a node, what its design is worth.

    A design is explained from its run: every operation is replaced by its runner-up, and the nets are trained
    again. `data` is needed then only if the run was given an object.
    """
    if node is not None:
        with one_thread():
            return explain_node(_model(model), data, node, top)
    if isinstance(model, Model):
        raise BadSetting("a model alone does not know its search: give the folder of its run, or a node")
    return explain_design(_home(model), data, repeats, machine, on_event)


def _model(given: Model | Path | str) -> Model:
    """The model of a folder; one of another task than the classes of nodes is refused."""
    found = load(given) if isinstance(given, Path | str) else given
    if not isinstance(found, Model):
        raise BadExport(
            f"{given} holds a {type(found).__name__}; only models for the classes or labels of nodes can be "
            "exported and explained"
        )
    return found


def _home(path: Path | str) -> Path:
    """The run's folder of a model's."""
    return Path(path).parent if Path(path).name == "model" else Path(path)
