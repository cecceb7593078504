"""Scores by name; larger is better for all of them.

scikit-learn is imported by the scores that need it: it is slow to load, and every worker would.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from sanegnn.registry import Registry

Metric = Callable[[Tensor, Tensor], float]
"""(n, outputs) logits and (n,) classes -> a score."""

metrics: Registry[Metric] = Registry("metric")


@metrics.add("accuracy")
def accuracy(logits: Tensor, target: Tensor) -> float:
    """The share of nodes whose largest logit is at their class."""
    return float((logits.argmax(1) == target).double().mean())


@metrics.add("macro_f1")
def macro_f1(logits: Tensor, target: Tensor) -> float:
    """The mean over classes of the harmonic mean of precision and recall."""
    from sklearn.metrics import f1_score

    return float(f1_score(target.cpu(), logits.argmax(1).cpu(), average="macro", zero_division=0.0))


@metrics.add("balanced_accuracy")
def balanced_accuracy(logits: Tensor, target: Tensor) -> float:
    """The mean over classes of the share of its nodes that are found."""
    from sklearn.metrics import balanced_accuracy_score

    return float(balanced_accuracy_score(target.cpu(), logits.argmax(1).cpu()))


@metrics.add("roc_auc")
def roc_auc(logits: Tensor, target: Tensor) -> float:
    """The area under the ROC curve; one class against the rest, averaged, where there are more than two."""
    from sklearn.metrics import roc_auc_score

    odds = torch.softmax(logits.double(), dim=1).cpu().numpy()
    truth = target.cpu().numpy()
    if odds.shape[1] == 2:
        return float(roc_auc_score(truth, odds[:, 1]))
    present = np.unique(truth)
    return float(np.mean([roc_auc_score(truth == place, odds[:, place]) for place in present]))


label_metrics: Registry[Metric] = Registry("metric of several labels")
"""For nodes with several labels: (n, C) logits and (n, C) truths of 0 and 1 -> a score."""


@label_metrics.add("micro_f1")
def micro_f1(logits: Tensor, target: Tensor) -> float:
    """2 TP / (2 TP + FP + FN) over all labels of all nodes; a label is said where its logit is above 0."""
    said, true = logits > 0, target > 0
    hits = int((said & true).sum())
    return 2 * hits / max(1, int(said.sum()) + int(true.sum()))


@label_metrics.add("macro_f1")
def macro_f1_of_labels(logits: Tensor, target: Tensor) -> float:
    """The mean over labels of their F1."""
    said, true = logits > 0, target > 0
    hits = (said & true).sum(0).double()
    return float((2 * hits / (said.sum(0) + true.sum(0)).clamp(min=1)).mean())


@label_metrics.add("subset_accuracy")
def subset_accuracy(logits: Tensor, target: Tensor) -> float:
    """The share of nodes all of whose labels are right."""
    return float(((logits > 0) == (target > 0)).all(1).double().mean())


@label_metrics.add("roc_auc")
def roc_auc_of_labels(logits: Tensor, target: Tensor) -> float:
    """The mean over labels of the area under the ROC curve; labels that all or none have are left out."""
    from sklearn.metrics import roc_auc_score

    truth, odds = target.cpu().numpy() > 0, logits.double().cpu().numpy()
    mixed = [k for k in range(truth.shape[1]) if 0 < truth[:, k].sum() < len(truth)]
    return float(np.mean([roc_auc_score(truth[:, k], odds[:, k]) for k in mixed])) if mixed else 0.5


link_metrics: Registry[Metric] = Registry("metric of links")
"""(n,) logits of pairs and (n,) 1 where a pair is joined, 0 where not -> a score."""


@link_metrics.add("roc_auc")
def roc_auc_of_pairs(logits: Tensor, target: Tensor) -> float:
    """The share of (joined, not joined) whose logits are in this order; equal ones count a half."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(target.cpu(), logits.double().cpu()))


@link_metrics.add("average_precision")
def average_precision(logits: Tensor, target: Tensor) -> float:
    """Σ over the joined pairs of the precision among those with at least their logit, over their number."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(target.cpu(), logits.double().cpu()))


def ranks(logits: Tensor, target: Tensor) -> Tensor:
    """The rank of every joined pair among all that are not, the best 1; in the middle of its equals."""
    apart = logits[target == 0].double().sort().values
    joined = logits[target > 0].double()
    above = len(apart) - torch.searchsorted(apart, joined, right=True)
    equal = torch.searchsorted(apart, joined, right=True) - torch.searchsorted(apart, joined)
    return 1 + above + equal / 2


@link_metrics.add("mrr")
def mrr(logits: Tensor, target: Tensor) -> float:
    """The mean of 1 / rank over the joined pairs."""
    return float((1 / ranks(logits, target)).mean())


def _hits(k: int) -> Metric:
    def hits(logits: Tensor, target: Tensor) -> float:
        return float((ranks(logits, target) <= k).double().mean())

    hits.__doc__ = f"The share of joined pairs among the best {k}."
    return hits


for _k in (10, 50, 100):
    link_metrics.add(f"hits@{_k}")(_hits(_k))


number_metrics: Registry[Metric] = Registry("metric of numbers")
"""(n,) predicted and (n,) true numbers -> a score."""


@number_metrics.add("neg_mae")
def neg_mae(said: Tensor, target: Tensor) -> float:
    """The mean absolute error, times -1."""
    return -float((said.double() - target.double()).abs().mean())


@number_metrics.add("neg_rmse")
def neg_rmse(said: Tensor, target: Tensor) -> float:
    """The root of the mean squared error, times -1."""
    return -float((said.double() - target.double()).square().mean().sqrt())
