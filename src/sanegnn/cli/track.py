"""`track`: the records of a run for TensorBoard or MLflow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sanegnn.cli import show
from sanegnn.cli.config import OUTPUT, Shown


def track(
    run: Annotated[Path, Parameter(help="a run folder")],
    /,
    *,
    tracker: Annotated[str, Parameter(help="tensorboard or mlflow")] = "tensorboard",
    to: Annotated[
        str, Parameter(help="TensorBoard's folder, or MLflow's tracking store such as sqlite:///mlflow.db")
    ] = "",
    follow: Annotated[bool, Parameter(help="go on until the run is done", negative="")] = False,
    output: Shown = OUTPUT,
) -> None:
    """Hand the records of a run to TensorBoard or MLflow."""
    from sanegnn.tracking import track as hand

    told = hand(run, tracker, to, follow=follow)
    if output.json:
        show.as_json({"run": run.name, "tracker": tracker, "to": to, "points": told})
    else:
        show.say(f"{told:,} points of {run} handed to {tracker}")
