"""The ways to scale node features, with constants that are fitted on one graph and hold for every other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from sanegnn.errors import BadGraph, UnknownName

if TYPE_CHECKING:
    from sanegnn.kernels.features import Features

SCALINGS = ("raw", "row", "unit", "standard", "auto")
TINY = 1e-12


@dataclass(frozen=True)
class Scaling:
    """One of `SCALINGS` with the constants of the graph it was fitted on.

    raw: as they are. row: x_vf / Σ_f |x_vf|; a row of zeros stays. unit: the same, divided by `size`, the
    mean stored entry. standard: (x - mean_f) / deviation_f; sparse features are only divided. auto: unit
    where features are sparse, else standard.

    A graph on which the features were sparse makes them sparse everywhere, so that one node is scaled alike
    wherever it stands.
    """

    mode: str
    sparse: bool
    width: int
    size: float = 1.0
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()

    @classmethod
    def fit(cls, features: Features, mode: str) -> Self:
        """The constants of these features."""
        if mode not in SCALINGS:
            raise UnknownName.of("feature scaling", mode, SCALINGS)
        if mode == "auto":
            mode = "unit" if features.is_sparse else "standard"
        shape = (mode, features.is_sparse, features.shape[1])
        if mode == "unit":
            values = _row(features)
            stored = values.abs().sum() / (values != 0).sum().clamp(min=1)
            return cls(*shape, size=float(stored.clamp(min=TINY)))
        if mode == "standard":
            mean, deviation = _moments(features)
            deviation = torch.where(deviation > TINY, deviation, 1.0)
            return cls(*shape, mean=tuple(mean.tolist()), deviation=tuple(deviation.tolist()))
        return cls(*shape)

    def __call__(self, features: Features) -> Features:
        """These features under the constants that were fitted."""
        if features.shape[1] != self.width:
            raise BadGraph(f"the features have {features.shape[1]:,} columns, but {self.width:,} were fitted")
        same = features.as_sparse() if self.sparse else features.as_dense()
        return same.with_values(self._values(same))

    def _values(self, x: Features) -> Tensor:
        if self.mode == "raw":
            return x.values
        if self.mode == "standard":
            return self._standard(x)
        return _row(x) / self.size if self.mode == "unit" else _row(x)

    def _standard(self, x: Features) -> Tensor:
        if not x.is_sparse:
            mean, deviation = (
                torch.tensor(constant, dtype=x.dtype, device=x.device)
                for constant in (self.mean, self.deviation)
            )
            return (x.values - mean) / deviation
        deviation = torch.tensor(self.deviation, dtype=torch.float64, device=x.device)
        return (x.values.double() / deviation[x.part("col").long()]).to(x.dtype)

    def table(self) -> dict[str, Any]:
        """The constants as JSON keeps them."""
        return {**vars(self), "mean": list(self.mean), "deviation": list(self.deviation)}

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The scaling that `table` was made from."""
        return cls(**{**table, "mean": tuple(table["mean"]), "deviation": tuple(table["deviation"])})


def _row(x: Features) -> Tensor:
    """x_vf / Σ_f |x_vf|."""
    if not x.is_sparse:
        return x.values / x.values.abs().sum(1, keepdim=True).clamp(min=TINY)
    total = torch.zeros(x.shape[0], dtype=x.dtype, device=x.device).index_add_(0, x.row, x.values.abs())
    return x.values / total.clamp(min=TINY)[x.row]


def _moments(x: Features) -> tuple[Tensor, Tensor]:
    """Mean and deviation of every column (F,), over all entries, stored or not."""
    if not x.is_sparse:
        return x.values.mean(0), x.values.std(0, correction=0)
    column = x.part("col").long()
    zero = torch.zeros(x.shape[1], dtype=torch.float64, device=x.device)
    values = x.values.double()
    mean = zero.index_add(0, column, values) / max(x.shape[0], 1)
    square = zero.index_add(0, column, values.square()) / max(x.shape[0], 1)
    return mean, (square - mean.square()).clamp(min=0).sqrt()
