"""The knobs of tasks as options `--<task>.<knob>`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sanegnn.cli.config import own_options
from sanegnn.settings import NoKnobs
from sanegnn.tasks import tasks

KNOBS = {name: tasks[name].knobs for name in tasks if tasks[name].knobs is not NoKnobs}

if TYPE_CHECKING:
    Own = Any
else:
    Own = own_options(KNOBS, "Task")

Aims = Annotated[Own, Parameter(name="*", show=bool(KNOBS))]
AIMS = Own()
