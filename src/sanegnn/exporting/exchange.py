"""The exchange formats: torch.export's .pt2, and ONNX. Both hold any number of nodes and edges."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sanegnn.bundle import Model
from sanegnn.errors import BadExport
from sanegnn.exporting.base import formats
from sanegnn.exporting.design import plain
from sanegnn.exporting.examples import SIZES, Array, Graph, apart, example, examples, tensors

INPUTS = ("x", "edge_index", "edge_weight")
OUTPUT = "predictions"
OPSET = 18

Predict = Callable[[Graph], Array]


@formats.add("torch", source="model.pt2, a program of torch.export")
def write_torch(model: Model, folder: Path) -> tuple[float, str]:
    """The program, loaded again and run."""
    path = folder / "model.pt2"
    with _quiet():
        torch.export.save(program(model), path, extra_files={"model.json": json.dumps(_about(model))})
        loaded = torch.export.load(path).module()
    return compared(model, lambda graph: loaded(*graph).numpy())


@formats.add("onnx", source="model.onnx, for onnxruntime and others")
def write_onnx(model: Model, folder: Path) -> tuple[float, str]:
    """The ONNX file, run by onnxruntime."""
    path, onnxruntime = folder / "model.onnx", _runtime()
    with _quiet():
        made = torch.onnx.export(
            program(model), input_names=INPUTS, output_names=[OUTPUT], opset_version=OPSET, verbose=False
        )
        assert made is not None
        inputs: Any = made.model.graph.inputs
        made.rename_axes({inputs[0].shape[0]: "nodes", inputs[1].shape[1]: "edges"})
        made.model.metadata_props.update({key: json.dumps(told) for key, told in _about(model).items()})
        made.save(path, external_data=False)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def run(graph: Graph) -> Array:
        given = {name: part.numpy() for name, part in zip(INPUTS, graph, strict=True)}
        (found,) = session.run(None, given)
        return np.asarray(found)

    return compared(model, run)


def program(model: Model) -> torch.export.ExportedProgram:
    """The plain form of the model, traced."""
    nodes, edges = torch.export.Dim("nodes", min=1), torch.export.Dim("edges", min=0)
    shapes = ({0: nodes}, {1: edges}, {0: edges})
    return torch.export.export(plain(model), tensors(example(model, *SIZES[0])), dynamic_shapes=shapes)


def compared(model: Model, predict: Predict) -> tuple[float, str]:
    """The largest difference over the examples."""
    with torch.no_grad():
        worst = max(apart(predict(graph), odds) for graph, odds in examples(model))
    sizes = ", ".join(f"{nodes} and {edges}" for nodes, edges in SIZES)
    return worst, f"graphs of {sizes} nodes and edges"


def _about(model: Model) -> dict[str, Any]:
    """What goes along with the program."""
    return {
        "architecture": str(model.architecture),
        "setting": model.setting.table(),
        "classes": list(model.classes),
        "about": dict(model.about),
    }


def _runtime() -> Any:
    """onnxruntime, if it is there together with what writes its files."""
    try:
        import onnx  # noqa: F401
        import onnxruntime
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise BadExport(f"{error.name} is not installed: pip install 'sanegnn[export]'") from error
    return onnxruntime


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what torch and onnxscript say to their own developers."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
