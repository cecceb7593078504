"""One Python file on PyTorch and PyG that rebuilds the nets, loads their weights and trains them again."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from sanegnn.bundle import Model
from sanegnn.errors import BadExport
from sanegnn.exporting import design
from sanegnn.exporting.base import formats
from sanegnn.exporting.call import WIDE, Call
from sanegnn.exporting.examples import SIZES, example, tensors
from sanegnn.exporting.source import needed, together
from sanegnn.settings import Training

SCRIPT = "net.py"
ALONE = "import runpy, sys; sys.modules['sanegnn'] = None; runpy.run_path(sys.argv.pop(), None, '__main__')"
"""Runs a file where sanegnn cannot be imported."""


@formats.add("code", source="net.py on PyTorch and PyG, weights.npz, example.npz")
def write(model: Model, folder: Path) -> tuple[float, str]:
    """The files, of which the first checks itself in a process of its own."""
    lay(model, folder)
    nodes, edges = SIZES[0]
    return _run(folder), f"a graph of {nodes} nodes and {edges} edges, in a process without sanegnn"


def lay(model: Model, folder: Path) -> None:
    """Write the source, the weights, and a small graph with predictions."""
    arrays: dict[str, Any] = {name: value.numpy() for name, value in design.weights(model).items()}
    np.savez(folder / "weights.npz", **arrays)
    data = example(model, *SIZES[0])
    x, edges, weight = (part.numpy() for part in tensors(data))
    odds = np.asarray(model.predict_proba(data), np.float32)
    np.savez(folder / "example.npz", x=x, edge_index=edges, edge_weight=weight, predictions=odds)
    (folder / SCRIPT).write_text(source(model), encoding="utf-8")


def _run(folder: Path) -> float:
    """Let the file check itself; the difference that it tells."""
    command = [sys.executable, "-c", ALONE, str(folder / SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
        raise BadExport(f"the exported {SCRIPT} does not run: {last}")
    return float(done.stdout.split()[-1])


def source(model: Model) -> str:
    """The text of the file."""
    net = design.net(model.nets[0])
    names = {*net.names, *design.scaling(model).names, *design.link(model).names, "Ensemble", "main"}
    return together(_docstring(model), needed(names), _own(model, net))


def _own(model: Model, net: Call) -> str:
    """The functions that build this design, and what happens when the file is run."""
    whole = [f"{one.source()}" for one in (design.scaling(model), design.link(model))]
    setting, training = model.setting, _training(model)
    knobs = {
        "lr": setting.lr,
        "weight_decay": setting.weight_decay,
        "epochs": training.epochs,
        "patience": training.patience,
    }
    told = "".join(f"        {name}={value!r},\n" for name, value in knobs.items())
    return (
        f"def net() -> {net.name}:\n"
        f'    """One net, with weights of zero."""\n'
        f"    return {net.source(4, len('return '))}\n\n\n"
        f"def model() -> Ensemble:\n"
        f'    """All {len(model.states)} nets and what joins them, with weights of zero."""\n'
        f"    nets = [net() for _ in range({len(model.states)})]\n"
        f"    return Ensemble({whole[0]}, nets, {whole[1]})\n\n\n"
        f'if __name__ == "__main__":\n'
        f"    main(\n        model(),\n        Path(__file__).parent,\n{told}    )"
    )


def _training(model: Model) -> Training:
    """How long the nets were trained."""
    return Training.of(model.about.get("training", {}))


def _docstring(model: Model) -> str:
    """What the file is: design, setting, scores, inputs and outputs."""
    about = model.about
    scores = [_score(name, values) for name, values in dict(about.get("scores", {})).items()]
    lines = [
        str(model.architecture),
        "",
        f"A net for {about.get('dataset', 'a graph')}, written by sanegnn; it needs PyTorch and PyG alone.",
        "",
        *_row("setting", ", ".join(f"{name} {value}" for name, value in model.setting.table().items())),
        *_row("classes", ", ".join(model.classes)),
        *_row("split", str(about.get("split", ""))),
        *_row(str(about.get("metric", "scores")), "; ".join(scores)),
        "",
        *textwrap.wrap(INPUTS.format(width=model.scaling.width), WIDE),
        *(textwrap.wrap(BOTH_WAYS, WIDE) if model.undirected else []),
        "",
        *textwrap.wrap(USE, WIDE),
    ]
    safe = "\n".join(line.rstrip() for line in lines).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{safe}\n"""'


INPUTS = (
    "Inputs: x (N, {width}), the features before scaling, float32; edge_index (2, E), int64, source over "
    "target, without loops and none twice; edge_weight (E,), may be left out. Output: a probability for "
    "every class."
)
BOTH_WAYS = "Every edge is there in both directions."
USE = (
    "`python net.py` loads weights.npz and checks itself on example.npz; `python net.py graph.npz` trains "
    "again on the arrays x, edge_index, y, train and val (numbers of nodes)."
)


def _row(name: str, text: str) -> list[str]:
    """A line that begins with a name, wrapped under itself."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    indent = " " * 12
    return textwrap.wrap(f"{name:<12}{printable}", WIDE, subsequent_indent=indent, break_long_words=False)


def _score(name: str, values: Any) -> str:
    return f"{name} {np.mean(values):.4f} (mean of {len(values)})" if len(values) else f"{name} unknown"
