"""AlignmentKnobs two knowledge graphs: entities that are the same come to lie near each other.

Both graphs are one graph with two parts under the same weights, and it is there twice: once its entities
are told by nothing but their name (the structure embedding, SE), once by their most frequent attributes (the
attribute embedding, AE). The distance of two entities is

    d(u, v) = β |z_u^SE - z_v^SE|_1 + (1 - β) |z_u^AE - z_v^AE|_1

and each of the two is learned by a margin: a link is to be nearer, by γ, than what arises when one of its
ends is replaced by another entity of the same graph.

    loss = mean over links (u, v) and false links f of [ d(u, v) + γ - d(f) ]_+

(Wang et al.: GCN-Align, EMNLP 2018.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from sanegnn.aims import AlignmentKnobs
from sanegnn.data.base import Ids
from sanegnn.data.knowledge import KnowledgePair, link_split, weighted_edges
from sanegnn.errors import SealedTest
from sanegnn.kernels import distances
from sanegnn.kernels.matching import ranks
from sanegnn.nets import Inputs, Net
from sanegnn.seeds import Noise, generator
from sanegnn.settings import Knobs
from sanegnn.space import Architecture, plain_designs
from sanegnn.tasks.base import Batch, Finished, Keeping, tasks
from sanegnn.tasks.figures import figures

if TYPE_CHECKING:
    from sanegnn.bundle.matches import Matches


@dataclass(frozen=True, eq=False)
class Linked:
    """Linked entities (2, Q), and others of either graph that are candidates beside them (2, O)."""

    links: Ids
    others: Ids

    @property
    def candidates(self) -> Ids:
        """Both (2, Q + O)."""
        return np.concatenate([self.links, self.others], axis=1)


@dataclass(frozen=True, eq=False)
class AlignmentSearch(Keeping["ReadyAlignment"]):
    """The task as a search sees it: both graphs, the links of training and validation alone.

    The nodes of the graph are the N entities, and the N entities once more where attributes are read.
    """

    name: str
    split: str
    metric: str
    turned: AlignmentKnobs
    first: int
    triples: Ids
    attributes: sp.csr_array
    train: Linked
    val: Linked

    @property
    def entities(self) -> int:
        """N."""
        return int(self.attributes.shape[0])

    @property
    def views(self) -> int:
        """How often every entity is there: with its structure, and with its attributes if they are read."""
        return 2 if self.attributes.shape[1] else 1

    @property
    def x(self) -> sp.csr_array:
        """One-hot rows, of which a net's stem makes a table of embeddings, over the attributes."""
        identity = sp.eye_array(self.entities, dtype=np.float32, format="csr")
        parts = [identity, self.attributes][: self.views]
        return sp.csr_array(sp.block_diag(parts, format="csr"), dtype=np.float32)

    @property
    def edges(self) -> Ids:
        """The edges of every view."""
        edges = weighted_edges(self.triples)[0]
        return np.concatenate([edges + view * self.entities for view in range(self.views)], axis=1)

    @property
    def weight(self) -> npt.NDArray[np.float32]:
        """Their weights."""
        return np.tile(weighted_edges(self.triples)[1], self.views)

    def tensors(self, features: str, device: str) -> ReadyAlignment:
        """Both graphs under that scaling."""
        return ReadyAlignment(self, Inputs.of(self, features, device), device)

    def parts(self) -> dict[str, Linked]:
        """The parts that may be looked at."""
        return {"train": self.train, "val": self.val}


@tasks.add("alignment", source="the entities of two knowledge graphs that are the same")
@dataclass(frozen=True, eq=False)
class AlignmentTask(AlignmentSearch):
    """The whole task.

    A test link is ranked among the ends of all links that were not trained on, as its rivals' figures were
    made; a validation link among those of validation, for nobody may know who else is linked.
    """

    takes: ClassVar[type] = KnowledgePair
    knobs: ClassVar[type[Knobs]] = AlignmentKnobs
    space: ClassVar[str] = "align"
    depth: ClassVar[int] = 2
    rivals: ClassVar[tuple[str, ...]] = ("jape", "gcn-align-se", "gcn-align")

    test: Linked = field(kw_only=True)
    data: KnowledgePair = field(kw_only=True, repr=False)

    @classmethod
    def of(
        cls,
        data: KnowledgePair,
        split: str = "0",
        metric: str | None = None,
        knobs: AlignmentKnobs | None = None,
    ) -> AlignmentTask:
        """The task of one split of the links: a seed, or the name of one of its own."""
        chosen, turned = link_split(data, split), knobs or AlignmentKnobs()
        judged = metric or data.metric
        figures.entry(judged)
        train, val, test = (data.links[:, part] for part in (chosen.train, chosen.val, chosen.test))
        nobody = np.zeros((2, 0), dtype=np.int64)
        read = data.frequent(turned.attributes)
        shown = (data.name, chosen.name, judged, turned, data.first, data.triples, read)
        return cls(*shown, Linked(train, nobody), Linked(val, nobody), test=Linked(test, val), data=data)

    def without_test(self) -> AlignmentSearch:
        """The same without the test links."""
        told = (self.name, self.split, self.metric, self.turned)
        shown = (*told, self.first, self.triples, self.attributes)
        return AlignmentSearch(*shown, self.train, self.val)

    @staticmethod
    def designs(depth: int) -> Sequence[Architecture]:
        """Plain stacks."""
        return plain_designs(depth)

    def parts(self) -> dict[str, Linked]:
        """All three parts."""
        return {**super().parts(), "test": self.test}

    @property
    def sizes(self) -> dict[str, int]:
        """The links of each part."""
        return {name: part.links.shape[1] for name, part in self.parts().items()}

    def model(self, finished: Finished) -> Matches:
        """The embeddings of the entities that no link names, by all nets together."""
        from sanegnn.bundle.matches import Matches

        ready = self.ready(finished.setting.scaling, finished.device)
        nets = [_net(finished, state, ready) for state in finished.states]
        with torch.no_grad():
            output = ready.together([net(ready.inputs) for net in nets])
        alone = np.setdiff1d(np.arange(self.entities), self.data.links)
        vectors = ready.joined(output)[torch.as_tensor(alone, device=finished.device)]
        named = (str(finished.architecture), self.data.entities[alone], int((alone < self.first).sum()))
        return Matches(*named, vectors.cpu().numpy(), finished.about)


