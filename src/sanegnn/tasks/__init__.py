"""What is learned and how it is judged: loss, metric and the views of the split."""

from sanegnn.tasks.alignment import AlignmentSearch, AlignmentTask
from sanegnn.tasks.base import (
    Batch,
    Figured,
    Finished,
    Ready,
    Savable,
    SearchTask,
    Task,
    kind_of,
    own_knobs,
    refuse_unfit,
    task_of,
    tasks,
)
from sanegnn.tasks.graphs import GraphsSearch, GraphsTask
from sanegnn.tasks.inductive import InductiveSearch, InductiveTask
from sanegnn.tasks.links import LinkSearch, LinkTask
from sanegnn.tasks.metrics import label_metrics, link_metrics, metrics, number_metrics
from sanegnn.tasks.nodes import NodeSearch, NodeTask

__all__ = [
    "AlignmentSearch",
    "AlignmentTask",
    "Batch",
    "Figured",
    "Finished",
    "GraphsSearch",
    "GraphsTask",
    "InductiveSearch",
    "InductiveTask",
    "LinkSearch",
    "LinkTask",
    "NodeSearch",
    "NodeTask",
    "Ready",
    "Savable",
    "SearchTask",
    "Task",
    "kind_of",
    "label_metrics",
    "link_metrics",
    "metrics",
    "number_metrics",
    "own_knobs",
    "refuse_unfit",
    "task_of",
    "tasks",
]
