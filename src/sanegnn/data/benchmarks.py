"""The datasets that have a name. Another single-graph dataset of PyG or OGB is one more line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sanegnn.data.base import Data, GraphData
from sanegnn.data.digits import digits
from sanegnn.data.knowledge_files import dbp15k
from sanegnn.data.ogb import OGBSource
from sanegnn.data.planted import planted
from sanegnn.data.ppi import PPISource
from sanegnn.data.pyg import PyGSource
from sanegnn.data.store import data_root
from sanegnn.data.tu import TUSource
from sanegnn.errors import BadGraph
from sanegnn.registry import Registry


class Numbers(NamedTuple):
    """What a dataset must have: N, E (an undirected edge counted once), F, C, how its checksum begins."""

    nodes: int
    edges: int
    features: int
    classes: int
    checksum: str = ""

    def of(self, data: GraphData) -> Numbers:
        """The same numbers of an undirected graph that came."""
        sizes = (data.num_nodes, data.num_edges // 2, data.num_features, data.num_classes)
        return Numbers(*sizes, data.checksum[: len(self.checksum)])


@dataclass(frozen=True)
class Benchmark:
    """A dataset with a name.

    Args:
        title: what it is, in a few words.
        read: makes the data from the name and the data root.
        folder: where its raw files lie below the data root; "" when none are needed.
        metric: the score by which it is judged.
        numbers: what is known of a graph; one that differs is refused.
    """

    title: str
    read: Callable[[str, Path], Data]
    folder: str = ""
    metric: str = "accuracy"
    numbers: Numbers | None = None


datasets: Registry[Benchmark] = Registry("dataset")


def load(name: str, root: Path | str | None = None) -> Data:
    """The dataset of that name, below `root`, else `SANEGNN_DATA`, else `~/.cache/sanegnn`."""
    known = datasets[name]
    data = known.read(name, data_root(root)).named(name, metric=known.metric)
    if known.numbers is not None and isinstance(data, GraphData):
        came = known.numbers.of(data)
        if came != known.numbers:
            raise BadGraph(
                f"{name} came with {came}, but it must have {known.numbers}; "
                f"its raw files in {data_root(root) / known.folder} are not the ones that everybody uses"
            )
    return data


@dataclass(frozen=True)
class Family:
    """The datasets that one class of PyG reads, from one folder below the data root."""

    kind: str
    root: str
    paper: str
    metric: str = "accuracy"

    def add(
        self, name: str, title: str, folder: str = "", numbers: Numbers | None = None, /, **options: Any
    ) -> None:
        """Register a dataset: its raw files are in `<root>/<folder>/raw`, `options` go to PyG's class."""
        source = PyGSource(self.kind, tuple(options.items()), self.root, folder)
        datasets.add(name, self.paper)(Benchmark(title, source.read, str(source.raw), self.metric, numbers))


datasets.add("digits", "Alpaydin & Kaynak, 1998; scikit-learn")(
    Benchmark(
        "handwritten digits, 5 nearest images",
        lambda *_: digits(),
        numbers=Numbers(1797, 6309, 64, 10, "4abe0b20"),
    )
)

datasets.add("ppi", "Zitnik & Leskovec, 2017; Hamilton et al., NeurIPS 2017")(
    Benchmark("proteins, 24 graphs of tissues", PPISource().read, "PPI/raw", "micro_f1")
)

TU = {
    "mutag": ("MUTAG", "molecules, mutagenic or not"),
    "proteins": ("PROTEINS", "proteins, enzymes or not"),
    "enzymes": ("ENZYMES", "enzymes, by what they do"),
    "nci1": ("NCI1", "molecules, against lung cancer or not"),
    "imdb-binary": ("IMDB-BINARY", "actors together in films, by genre"),
    "collab": ("COLLAB", "co-authors of one researcher, by field"),
}
for _name, (_called, _title) in TU.items():
    _source = TUSource.of(_called)
    datasets.add(_name, "Morris et al.: TUDataset, 2020")(Benchmark(_title, _source.read, str(_source.raw)))

PLANTED = {
    "planted-sum": Numbers(2000, 14391, 4, 2, "ca10ef74"),
    "planted-mean": Numbers(2000, 17129, 10, 2, "271d3b1e"),
    "planted-max": Numbers(2400, 8375, 12, 2, "0656d718"),
    "planted-match": Numbers(2400, 12000, 22, 2, "03eeeae0"),
    "planted-ring": Numbers(2000, 3994, 10, 2, "73fe54e5"),
    "planted-path": Numbers(2000, 2000, 10, 2, "6ac5ebb2"),
    "planted-mixture": Numbers(2000, 4993, 12, 2, "73100c3d"),
}
for _name, _numbers in PLANTED.items():
    datasets.add(_name, "made here, with a known answer")(
        Benchmark(planted[_name].title, lambda name, _: planted[name].make(0), numbers=_numbers)
    )

