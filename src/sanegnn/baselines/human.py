"""The networks that people designed: architecture texts, with the settings that were published for them.

    designs["gat"]("pubmed")      five variants of three layers, hidden 128, relu, eight heads

A design is a function of the dataset, since the published sizes are. A dataset that no publication names
gets the sizes for Cora. Where a design has variants, the best by validation stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from sanegnn.registry import Registry
from sanegnn.settings import Setting
from sanegnn.space import Architecture

SAGE = ("sage_sum", "sage_mean", "sage_max")
ATTENTION = ("gat", "gat_sym", "gat_cos", "gat_linear", "gat_gen_linear")


@dataclass(frozen=True)
class Design:
    """The variants of a network that people designed, and the setting published with it."""

    variants: tuple[Architecture, ...]
    setting: Setting


designs: Registry[Callable[[str], Design]] = Registry("human design")


@dataclass(frozen=True)
class Size:
    """A cell of SANE's Table XIII: K, hidden size, activation, heads where it has any."""

    layers: int
    hidden: int
    activation: str
    heads: int = 4


CORA, PUBMED, PPI = "cora", "pubmed", "ppi"
TABLE_XIII: Mapping[str, Mapping[str, Size]] = {
    "gcn": {CORA: Size(3, 64, "elu"), PUBMED: Size(3, 128, "elu"), PPI: Size(3, 256, "elu")},
    "sage": {CORA: Size(2, 64, "relu"), PUBMED: Size(2, 128, "relu"), PPI: Size(3, 256, "elu")},
    "gat": {CORA: Size(3, 64, "relu", 8), PUBMED: Size(3, 128, "relu", 8), PPI: Size(3, 256, "relu", 8)},
    "gin": {CORA: Size(3, 128, "relu"), PUBMED: Size(3, 128, "relu"), PPI: Size(3, 256, "relu")},
    "lgcn": {CORA: Size(3, 128, "relu"), PUBMED: Size(3, 128, "relu"), PPI: Size(3, 256, "relu")},
    "geniepath": {name: Size(3, 256, "tanh") for name in (CORA, PUBMED, PPI)},
}
"""CiteSeer shares the sizes of Cora. All were trained by Adam at 0.005, dropout 0.5, L2 0.0005."""


def published(row: str, dataset: str, ops: Iterable[str]) -> Design:
    """A plain stack of each operation, with the sizes of a row of Table XIII."""
    sizes = TABLE_XIII[row]
    size = sizes.get(dataset, sizes[CORA])
    setting = Setting(hidden=size.hidden, heads=size.heads, activation=size.activation, dropout=0.5, lr=0.005)
    return Design(stacks(ops, size.layers), setting)


def stacks(ops: Iterable[str], layers: int) -> tuple[Architecture, ...]:
    """A plain stack of each operation."""
    return tuple(Architecture((op,) * layers) for op in ops)


def jumping(design: Design, dataset: str) -> Design:
    """The JK form: every layer reaches the output, through CONCAT, or LSTM on PPI (Table XIII)."""
    layer = "lstm" if dataset == PPI else "concat"
    joined = (Architecture(one.nodes, ("skip",) * one.depth, layer) for one in design.variants)
    return replace(design, variants=tuple(joined))


@designs.add("gcn", source="Kipf, Welling: GCN, ICLR 2017; sizes: SANE, Table XIII")
def gcn(dataset: str) -> Design:
    """Graph convolutions."""
    return published("gcn", dataset, ("gcn",))


@designs.add("gcn-jk", source="Xu et al.: JK-Networks, ICML 2018; sizes: SANE, Table XIII")
def gcn_jk(dataset: str) -> Design:
    """GCN whose layers all reach the output."""
    return jumping(gcn(dataset), dataset)


@designs.add("sage", source="Hamilton, Ying, Leskovec: GraphSAGE, NeurIPS 2017; sizes: SANE, Table XIII")
def sage(dataset: str) -> Design:
    """GraphSAGE over the whole neighbourhood: sum, mean, max."""
    return published("sage", dataset, SAGE)


@designs.add("sage-jk", source="Xu et al.: JK-Networks, ICML 2018; sizes: SANE, Table XIII")
def sage_jk(dataset: str) -> Design:
    """GraphSAGE whose layers all reach the output."""
    return jumping(sage(dataset), dataset)


@designs.add("gat", source="Velickovic et al.: GAT, ICLR 2018; sizes: SANE, Table XIII")
def gat(dataset: str) -> Design:
    """Graph attention with the five scores of GraphNAS."""
    return published("gat", dataset, ATTENTION)


