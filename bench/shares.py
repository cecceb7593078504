"""Where a search epoch spends its time, against the bytes and operations that it cannot do without."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile, record_function

from bench import pairs
from bench.rows import short
from sanegnn.kernels import products
from sanegnn.strategies.course import Course
from sanegnn.strategies.darts import Algorithm1

EPOCHS = 5


@dataclass(frozen=True)
class Sizes:
    """N nodes, M edges with self-loops, stored features, the width D, K layers."""

    nodes: int
    edges: int
    stored: int
    width: int
    depth: int

    @classmethod
    def of(cls, course: Course) -> Sizes:
        """The sizes of a search on one graph."""
        inputs = course.ready.batches("train")[0].inputs
        graph, features = inputs.graph, inputs.features
        return cls(graph.num_nodes, graph.src.numel(), features.nnz, course.net.shape.width, course.net.depth)


ATTENTIONS, POOLS = 6, 4
"""The attention aggregators of a layer, and the pools that the other five share."""

Bytes = Callable[[Sizes], int]
"""What one call must read and write; a row that is gathered for an edge counts once for the edge."""

KERNELS: dict[str, tuple[str, Bytes]] = {
    "Attend": ("attention, forward", lambda s: 4 * ATTENTIONS * s.width * (s.edges + s.nodes)),
    "AttendBackward": (
        "attention, backward by source and by target",
        lambda s: 4 * ATTENTIONS * s.width * (2 * s.edges + 3 * s.nodes),
    ),
    "Aggregate": ("sum, mean, max, GCN, forward", lambda s: 4 * s.width * (s.edges + POOLS * s.nodes)),
    "AggregateBackward": (
        "sum, mean, max, GCN, backward",
        lambda s: 4 * s.width * (POOLS * s.edges + s.nodes),
    ),
    "Project": ("sparse features times stem, forward", lambda s: 4 * s.stored * (s.width + 2)),
    "ProjectBackward": ("sparse features times stem, backward", lambda s: 4 * s.stored * (s.width + 2)),
    "Dropout": ("dropout, forward", lambda s: 8 * s.nodes * s.width),
    "DropoutBackward": ("dropout, backward", lambda s: 8 * s.nodes * s.width),
    "LstmStep": ("gates of GeniePath's LSTM, forward", lambda s: 16 * s.nodes * s.width),
    "LstmStepBackward": ("gates of GeniePath's LSTM, backward", lambda s: 28 * s.nodes * s.width),
    "LstmReadout": (
        "gates of the layer aggregator's LSTM, forward",
        lambda s: 4 * 6 * s.nodes * s.depth**2 * s.width,
    ),
    "LstmReadoutBackward": (
        "gates of the layer aggregator's LSTM, backward",
        lambda s: 4 * 12 * s.nodes * s.depth**2 * s.width,
    ),
}
PRODUCTS = {
    "aten::mm": (0, 1),
    "aten::mv": (0, 1),
    "aten::bmm": (0, 2),
    "aten::addmm": (1, 1),
    "aten::addmm_": (1, 1),
    "aten::addmv_": (1, 1),
    "mkldnn::_linear_pointwise": (0, 0),
}
"""The place of the left matrix among the arguments, and the dimension of the right one that is not summed."""

COMPILED = ("tall_product", "tall_outer")
"""The products of sanegnn's own, which torch's profiler does not see."""

MOVES = ("aten::copy_", "aten::cat", "aten::fill_", "aten::zero_", "aten::index", "aten::_index_put_impl_")
STEPS = ("Optimizer.step#Adam.step", "aten::_fused_adam_")
ELEMENTWISE = """
    mul mul_ add add_ sub div sum tanh tanh_backward elu elu_backward amax eq neg relu relu_ clamp_min where
    threshold_backward masked_fill max softmax _softmax
