"""The knobs of tasks as options `--<task>.<knob>`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sanegnn.aims import KNOBS
from sanegnn.cli.config import own_options

if TYPE_CHECKING:
    Own = Any
else:
    Own = own_options(KNOBS, "Task")

Aims = Annotated[Own, Parameter(name="*")]
AIMS = Own()
