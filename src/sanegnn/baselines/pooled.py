"""The networks that people designed for whole graphs, as architecture texts with a pooling.

They stand beside those for nodes (`human.py`) under names of their own, since a design for nodes has no
pooling. The publications tune width and dropout for every set; here all begin with one setting.
"""

from __future__ import annotations

from sanegnn.baselines.human import Design, designs
from sanegnn.settings import Setting
from sanegnn.space import Architecture

SETTING = Setting(
    hidden=64,
    activation="relu",
    norm="batch",
    scaling="raw",
    input_dropout=0.0,
    dropout=0.5,
    lr=0.005,
    weight_decay=0.0,
)
"""Batch normalisation in every layer and no L2 penalty, as in GIN, Section 7; dropout between the layers."""


def pooled(op: str, layers: int, *pools: str, joined: bool = True) -> Design:
    """A stack of one operation under each pooling; `joined` lets every layer reach it."""
    skips, layer = (("skip",) * layers, "concat") if joined else ((), None)
    return Design(tuple(Architecture((op,) * layers, skips, layer, pool) for pool in pools), SETTING)


@designs.add("graph-gin", source="Xu, Hu, Leskovec, Jegelka: GIN, ICLR 2019, Section 7")
def graph_gin(_: str) -> Design:
    """GIN whose layers all reach the pooling, by sum and by mean."""
    return pooled("gin", 4, "sum", "mean")


@designs.add("graph-gcn", source="Kipf, Welling: GCN, ICLR 2017; pooled as in GIN, ICLR 2019")
def graph_gcn(_: str) -> Design:
    """Graph convolutions, pooled by sum and by mean."""
    return pooled("gcn", 3, "sum", "mean", joined=False)


@designs.add("graph-gat", source="Velickovic et al.: GAT, ICLR 2018; pooled as in GIN, ICLR 2019")
def graph_gat(_: str) -> Design:
    """Graph attention, pooled by sum and by mean."""
    return pooled("gat", 3, "sum", "mean", joined=False)


@designs.add("graph-sage", source="Hamilton, Ying, Leskovec: GraphSAGE, NeurIPS 2017; pooled as in GIN")
def graph_sage(_: str) -> Design:
    """GraphSAGE by mean whose layers all reach the pooling, by sum and by mean."""
    return pooled("sage_mean", 3, "sum", "mean")


@designs.add("graph-dgcnn", source="Zhang, Cui, Neumann, Chen: DGCNN, AAAI 2018")
def graph_dgcnn(_: str) -> Design:
    """Graph convolutions whose layers all reach a pooling that sorts the nodes."""
    return pooled("gcn", 4, "sort")


@designs.add("graph-topk", source="Cangea et al.: Towards Sparse Hierarchical Graph Classifiers, 2018")
def graph_topk(_: str) -> Design:
    """A graph convolution, then the graph in two steps each half as large, read at both sizes."""
    return pooled("gcn", 1, "topk", joined=False)


FOR_NODES = tuple(name for name in designs if not name.startswith("graph-"))
"""The designs without a pooling."""