@designs.add("gat-jk", source="Xu et al.: JK-Networks, ICML 2018; sizes: SANE, Table XIII")
def gat_jk(dataset: str) -> Design:
    """GAT whose layers all reach the output."""
    return jumping(gat(dataset), dataset)


@designs.add("gin", source="Xu, Hu, Leskovec, Jegelka: GIN, ICLR 2019; sizes: SANE, Table XIII")
def gin(dataset: str) -> Design:
    """Graph isomorphism networks."""
    return published("gin", dataset, ("gin",))


@designs.add("gin-jk", source="Xu et al.: JK-Networks, ICML 2018; sizes: SANE, Table XIII")
def gin_jk(dataset: str) -> Design:
    """GIN whose layers all reach the output."""
    return jumping(gin(dataset), dataset)


@designs.add("lgcn", source="Gao, Wang, Ji: LGCN, KDD 2018; sizes: SANE, Table XIII")
def lgcn(dataset: str) -> Design:
    """Convolutions over the largest neighbour values of each channel; no operation of the search space."""
    return published("lgcn", dataset, ("lgcn",))


@designs.add("geniepath", source="Liu et al.: GeniePath, AAAI 2019; sizes: SANE, Table XIII")
def geniepath(dataset: str) -> Design:
    """GeniePath as its authors wrote it, its memory carried through depth."""
    return published("geniepath", dataset, ("geniepath_deep",))


@designs.add("geniepath-restarted", source="SANE, Table I: the form that can stand in any slot")
def geniepath_restarted(dataset: str) -> Design:
    """GeniePath as the search space has it: the memory is zero at the start of every layer."""
    return published("geniepath", dataset, ("geniepath",))


@designs.add("geniepath-jk", source="Xu et al.: JK-Networks, ICML 2018; sizes: SANE, Table XIII")
def geniepath_jk(dataset: str) -> Design:
    """GeniePath, its memory carried through depth, whose layers all reach the output."""
    return jumping(geniepath(dataset), dataset)


@designs.add("mlp", source="no edges; setting: Kipf, Welling: GCN, ICLR 2017, with SANE's hidden size")
def mlp(dataset: str) -> Design:
    """A multi-layer perceptron of one or two hidden layers, which sees no edge."""
    size = TABLE_XIII["gcn"].get(dataset, TABLE_XIII["gcn"][CORA])
    setting = Setting(hidden=size.hidden, activation="relu", dropout=0.5, lr=0.01)
    return Design((*stacks(("linear",), 1), *stacks(("linear",), 2)), setting)


@designs.add("appnp", source="Gasteiger, Bojchevski, Günnemann: APPNP, ICLR 2019, Section 5")
def appnp(_: str) -> Design:
    """A perceptron of one hidden layer, then ten steps of personalised PageRank over its predictions."""
    setting = Setting(hidden=64, activation="relu", dropout=0.5, lr=0.01, weight_decay=5e-3, teleport=0.1)
    return Design((Architecture(("linear", "appnp")),), setting)


GCNII = {"cora": (0.2, 1e-4), "citeseer": (0.5, 5e-6), "pubmed": (0.1, 5e-6)}
"""Teleport and weight decay of the authors' fully supervised runs, all of 64 layers."""


@designs.add("gcnii", source="Chen, Wei, Huang, Ding, Li: GCNII, ICML 2020; the authors' supervised runs")
def gcnii(dataset: str) -> Design:
    """64 layers with initial residual and identity mapping; 16 where the authors name no depth."""
    teleport, decay = GCNII.get(dataset, GCNII["cora"])
    setting = Setting(
        hidden=64, activation="relu", dropout=0.5, lr=0.01, weight_decay=decay, teleport=teleport
    )
    return Design(stacks(("gcnii",), 64 if dataset in GCNII else 16), setting)


@designs.add("classic", source="Luo, Shi, Wu: Classic GNNs are Strong Baselines, NeurIPS 2024")
def classic(_: str) -> Design:
    """GCN, GraphSAGE or GAT as one would tune them today: residual, batch normalisation, dropout.

    The paper tunes anew for every dataset; this is where the tuning starts.
    """
    setting = Setting(hidden=256, activation="relu", norm="batch", residual=True, dropout=0.5, lr=0.005)
    return Design(stacks(("gcn", "sage_mean", "gat"), 3), setting)
