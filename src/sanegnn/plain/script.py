"""What an exported file does when it is run: load, check, train again."""

from __future__ import annotations

import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sanegnn.plain.net import Ensemble


def arrays(path: Path) -> dict[str, Tensor]:
    """The arrays of an .npz file as tensors; pickled objects are refused."""
    with np.load(path, allow_pickle=False) as file:
        return {name: torch.from_numpy(file[name]) for name in file.files}


def check(model: Ensemble, graph: dict[str, Tensor]) -> float:
    """The largest difference from the predictions that are stored beside a graph."""
    with torch.no_grad():
        found = model(graph["x"], graph["edge_index"], graph["edge_weight"])
    return float((found - graph["predictions"]).abs().max())


def initialise(net: nn.Module) -> None:
    """Glorot-uniform weights and zero biases; norms go back to their start."""
    for module in net.modules():
        if isinstance(module, nn.BatchNorm1d | nn.LayerNorm):
            module.reset_parameters()
        else:
            for parameter in module.parameters(recurse=False):
                nn.init.zeros_(parameter)
                if parameter.dim() > 1:
                    bound = (6 / (parameter.size(-2) + parameter.size(-1))) ** 0.5
                    nn.init.uniform_(parameter, -bound, bound)


@torch.no_grad()
def evaluate(
    net: nn.Module, link: Any, graph: dict[str, Tensor], part: str
) -> tuple[float, float]:
    """The score of a part, and less its loss: the larger, the better."""
    rows = graph[part]
    net.eval()
    logits = net(graph["x"], graph["edge_index"], graph["edge_weight"])[rows]
    return link.score(logits, graph["y"][rows]), -float(
        link.loss(logits, graph["y"][rows])
    )


def train(
    net: nn.Module,
    link: Any,
    graph: dict[str, Tensor],
    lr: float,
    weight_decay: float,
    epochs: int,
    patience: int,
) -> float:
    """Train from scratch; keep the epoch of the best validation score.

    `graph` holds x (scaled), edge_index, edge_weight, y, and the numbers of the nodes
    to `train` and to validate (`val`) on.
    """
    initialise(net)
    adam = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=weight_decay)
    best, since, state = (-1.0, 0.0), 0, deepcopy(net.state_dict())
    for _ in range(epochs):
        net.train()
        adam.zero_grad()
        rows = graph["train"]
        logits = net(graph["x"], graph["edge_index"], graph["edge_weight"])[rows]
        link.loss(logits, graph["y"][rows]).backward()
        adam.step()
        score = evaluate(net, link, graph, "val")
        since += 1
        if score > best:
            best, since, state = score, 0, deepcopy(net.state_dict())
        if since >= patience:
            break
    net.load_state_dict(state)
    return best[0]


def retrain(
    model: Ensemble,
    graph: dict[str, Tensor],
    kept: Path,
    lr: float,
    weight_decay: float,
    epochs: int,
    patience: int,
) -> None:
    """Train every net again on a graph, and keep the weights of all.

    `graph` holds what `train` needs, with x as it comes; edge_weight may be left out.
    """
    graph = {**graph, "x": model.scaling(graph["x"])}
    graph.setdefault("edge_weight", torch.ones(graph["edge_index"].size(1)))
    for net in model.nets:
        score = train(net, model.link, graph, lr, weight_decay, epochs, patience)
        print(f"validation score {score:.4f}")
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    np.savez(kept, **weights)
    print(f"weights in {kept}")


def main(model: Ensemble, folder: Path, **setting: Any) -> None:
    """Load the weights and check them; with the file of a graph, train again.

    Usage: net.py [GRAPH.npz [WEIGHTS.npz]]
    """
    model.load_state_dict(arrays(folder / "weights.npz"))
    difference = check(model.eval(), arrays(folder / "example.npz"))
    print(f"largest difference from the exported model: {difference:.1e}")
    if not difference < 1e-4:
        sys.exit("the predictions of the example are not those of the exported model")
    if len(sys.argv) > 1:
        kept = Path(sys.argv[2] if len(sys.argv) > 2 else folder / "retrained.npz")
        retrain(model, arrays(Path(sys.argv[1])), kept, **setting)
