"""Architecture: what a search finds, as a small value with one text form.

    gat,gin,sage_max | skip,zero,skip | lstm     the paper's space, K = 3
    gcn,gcn,gcn                                  a plain stack: no skips, no layer aggregator
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
    """Node aggregators of the K layers, their skips to the last layer, the layer aggregator."""

    nodes: tuple[str, ...]
    skips: tuple[str, ...] = ()
    layer: str | None = None

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
        if len(parts) == 1:
            return cls(parts[0])
        if len(parts) == 3 and len(parts[2]) == 1:
            return cls(parts[0], parts[1], parts[2][0])
        raise BadArchitecture(
            f"cannot read architecture {text!r}: write 'gcn,gcn' or 'gat,gin | skip,zero | concat'"
        )

    def __str__(self) -> str:
        parts = [",".join(self.nodes)]
        if self.skips:
            parts.append(",".join(self.skips))
        if self.layer is not None:
            parts.append(self.layer)
        return " | ".join(parts)

    @property
    def depth(self) -> int:
        """K, the number of layers."""
        return len(self.nodes)

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
