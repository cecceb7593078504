"""Node features, held dense or sparse, and the ways to scale them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from sanegnn.errors import BadGraph
from sanegnn.kernels.scaling import Scaling
from sanegnn.kernels.units import cut

if TYPE_CHECKING:
    import numpy.typing as npt

SPARSE_BELOW = 0.2


class Features:
    """Node features X, (N, F) float32: a dense matrix, or CSR with its transpose when few entries are stored.

    Build one with `Features.of`. `dense` is the matrix or None; a sparse one has `ptr` (N+1,), `col` and
    `values` (nnz,), and the transpose `t_ptr` (F+1,), `t_row` and `t_entry` (nnz,), where `t_entry` is the
    position in `values`.
    """

    def __init__(self, shape: tuple[int, int], parts: dict[str, Tensor]) -> None:
        self.shape = shape
        self._parts = parts

    @classmethod
    def of(cls, x: Any) -> Features:
        """Features from a tensor, an array or a SciPy matrix; sparse when under a fifth is not zero."""
        if isinstance(x, Features):
            return x
        if isinstance(x, Tensor):
            x = x.detach().cpu()
            x = x.to_dense().numpy() if x.layout is torch.strided else _scipy_of(x)
        if len(x.shape) != 2:
            raise BadGraph(f"node features must be of shape (nodes, features); got {tuple(x.shape)}")
        kind = np.float64 if x.dtype == np.float64 else np.float32
        scattered: bool = sp.issparse(x)
        stored = x.nnz if scattered else np.count_nonzero(x)
        if stored < SPARSE_BELOW * x.shape[0] * x.shape[1]:
            return cls._sparse(sp.csr_array(x, dtype=kind))
        dense = np.ascontiguousarray(x.toarray() if scattered else x, dtype=kind)
        return cls((int(x.shape[0]), int(x.shape[1])), {"dense": torch.tensor(dense)})

    @classmethod
    def _sparse(cls, x: Any) -> Features:
        x = x.copy()
        x.sum_duplicates()
        x.eliminate_zeros()
        entry: Any = sp.csr_array(
            (np.arange(x.nnz, dtype=np.int64), x.indices, x.indptr), shape=x.shape
        ).tocsc()
        parts = {
            "ptr": x.indptr,
            "col": x.indices,
            "entry": np.arange(x.nnz),
            "t_ptr": entry.indptr,
            "t_row": entry.indices,
            "t_entry": entry.data,
        }
        number = np.int32 if x.nnz < 2**31 - 1 else np.int64
        tensors = {name: torch.from_numpy(part.astype(number)) for name, part in parts.items()}
        return cls((int(x.shape[0]), int(x.shape[1])), tensors | {"values": torch.from_numpy(x.data)})

    @property
    def is_sparse(self) -> bool:
        """Whether only the stored entries are held."""
        return "values" in self._parts

    @property
    def values(self) -> Tensor:
        """The stored entries: (nnz,), or the whole matrix when dense."""
        return self._parts["values" if self.is_sparse else "dense"]

    @property
    def nnz(self) -> int:
        """The number of stored entries; all entries when dense."""
        return self.values.numel()

    @property
    def device(self) -> torch.device:
        """Where the arrays are."""
        return self.values.device

    @property
    def dtype(self) -> torch.dtype:
        """float32, or float64 when built from float64."""
        return self.values.dtype

    def part(self, name: str) -> Tensor:
        """One of the index arrays of the sparse form."""
        return self._parts[name]

    @cached_property
    def row(self) -> Tensor:
        """The row of each stored entry of the sparse form, (nnz,) int64."""
        nodes = torch.arange(self.shape[0], device=self.device)
        return torch.repeat_interleave(nodes, self.part("ptr").diff().long(), output_size=self.nnz)

    @cached_property
    def units(self) -> npt.NDArray[np.int64]:
        """The row ranges that the compiled kernels share out between threads."""
        return cut(self.part("ptr"))

    @cached_property
    def t_units(self) -> npt.NDArray[np.int64]:
        """The same for the transpose."""
        return cut(self.part("t_ptr"))

    def to(self, target: torch.device | str | torch.dtype) -> Features:
        """The same features on a device, or with values of another type."""
        if isinstance(target, torch.dtype):
            return self.with_values(self.values.to(target))
        return Features(self.shape, {name: part.to(target) for name, part in self._parts.items()})

    def to_dense(self) -> Tensor:
        """The whole matrix, (N, F)."""
        if not self.is_sparse:
            return self.values
        out = torch.zeros(self.shape, dtype=self.dtype, device=self.device)
        out[self.row, self.part("col").long()] = self.values
        return out

    def as_sparse(self) -> Features:
        """The same features in the sparse form."""
        if self.is_sparse:
            return self
        return Features._sparse(sp.csr_array(self.values.cpu().numpy())).to(self.device)

    def as_dense(self) -> Features:
        """The same features in the dense form."""
        return Features(self.shape, {"dense": self.to_dense()}) if self.is_sparse else self

    def take(self, nodes: Tensor) -> Features:
        """The rows of these nodes."""
        if not self.is_sparse:
            return Features((nodes.numel(), self.shape[1]), {"dense": self.values[nodes]})
        csr = sp.csr_array(
            tuple(self.part(name).cpu().numpy() for name in ("values", "col", "ptr")), self.shape
        )
        return Features._sparse(csr[nodes.cpu().numpy()]).to(self.device)

    def scaled(self, mode: str) -> Features:
        """These features scaled in one of the ways of `scaling.SCALINGS`, by constants of their own."""
        return Scaling.fit(self, mode)(self)

    def with_values(self, values: Tensor) -> Features:
        """The same places with other values."""
        return Features(self.shape, self._parts | {"values" if self.is_sparse else "dense": values})

    def __getstate__(self) -> dict[str, Any]:
        return {"shape": self.shape, "_parts": self._parts}

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return f"Features({self.shape[0]} × {self.shape[1]}, {kind}, nnz={self.nnz})"


def _scipy_of(x: Tensor) -> Any:
    coo: Tensor = x.to_sparse_coo().coalesce()  # type: ignore[no-untyped-call]
    row, column = coo.indices().numpy()
    return sp.coo_array((coo.values().numpy(), (row, column)), shape=tuple(coo.shape))
