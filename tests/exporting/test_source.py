"""The description of a net as source: formatted, complete, and the same net as is built."""

import ast
import runpy
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch

from sanegnn import exporting
from sanegnn.errors import BadExport
from sanegnn.exporting import code
from sanegnn.exporting.call import WIDE, call
from sanegnn.exporting.source import needed, parts
from untrained import made

DESIGNS = [
    "gat,gin,sage_max | skip,zero,skip | lstm",
    "gcnii,geniepath_deep,lgcn",
    "graphnas:cos:max:elu:2:8,autognn:gcn:mean:mlp:tanh:2:8",
    "mlp_w8_d2,appnp | zero,skip | concat",
]


def ruff(*arguments, text):
    command = [shutil.which("ruff", path=f"{sys.prefix}/bin") or "ruff", *arguments, "--isolated", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("norm", ["pair", "batch"])
def test_the_file_is_formatted_and_without_findings(design, norm):
    text = code.source(made(design, norm=norm, residual=True, attention_dropout=0.3, scaling="standard"))
    assert ruff("format", text=text).stdout == text
    checked = ruff("check", "--select", "E,F,W,I,B,UP,SIM,C4", "--line-length", "88", text=text)
    assert checked.returncode == 0, checked.stdout
    assert "sanegnn." not in text.replace("sanegnn.exporting", "")


def test_only_what_is_used_is_in_the_file():
    text = code.source(made("gcn,gcn"))
    names = {node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    assert names == {"Row", "Sum", "GcnSum", "Gcn", "Head", "Layer", "Layers", "OneClass", "Net", "Ensemble"}
    assert "dropout_edge" in text
    assert "PairNorm" not in text


def test_parts_come_behind_what_they_use():
    seen = set()
    for part in needed(parts()):
        others = {used for used in part.uses if used in parts()} - {part.name}
        assert others <= seen, part.name
        seen.add(part.name)


def test_decorators_are_copied():
    assert parts()["evaluate"].text.startswith("@torch.no_grad()\n")


def test_a_call_prints_what_it_builds():
    linear = call("nn.Linear", 3, 4, bias=False)
    assert linear.source() == "nn.Linear(3, 4, bias=False)"
    assert linear.build().weight.shape == (4, 3)
    assert linear.build().bias is None
    layers = call("Layers", (call("Layer", linear, call("nn.Identity"), call("nn.ELU"), dropout=0.5),) * 2)
    assert all(len(line) <= WIDE for line in layers.source(4, 7).splitlines())
    assert len(layers.build()) == 2
    assert layers.names == {"Layers", "Layer", "nn.Linear", "nn.Identity", "nn.ELU"}


def test_names_that_come_from_users_stay_in_the_docstring():
    from dataclasses import replace

    nasty = ('"""', "\\", "a\nb", "'''", "import os; os.abort()\n", "\N{RIGHT-TO-LEFT OVERRIDE}", "ü")
    model = made("gcn,gcn", nets=1)
    named = nasty[: len(model.classes)]
    about = {"dataset": "x\n" + nasty[0], "split": nasty[3], "metric": nasty[1], "scores": {nasty[0]: [0.5]}}
    text = code.source(replace(model, classes=named, about=about))
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    assert [type(node) for node in tree.body[:2]] == [ast.Expr, ast.ImportFrom]
    assert len(tree.body) == len(ast.parse(code.source(model)).body)


@pytest.fixture
def written(tmp_path):
    """Weights, example and file, as an export leaves them, without the process that checks them."""
    model = made("gat,gin | skip,skip | concat", norm="batch")
    code.lay(model, tmp_path)
    return model, tmp_path


def test_the_file_loads_checks_and_trains_again(written, monkeypatch, capsys):
    _, folder = written
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    graph = {"x": np.eye(6, dtype=np.float32)[y] + 0.1, "edge_index": rng.integers(0, 40, (2, 90)), "y": y}
    np.savez(folder / "graph.npz", **graph, train=np.arange(20), val=np.arange(20, 40))
    monkeypatch.setattr(sys, "argv", ["net.py", str(folder / "graph.npz"), str(folder / "new.npz")])
    monkeypatch.setitem(sys.modules, "sanegnn", None)
    torch.manual_seed(0)
    runpy.run_path(str(folder / "net.py"), run_name="__main__")
    said = capsys.readouterr().out.splitlines()
    assert float(said[0].split()[-1]) < 1e-5
    assert all(float(line.split()[-1]) > 0.5 for line in said[1:3])
    with np.load(folder / "new.npz") as new, np.load(folder / "weights.npz") as old:
        assert set(new.files) == set(old.files)
        assert np.abs(new["nets.0.stem.weight"] - old["nets.0.stem.weight"]).max() > 0.01


def test_other_weights_are_noticed(written, monkeypatch):
    _, folder = written
    with np.load(folder / "weights.npz") as file:
        weights = {name: file[name] for name in file.files}
    weights["nets.0.head.outer.bias"] = weights["nets.0.head.outer.bias"] + np.arange(4, dtype=np.float32)
    np.savez(folder / "weights.npz", **weights)
    monkeypatch.setattr(sys, "argv", ["net.py"])
    with pytest.raises(SystemExit, match="are not those of the exported model"):
        runpy.run_path(str(folder / "net.py"), run_name="__main__")


def test_an_export_that_predicts_otherwise_leaves_nothing(tmp_path):
    model = made("gcn")
    name = "twisted"
    try:
        exporting.formats.add(name)(lambda model, folder: ((folder / "a").touch(), (0.5, "one graph"))[1])
        with pytest.raises(BadExport, match=r"differ from the model's by 5.0e-01"):
            exporting.write(model, name, tmp_path)
        assert list(tmp_path.iterdir()) == []
    finally:
        del exporting.formats._entries[name]
