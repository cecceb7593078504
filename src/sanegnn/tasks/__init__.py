"""What is learned and how it is judged: loss, metric and the views of the split."""

from sanegnn.tasks.base import Batch, Ready, SearchTask, Task
from sanegnn.tasks.metrics import metrics
from sanegnn.tasks.nodes import NodeSearch, NodeTask

__all__ = ["Batch", "NodeSearch", "NodeTask", "Ready", "SearchTask", "Task", "metrics"]
