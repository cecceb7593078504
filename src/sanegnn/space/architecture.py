"""Architecture: what a search finds, as a small value with one text form.

    gat,gin,sage_max | skip,zero,skip | lstm     the paper's space, K = 3
    gcn,gcn,gcn                                  a plain stack: no skips, no layer aggregator
    gin,gin | skip,skip | concat | sum           whole graphs: the last name pools the nodes of each
    gin,gin | mean                               the same of a plain stack
    graphnas:gat:sum:elu:8:64,gcn                an operation told by its components (`space/family.py`)

The text prints what it parses; it stands in the command line, in records, tables and file names.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from sanegnn.errors import BadArchitecture

_NAME = re.compile(r"[A-Za-z][\w-]*(:[\w-]+)*", re.ASCII)


@dataclass(frozen=True, order=True)
class Architecture:
    """Node aggregators of the K layers, their skips to the last layer, the layer aggregator, the pooling."""

    nodes: tuple[str, ...]
    skips: tuple[str, ...] = ()
    layer: str | None = None
    pool: str | None = None

    def __post_init__(self) -> None:
        if not self.nodes:
            raise BadArchitecture("an architecture needs at least one node aggregator, as in 'gcn,gcn'")
        if (self.layer is None) != (not self.skips):
            raise BadArchitecture(f"{self}: skips and a layer aggregator come together or not at all")
        if self.skips and len(self.skips) != len(self.nodes):
            raise BadArchitecture(
                f"{self}: {len(self.nodes)} node aggregators need {len(self.nodes)} skips,"
                f" but {len(self.skips)} came"
            )

    @classmethod
    def parse(cls, text: str) -> Architecture:
        """Read the text form; white space around names does not matter."""
        parts = [_names(part, text) for part in text.split("|")]
        pool = parts.pop() if len(parts) in (2, 4) else ()
        nodes, skips, layer = parts if len(parts) == 3 else (parts[0], (), ())
        if len(parts) not in (1, 3) or len(layer) > 1 or len(pool) > 1:
            raise BadArchitecture(
                f"cannot read architecture {text!r}: write 'gcn,gcn' or 'gat,gin | skip,zero | concat';"
                " for whole graphs, put a pooling behind it, as in 'gin,gin | sum'"
            )
        return cls(nodes, skips, next(iter(layer), None), next(iter(pool), None))

    def __str__(self) -> str:
        parts = [",".join(self.nodes), ",".join(self.skips), self.layer, self.pool]
        return " | ".join(filter(None, parts))

    @property
    def depth(self) -> int:
        """K, the number of layers."""
        return len(self.nodes)

    @property
    def reach(self) -> int:
        """The layers that reach the output: up to the last skip that is not zero; without skips, all."""
        kept = [layer for layer, name in enumerate(self.skips, start=1) if name != "zero"]
        return max(kept, default=0) if self.skips else self.depth

    @property
    def id(self) -> str:
        """Eight letters that name this architecture in file names, the same everywhere."""
        return hashlib.blake2b(str(self).encode(), digest_size=4).hexdigest()


def _names(part: str, text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in part.split(","))
    for name in names:
        if not _NAME.fullmatch(name):
            raise BadArchitecture(f"cannot read {name!r} as the name of an operation in {text!r}")
    return names
