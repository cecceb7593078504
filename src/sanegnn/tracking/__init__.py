"""Other people's dashboards, fed from a run's records: TensorBoard and MLflow."""

from sanegnn.tracking import mlflow, tensorboard
from sanegnn.tracking.base import Number, Tracker, trackers
from sanegnn.tracking.feed import Feed, hand_over, track

__all__ = ["Feed", "Number", "Tracker", "hand_over", "mlflow", "tensorboard", "track", "trackers"]
