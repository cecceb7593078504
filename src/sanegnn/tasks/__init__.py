"""What is learned and how it is judged: loss, metric and the views of the split."""

from sanegnn.tasks.base import (
    Batch,
    Finished,
    Ready,
    Savable,
    SearchTask,
    Task,
    kind_of,
    own_knobs,
    task_of,
    tasks,
)
from sanegnn.tasks.metrics import metrics
from sanegnn.tasks.nodes import NodeSearch, NodeTask

__all__ = [
    "Batch",
    "Finished",
    "NodeSearch",
    "NodeTask",
    "Ready",
    "Savable",
    "SearchTask",
    "Task",
    "kind_of",
    "metrics",
    "own_knobs",
    "task_of",
    "tasks",
]