"""
ELEMENTWISE_NAMES = frozenset(f"aten::{name}" for name in ELEMENTWISE.split())


@dataclass
class Part:
    """The time that calls of one kind take in an epoch, with their bytes or operations."""

    calls: float = 0.0
    ms: float = 0.0
    bytes: float = 0.0
    flops: float = 0.0

    def add(self, event: Any, moved: float, flops: float) -> None:
        """Count the calls of one event."""
        self.calls += event.count / EPOCHS
        self.ms += event.self_cpu_time_total / 1e3 / EPOCHS
        self.bytes += moved * event.count / EPOCHS
        self.flops += flops * event.count / EPOCHS

    def work(self) -> tuple[str, str]:
        """What must be done, and how fast that was."""
        if self.flops:
            return f"{short(self.flops / 1e9)} GFLOP", f"{short(self.flops / self.ms / 1e6)} GFLOP/s"
        if self.bytes:
            return f"{short(self.bytes / 1e6)} MB", f"{short(self.bytes / self.ms / 1e6)} GB/s"
        return "–", "–"


def profiled(data: str) -> str:
    """The table of a search epoch on a dataset, one thread."""
    course = pairs.course(pairs.dataset(data), Algorithm1())
    seconds = _epoch(course)
    with (
        _told_products() as flops,
        profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded,
    ):
        for _ in range(EPOCHS):
            course.step()
    parts = _parts(recorded.key_averages(group_by_input_shape=True), Sizes.of(course))
    parts["matrix products"].flops += sum(flops) / EPOCHS
    head = (
        f"A search epoch on {data}, one thread: {1e3 * seconds:.1f} ms; the shares are of "
        f"{sum(part.ms for part in parts.values()):.1f} ms under the profiler. This core copies "
        f"{copy_rate():.1f} GB/s beyond its caches and multiplies large matrices at "
        f"{product_rate():.0f} GFLOP/s."
    )
    return f"{head}\n\n{_table(parts)}"


@contextmanager
def _told_products() -> Iterator[list[int]]:
    """Inside, the profiler is told of the compiled products; gives the operations of every one."""
    flops: list[int] = []

    def told(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def run(left: Tensor, right: Tensor, *more: Any) -> Tensor:
            flops.append(2 * left.numel() * right.shape[1])
            with record_function(name):
                return function(left, right, *more)

        return run

    before = {name: getattr(products, name) for name in COMPILED}
    vars(products).update({name: told(name, function) for name, function in before.items()})
    try:
        yield flops
    finally:
        vars(products).update(before)


def _epoch(course: Course) -> float:
    times = []
    for _ in range(EPOCHS + 3):
        began = time.perf_counter()
        course.step()
        times.append(time.perf_counter() - began)
    return median(times[3:])


def _parts(events: Any, sizes: Sizes) -> dict[str, Part]:
    parts: dict[str, Part] = defaultdict(Part)
    for event in events:
        name, shapes = event.key, event.input_shapes
        if name in KERNELS:
            label, moved = KERNELS[name]
            parts[label].add(event, moved(sizes), 0)
        elif name in COMPILED:
            parts["matrix products"].add(event, 0, 0)
        elif name in PRODUCTS:
            parts["matrix products"].add(event, 0, _flops(shapes, *PRODUCTS[name]))
        elif name in MOVES:
            parts["copies and concatenations"].add(event, 4 * _numbers(shapes), 0)
        elif name in STEPS:
            parts["Adam"].add(event, 0, 0)
        elif name in ELEMENTWISE_NAMES:
            parts["element-wise functions and sums"].add(event, 4 * _numbers(shapes), 0)
        else:
            parts["everything else, mostly calls"].add(event, 0, 0)
    return parts


def _numbers(shapes: Any) -> int:
    return sum(math.prod(shape) for shape in shapes if shape)


def _flops(shapes: Any, left: int, free: int) -> int:
    """2 m k n of a product; the right factor is the last matrix, and n is 1 where that is a vector."""
    right = max(place for place, shape in enumerate(shapes) if len(shape) > 1)
    return 2 * math.prod(shapes[left]) * (1 if right == left else shapes[right][free])


def _table(parts: dict[str, Part]) -> str:
    whole = sum(part.ms for part in parts.values())
    lines = ["| part | calls | ms | share | must do | rate |", "|---|--:|--:|--:|--:|--:|"]
    for label, part in sorted(parts.items(), key=lambda pair: -pair[1].ms):
        cells = (label, f"{part.calls:.0f}", f"{part.ms:.2f}", f"{100 * part.ms / whole:.1f}%", *part.work())
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def copy_rate(size: int = 2**26) -> float:
    """GB a second, read and written, of a copy that no cache holds."""
    source, target = torch.ones(size), torch.empty(size)
    return 8 * size / _best(lambda: target.copy_(source)) / 1e9


def product_rate(size: int = 1024) -> float:
    """GFLOP a second of a large matrix product."""
    left, right = torch.ones(size, size), torch.ones(size, size)
    return 2 * size**3 / _best(lambda: products.product(left, right)) / 1e9


def _best(action: Callable[[], object]) -> float:
    times = []
    for _ in range(7):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return min(times)
