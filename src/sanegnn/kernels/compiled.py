"""The compiled path for CPU tensors of float32 and float64, under the names of the reference."""

from __future__ import annotations

from sanegnn.kernels.cpu_aggregate import aggregate
from sanegnn.kernels.cpu_attend import attend
from sanegnn.kernels.cpu_dense import add_scaled, dropout, project
from sanegnn.kernels.cpu_distance import distances
from sanegnn.kernels.cpu_largest import largest
from sanegnn.kernels.cpu_lstm import lstm_readout, lstm_step
from sanegnn.kernels.products import linear, linear_sum

__all__ = [
    "add_scaled",
    "aggregate",
    "attend",
    "distances",
    "dropout",
    "largest",
    "linear",
    "linear_sum",
    "lstm_readout",
    "lstm_step",
    "project",
]
