"""TensorBoard: an event file a run, `tensorboard --logdir TO` shows them beside each other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from sanegnn.errors import BadSetting
from sanegnn.tracking.base import Number, trackers


@trackers.add("tensorboard")
class TensorBoard:
    """Writes event files below the folder `to`."""

    usual: ClassVar[str] = "tensorboard"

    def __init__(self, to: str, run: str, dataset: str, about: Mapping[str, str]) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ModuleNotFoundError as error:
            raise BadSetting(
                "TensorBoard is not installed: `pip install sanegnn[tensorboard]` brings it"
            ) from error
        folder = Path(to) / run
        for old in folder.glob("events.out.tfevents.*"):
            old.unlink()
        self.writer = SummaryWriter(str(folder))
        told = json.dumps({"dataset": dataset, **about}, ensure_ascii=False, indent=1)
        self.writer.add_text("settings", f"```\n{told}\n```")

    def numbers(self, numbers: Sequence[Number]) -> None:
        """Scalars by their names."""
        for one in numbers:
            self.writer.add_scalar(one.name, one.value, one.step)
        self.writer.flush()

    def file(self, path: Path) -> None:
        """Where the file is: TensorBoard keeps none."""
        self.writer.add_text(path.name, str(path.resolve()))

    def close(self, done: bool) -> None:
        """The end of the file."""
        self.writer.close()
