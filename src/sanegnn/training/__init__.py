"""Training one net, tuning its setting, and choosing among the tuned."""

from sanegnn.training.loop import Trained, evaluate, figures, train_net

__all__ = ["Trained", "evaluate", "figures", "train_net"]
