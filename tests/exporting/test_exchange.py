"""torch.export and ONNX: any number of nodes and edges, and the model's own predictions."""

import json

import numpy as np
import pytest
import torch

from exporting.test_forms import MEMBERS
from sanegnn import exporting
from sanegnn.errors import BadExport, UnknownName
from sanegnn.exporting import exchange
from sanegnn.exporting.examples import apart, example, tensors
from sanegnn.ops import layer_ops, node_ops
from untrained import made

FRESH = ((3, 2), (40, 41), (300, 2000))


def fresh(model):
    """Graphs that no export has seen."""
    for nodes, edges in FRESH:
        data = example(model, nodes, edges)
        yield tensors(data), model.predict_proba(data)


def test_onnx_runs_with_any_number_of_nodes_and_edges(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = made("gat,sage_max | skip,skip | concat", nets=1)
    done = exporting.write(model, "onnx", tmp_path)
    assert done.difference < 1e-5
    assert done.files == (str(tmp_path / "model.onnx"),)
    session = onnxruntime.InferenceSession(done.files[0])
    shapes = {one.name: one.shape for one in session.get_inputs()}
    assert shapes == {"x": ["nodes", 6], "edge_index": [2, "edges"], "edge_weight": ["edges"]}
    told = session.get_modelmeta().custom_metadata_map
    assert json.loads(told["classes"]) == list(model.classes)
    assert json.loads(told["architecture"]) == str(model.architecture)
    for graph, odds in fresh(model):
        given = dict(zip(exchange.INPUTS, (part.numpy() for part in graph), strict=True))
        assert apart(session.run(None, given)[0], odds) < 1e-5
    alone = {"x": np.ones((1, 6), np.float32), "edge_index": np.zeros((2, 0), np.int64)}
    (odds,) = session.run(None, {**alone, "edge_weight": np.zeros(0, np.float32)})
    assert odds.sum() == pytest.approx(1, abs=1e-5)


def test_a_program_of_torch_takes_any_number_of_nodes_and_edges(tmp_path):
    model = made("gat,lgcn | skip,skip | max", nets=1)
    done = exporting.write(model, "torch", tmp_path)
    extra = {"model.json": ""}
    loaded = torch.export.load(done.files[0], extra_files=extra)
    assert json.loads(extra["model.json"])["classes"] == list(model.classes)
    for graph, odds in fresh(model):
        assert apart(loaded.module()(*graph).detach(), odds) < 1e-5


EVERY = ",".join([*node_ops, "gcnii", "geniepath_deep", *MEMBERS[::3]])
DESIGNS = {"every": EVERY, **{name: f"gcn,gat,gin | skip,zero,skip | {name}" for name in layer_ops}}


@pytest.mark.slow
@pytest.mark.parametrize("format", ["torch", "onnx"])
@pytest.mark.parametrize("design", DESIGNS)
def test_every_operation(tmp_path, format, design):
    text = DESIGNS[design].replace(":2:4", ":2:8")
    model = made(text, nets=1, hidden=16, norm="layer", residual=True)
    assert exporting.write(model, format, tmp_path).difference < 1e-4


def test_what_is_not_installed_is_said(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(BadExport, match=r"onnxscript is not installed: pip install 'sanegnn\[export\]'"):
        exporting.write(made("gcn", nets=1), "onnx", tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UnknownName, match="did you mean 'onnx'"):
        exporting.write(made("gcn", nets=1), "onxx", tmp_path)