def _net(finished: Finished, state: Mapping[str, Tensor], ready: ReadyAlignment) -> Net:
    sizes = (ready.num_features, ready.num_outputs)
    net = Net(finished.architecture, finished.setting, *sizes, head=ready.head)
    net.load_state_dict(state)
    return net.to(torch.device(finished.device)).eval()


@dataclass(frozen=True)
class LinkBatch(Batch):
    """The target are pairs of places in the outputs of one view (2, P), the true links first.

    `links` are these as entities (2, Q).
    """

    links: Tensor


class ReadyAlignment:
    """The task as tensors: one forward pass serves a whole part."""

    head = "identity"
    num_outputs = 1

    def __init__(self, task: AlignmentSearch, inputs: Inputs, device: str) -> None:
        self.num_features = inputs.features.shape[1]
        self.knobs, self.views, self.first, self.entities = task.turned, task.views, task.first, task.entities
        self.figure, self.inputs, self.device = figures[task.metric], inputs, device
        self.parts = task.parts()
        self._asked = {name: self._judged(part) for name, part in self.parts.items() if name != "train"}

    def batches(self, part: str, noise: Noise | None = None) -> Sequence[Batch]:
        """The one batch of a part; of training with false links of this noise."""
        if part == "train":
            sides = np.arange(self.first), np.arange(self.first, self.entities)
            target = self._with_false(self.parts["train"].links, sides, noise.key if noise else 0)
            return (LinkBatch(self.inputs, target, target[:, : self.parts["train"].links.shape[1]]),)
        if part not in self._asked:
            raise SealedTest(f"the {part} part is sealed: a search sees training and validation links alone")
        return (self._asked[part],)

    def _judged(self, part: Linked) -> Batch:
        """A batch whose rows are the candidates, left then right, of every view."""
        rows = np.concatenate([part.candidates.ravel() + view * self.entities for view in range(self.views)])
        sides = np.split(np.arange(part.candidates.size), 2)
        links = np.stack([side[: part.links.shape[1]] for side in sides])
        target = self._with_false(links, (sides[0], sides[1]), 0)
        inputs = replace(self.inputs, rows=torch.as_tensor(rows, device=self.device))
        return LinkBatch(inputs, target, torch.as_tensor(part.links, device=self.device))

    def _with_false(self, links: Ids, sides: tuple[Ids, Ids], seed: int) -> Tensor:
        """The links, then k times all with another right end, then k times with another left end.

        (2, (1 + 2 k) Q) places in one view.
        """
        rng, often = generator(seed, "false links"), self.knobs.negatives
        others = [rng.choice(side, often * links.shape[1]) for side in sides]
        again = [np.tile(end, often) for end in links]
        pairs = [links, np.stack([again[0], others[1]]), np.stack([others[0], again[1]])]
        return torch.as_tensor(np.concatenate(pairs, axis=1), device=self.device)

    def loss(self, output: Tensor, batch: Batch) -> Tensor:
        """The margin loss of the links of a batch, over both views."""
        rows = output.shape[0] // self.views
        pairs = torch.cat([batch.target + view * rows for view in range(self.views)], dim=1)
        apart = distances(output, pairs).view(self.views, 1 + 2 * self.knobs.negatives, -1)
        return torch.relu(apart[:, :1] + self.knobs.margin - apart[:, 1:]).mean()

    def score(self, outputs: Sequence[Tensor], part: str) -> float:
        """The metric, the mean of both directions."""
        forth, back = self.ranks(outputs, part)
        return (self.figure(forth) + self.figure(back)) / 2

    def figures(self, outputs: Sequence[Tensor], part: str) -> dict[str, float]:
        """All figures, direction by direction."""
        ways = zip(("1→2", "2→1"), self.ranks(outputs, part), strict=True)
        return {f"{way} {name}": figures[name](found) for way, found in ways for name in figures}

    def ranks(self, outputs: Sequence[Tensor], part: str) -> tuple[Tensor, Tensor]:
        """The ranks of the true matches from the first graph to the second, and back."""
        places = self.parts[part].candidates
        if part != "train":
            places = np.arange(places.size).reshape(2, -1)
        left, right = self.joined(outputs[0])[torch.as_tensor(places, device=self.device)]
        return ranks(left, right, self.parts[part].links.shape[1])

    def joined(self, output: Tensor) -> Tensor:
        """The embeddings of all views side by side, each times its share in a distance."""
        shares = (self.knobs.beta, 1 - self.knobs.beta)[: self.views]
        views = output.view(self.views, -1, output.shape[1])
        return torch.cat([share * view for share, view in zip(shares, views, strict=True)], dim=1)

    @staticmethod
    def together(outputs: Sequence[Tensor]) -> Tensor:
        """The embeddings of several nets side by side: their distances add up."""
        return torch.cat(list(outputs), dim=1)