for _language, _title in (("zh", "Chinese"), ("ja", "Japanese"), ("fr", "French")):
    datasets.add(f"dbp15k-{_language}-en", "Sun, Hu, Li: JAPE, ISWC 2017")(
        Benchmark(f"DBpedia, {_title} and English", dbp15k, f"DBP15K/{_language}_en", metric="hits@1")
    )

planetoid = Family("Planetoid", "", "Yang et al., ICML 2016")
planetoid.add(
    "cora", "papers, machine learning", "Cora", Numbers(2708, 5278, 1433, 7, "6e650fb7"), name="Cora"
)
planetoid.add("citeseer", "papers", "CiteSeer", Numbers(3327, 4552, 3703, 6, "33ad1879"), name="CiteSeer")
planetoid.add(
    "pubmed", "papers, diabetes", "PubMed", Numbers(19717, 44324, 500, 3, "63244f6c"), name="PubMed"
)

amazon = Family("Amazon", "Amazon", "Shchur et al., 2018")
amazon.add("photo", "bought together", "Photo", Numbers(7650, 119081, 745, 8, "225f96db"), name="photo")
amazon.add("computers", "bought together", "Computers", Numbers(13752, 245861, 767, 10), name="computers")

coauthor = Family("Coauthor", "Coauthor", "Shchur et al., 2018")
coauthor.add("cs", "co-authors, computer science", "CS", Numbers(18333, 81894, 6805, 15), name="CS")
coauthor.add("physics", "co-authors, physics", "Physics", Numbers(34493, 247962, 8415, 5), name="Physics")

PLATONOV = ("HeterophilousGraphDataset", "Hetero", "Platonov et al., ICLR 2023")
ranked = Family(*PLATONOV, metric="roc_auc")
ranked.add(
    "minesweeper", "a grid", "minesweeper", Numbers(10000, 39402, 7, 2, "4cc2d8d8"), name="Minesweeper"
)
ranked.add("tolokers", "crowd workers", "tolokers", Numbers(11758, 519000, 10, 2), name="Tolokers")
ranked.add("questions", "users of a forum", "questions", Numbers(48921, 153540, 301, 2), name="Questions")
mixed = Family(*PLATONOV)
mixed.add("roman-empire", "words", "roman_empire", Numbers(22662, 32927, 300, 18), name="Roman-empire")
mixed.add(
    "amazon-ratings", "products", "amazon_ratings", Numbers(24492, 93050, 300, 5), name="Amazon-ratings"
)

PEI = "Pei et al., ICLR 2020"
Family("Actor", "Actor", PEI).add("actor", "actors on one Wikipedia page")
wikipedia = Family("WikipediaNetwork", "WikipediaNetwork", PEI)
wikipedia.add("chameleon", "pages by traffic, some twice", "chameleon/geom_gcn", name="chameleon")
wikipedia.add("squirrel", "pages by traffic, some twice", "squirrel/geom_gcn", name="squirrel")
webkb = Family("WebKB", "WebKB", PEI)
webkb.add("cornell", "university web pages", "cornell", name="Cornell")
webkb.add("texas", "university web pages", "texas", name="Texas")
webkb.add("wisconsin", "university web pages", "wisconsin", name="Wisconsin")

citations = Family("CitationFull", "CitationFull", "Bojchevski & Günnemann, ICLR 2018")
citations.add("cora-full", "citations, 70 fields", "cora", name="Cora")
citations.add("cora-ml", "citations, machine learning", "cora_ml", name="Cora_ML")
citations.add("dblp", "citations, four fields", "dblp", name="DBLP")

MUSAE = "Rozemberczki et al., 2019"
Family("FacebookPagePage", "FacebookPagePage", MUSAE).add("facebook", "pages by category")
Family("GitHub", "GitHub", MUSAE).add("github", "developers, web or machine learning")
Family("Twitch", "Twitch", MUSAE).add("twitch-en", "streamers", "EN", name="EN")
FEATHER = "Rozemberczki & Sarkar, CIKM 2020"
Family("LastFMAsia", "LastFMAsia", FEATHER).add("lastfm-asia", "listeners by country")
Family("DeezerEurope", "DeezerEurope", FEATHER).add("deezer-europe", "listeners by gender")

Family("WikiCS", "WikiCS", "Mernyei & Cangea, 2020").add("wikics", "Wikipedia, CS", is_undirected=True)
Family("Flickr", "Flickr", "Zeng et al., ICLR 2020").add("flickr", "images with common properties")
Family("Airports", "Airports", "Ribeiro et al., KDD 2017").add(
    "airports-usa", "by activity", "usa", name="USA"
)


def _ogb(name: str, title: str, source: OGBSource) -> None:
    datasets.add(name, "Hu et al.: OGB, NeurIPS 2020")(Benchmark(title, source.read, str(source.raw)))


_ogb("ogbn-arxiv", "papers of arXiv, by citation", OGBSource("ogbn_arxiv", "arxiv.zip", "time"))
_ogb("ogbn-products", "bought together", OGBSource("ogbn_products", "products.zip", "sales_ranking"))
