"""Contract suites: what every operation, strategy, task and dataset promises, to run on one of your own.

    from sanegnn.testing import check_node_aggregator

    def test_mine():
        check_node_aggregator("mine")

A suite is a row of small functions; the one that is broken raises AssertionError with a sentence.
"""

from sanegnn.testing.data import check_dataset, check_task
from sanegnn.testing.ops import check_layer_aggregator, check_node_aggregator, check_skip
from sanegnn.testing.plain import check_plain_layer_aggregator, check_plain_node_aggregator
from sanegnn.testing.pooling import check_pooling
from sanegnn.testing.strategies import check_strategy

__all__ = [
    "check_dataset",
    "check_layer_aggregator",
    "check_node_aggregator",
    "check_plain_layer_aggregator",
    "check_plain_node_aggregator",
    "check_pooling",
    "check_skip",
    "check_strategy",
    "check_task",
]
