"""Every registered task keeps the promises of tasks."""

import dataclasses

import pytest

from sanegnn.aims import KNOBS
from sanegnn.bundle.model import models
from sanegnn.data import GraphData
from sanegnn.data.pairs import Pairs
from sanegnn.errors import BadSetting, UnknownName
from sanegnn.settings import DataChoice, NoKnobs
from sanegnn.space import presets
from sanegnn.tasks import InductiveTask, LinkTask, NodeTask, kind_of, task_of, tasks
from sanegnn.testing import check_task
from sanegnn.testing.examples import EXAMPLES, example_set, example_task


def test_every_task_has_an_example():
    assert set(EXAMPLES) == set(tasks)


@pytest.mark.parametrize("name", tasks)
def test_it_keeps_the_promises_of_tasks(name):
    task = EXAMPLES[name]()
    assert type(task) is tasks[name]
    check_task(task)


def test_several_labels_keep_them_too():
    check_task(InductiveTask.of(example_set(several=True)))


@pytest.mark.parametrize("name", tasks)
def test_its_knobs_and_its_space_are_known(name):
    assert tasks[name].knobs is KNOBS.get(name, NoKnobs)
    assert tasks[name].space in presets


def test_a_pair_that_messages_take_breaks_the_contract():
    task = EXAMPLES["links"]()
    leaking = dataclasses.replace(task, val=Pairs(task.train[:, :4], task.val.apart), _made={})
    with pytest.raises(AssertionError, match="in train and in val"):
        check_task(leaking)
    only_told = dataclasses.replace(leaking, train=task.train[:, 4:], _made={})
    with pytest.raises(AssertionError, match="messages go along 4 of the pairs"):
        check_task(only_told)


def test_a_graph_in_two_parts_breaks_the_contract():
    task = EXAMPLES["inductive"]()
    with pytest.raises(AssertionError, match="is in"):
        check_task(_sharing(task))


def _sharing(task):
    """A task whose tensors give the training batches for validation."""
    ready = task.ready("raw", "cpu")
    ready._batches["val"] = ready._batches["train"]
    return task


def test_the_data_names_its_task_unless_one_is_asked_for():
    data = example_task().data
    assert kind_of(data) == "nodes"
    assert isinstance(task_of(data, DataChoice()), NodeTask)
    assert isinstance(task_of(data, DataChoice(task="links")), LinkTask)
    assert isinstance(task_of(example_set(), DataChoice()), InductiveTask)


def test_data_of_the_wrong_kind_is_refused_with_its_tasks():
    with pytest.raises(
        BadSetting, match=r"task 'links' needs a GraphData, but five is a GraphSet.*inductive"
    ):
        kind_of(example_set(), "links")
    with pytest.raises(UnknownName, match="no task named 'link'; did you mean 'links'"):
        kind_of(example_task().data, "link")


def test_a_model_s_task_can_be_read():
    assert {"nodes", "links"} <= set(models)
    assert GraphData.task == "nodes"
