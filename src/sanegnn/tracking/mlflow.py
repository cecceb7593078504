"""MLflow: a run of an experiment that is named after the data, with settings, curves and the report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from sanegnn.errors import BadSetting
from sanegnn.tracking.base import Number, trackers

BATCH, PARAMS = 1000, 100
"""Points and parameters that a call may bring."""
LONGEST = 500
"""Letters of a parameter."""
TAG = "sanegnn.run"


@trackers.add("mlflow")
class MLflow:
    """Writes to the tracking store `to`: `sqlite:///mlflow.db`, or a server's address."""

    usual: ClassVar[str] = "sqlite:///mlflow.db"

    def __init__(self, to: str, run: str, dataset: str, about: Mapping[str, str]) -> None:
        try:
            from mlflow.entities import Metric, Param
            from mlflow.tracking import MlflowClient
        except ModuleNotFoundError as error:
            raise BadSetting("MLflow is not installed: `pip install sanegnn[mlflow]` brings it") from error
        self.metric, self.client = Metric, MlflowClient(tracking_uri=to)
        kept = self.client.get_experiment_by_name(dataset)
        experiment = kept.experiment_id if kept else self.client.create_experiment(dataset)
        for old in self.client.search_runs([experiment], f"tags.`{TAG}` = '{run}'"):
            self.client.delete_run(old.info.run_id)
        self.run = self.client.create_run(experiment, run_name=run, tags={TAG: run}).info.run_id
        params = [Param(name, text[:LONGEST]) for name, text in about.items()]
        for begin in range(0, len(params), PARAMS):
            self.client.log_batch(self.run, params=params[begin : begin + PARAMS])

    def numbers(self, numbers: Sequence[Number]) -> None:
        """Metrics, in batches."""
        now = int(1000 * time.time())
        metrics = [self.metric(one.name, one.value, now, one.step) for one in numbers]
        for begin in range(0, len(metrics), BATCH):
            self.client.log_batch(self.run, metrics=metrics[begin : begin + BATCH])

    def file(self, path: Path) -> None:
        """An artifact."""
        self.client.log_artifact(self.run, str(path))

    def close(self, done: bool) -> None:
        """The end of the run, or that it goes on."""
        if done:
            self.client.set_terminated(self.run)
