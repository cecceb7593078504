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
