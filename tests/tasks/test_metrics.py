import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score

from sanegnn.errors import UnknownName
from sanegnn.seeds import generator
from sanegnn.tasks import metrics

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
