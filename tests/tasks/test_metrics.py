import numpy as np
import pytest
import torch
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    roc_auc_score,
)

from sanegnn.errors import UnknownName
from sanegnn.seeds import generator
from sanegnn.tasks import label_metrics, link_metrics, metrics
from sanegnn.tasks.metrics import ranks

LOGITS = torch.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 0.5], [0.0, 0.0, 5.0], [4.0, 0.0, 0.0]])
TARGET = torch.tensor([0, 1, 2, 2, 0])
GUESS = [0, 1, 0, 2, 0]
REFERENCE = {
    "accuracy": lambda y, logits: accuracy_score(y, logits.argmax(1)),
    "macro_f1": lambda y, logits: f1_score(y, logits.argmax(1), average="macro"),
    "balanced_accuracy": lambda y, logits: balanced_accuracy_score(y, logits.argmax(1)),
    "roc_auc": lambda y, logits: np.mean([roc_auc_score(y == k, softmax(logits)[:, k]) for k in range(3)]),
}


def softmax(logits):
    return torch.softmax(logits.double(), 1).numpy()


def test_by_hand():
    assert metrics["accuracy"](LOGITS, TARGET) == 4 / 5
    assert metrics["balanced_accuracy"](LOGITS, TARGET) == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert metrics["macro_f1"](LOGITS, TARGET) == pytest.approx((4 / 5 + 1 + 2 / 3) / 3)


def test_every_metric_has_a_reference():
    assert set(REFERENCE) == set(metrics)


@pytest.mark.parametrize("name", metrics)
def test_it_equals_scikit_learn(name):
    rng = generator(0, "metrics")
    logits, y = torch.from_numpy(rng.standard_normal((50, 3))).float(), rng.integers(3, size=50)
    assert metrics[name](logits, torch.from_numpy(y)) == pytest.approx(REFERENCE[name](y, logits))


@pytest.mark.parametrize("name", metrics)
def test_right_is_one_and_better_than_wrong(name):
    right = torch.eye(3)[TARGET] * 9
    assert metrics[name](right, TARGET) == pytest.approx(1.0)
    assert metrics[name](-right, TARGET) < 0.5


def test_roc_auc_of_two_classes_ranks_by_the_second():
    logits = torch.tensor([[0.0, 1.0], [0.0, 2.0], [0.0, 0.5], [0.0, 0.1]])
    assert metrics["roc_auc"](logits, torch.tensor([1, 1, 0, 0])) == 1.0
    assert metrics["roc_auc"](logits, torch.tensor([1, 0, 1, 0])) == 0.5


def test_roc_auc_leaves_out_a_class_that_is_not_there():
    assert 0 <= metrics["roc_auc"](LOGITS, torch.tensor([0, 1, 1, 0, 0])) <= 1


def test_an_unknown_metric_gets_the_near_one():
    with pytest.raises(UnknownName, match="no metric named 'acuracy'; did you mean 'accuracy'"):
        metrics["acuracy"]


# --- several labels ----------------------------------------------------------------------------------

SAID = torch.tensor([[1.0, -1.0, 2.0], [-1.0, -2.0, 3.0], [0.5, 0.5, -0.5]])
TRUE = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
OF_LABELS = {
    "micro_f1": lambda y, logits: f1_score(y, logits > 0, average="micro"),
    "macro_f1": lambda y, logits: f1_score(y, logits > 0, average="macro", zero_division=0.0),
    "subset_accuracy": lambda y, logits: accuracy_score(y, logits > 0),
    "roc_auc": lambda y, logits: roc_auc_score(y, logits, average="macro"),
}


def test_micro_f1_by_hand():
    """4 labels are rightly said, 1 wrongly, 2 are missing."""
    assert label_metrics["micro_f1"](SAID, TRUE) == pytest.approx(8 / (8 + 1 + 2))
    assert label_metrics["subset_accuracy"](SAID, TRUE) == pytest.approx(1 / 3)
    assert label_metrics["micro_f1"](-torch.ones(2, 2), torch.zeros(2, 2)) == 0.0


def test_every_metric_of_labels_has_a_reference():
    assert set(OF_LABELS) == set(label_metrics)


@pytest.mark.parametrize("name", label_metrics)
def test_a_metric_of_labels_equals_scikit_learn(name):
    rng = generator(0, "labels")
    logits, y = rng.standard_normal((60, 5)), rng.integers(2, size=(60, 5))
    ours = label_metrics[name](torch.from_numpy(logits), torch.from_numpy(y))
    assert ours == pytest.approx(OF_LABELS[name](y, logits))


def test_roc_auc_leaves_out_a_label_that_all_nodes_have():
    found = label_metrics["roc_auc"](SAID, torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]))
    assert found == pytest.approx((1.0 + 0.5) / 2)


# --- links -------------------------------------------------------------------------------------------

JOINED, APART = [0.9, 0.5, 0.1], [0.8, 0.5, 0.2, 0.15]
PAIRS = torch.tensor(JOINED + APART)
LINKS = torch.tensor([1.0] * 3 + [0.0] * 4)


def test_ranks_by_hand():
    """0.9 is above all; 0.5 is below one and equal to one; 0.1 is below all four."""
    assert ranks(PAIRS, LINKS).tolist() == [1.0, 2.5, 5.0]
    assert link_metrics["mrr"](PAIRS, LINKS) == pytest.approx((1 + 1 / 2.5 + 1 / 5) / 3)
    assert link_metrics["hits@10"](PAIRS, LINKS) == 1.0


def test_hits_count_ranks_up_to_k():
    apart = torch.arange(200.0)
    joined = torch.tensor([195.5, 145.5, 120.5])
    logits, links = torch.cat([joined, apart]), torch.cat([torch.ones(3), torch.zeros(200)])
    assert [link_metrics[f"hits@{k}"](logits, links) for k in (10, 50, 100)] == pytest.approx(
        [1 / 3, 1 / 3, 1]
    )


def test_whoever_says_the_same_of_all_pairs_gets_no_more_than_chance():
    same = torch.zeros(400)
    links = torch.cat([torch.ones(200), torch.zeros(200)])
    assert link_metrics["roc_auc"](same, links) == 0.5
    assert link_metrics["hits@100"](same, links) == 0.0
    assert link_metrics["mrr"](same, links) == pytest.approx(1 / 101)


@pytest.mark.parametrize(
    ("name", "reference"), [("roc_auc", roc_auc_score), ("average_precision", average_precision_score)]
)
def test_areas_equal_scikit_learn(name, reference):
    assert link_metrics[name](PAIRS, LINKS) == pytest.approx(reference(LINKS, PAIRS))
