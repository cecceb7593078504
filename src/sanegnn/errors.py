"""Every error that sanegnn raises on purpose.

    SaneError
    ├── UnknownName      a name that no registry, dataset or preset knows
    ├── BadArchitecture  an architecture text that cannot be read or does not fit the space
    ├── BadSetting       a knob out of range, of the wrong type, or not known
    ├── BadGraph         a graph, feature or label that cannot be worked with
    ├── BadSplit         a split that leaves a part empty or a class too small
    ├── SealedTest       somebody asked for test labels before the end
    ├── RunFolder        a run folder that is corrupt, locked or belongs to other settings
    │   └── RunInUse     another process works in it
    ├── BadModel         a model folder that is missing, damaged or of a newer version
    ├── BadExport        a model that cannot be written in that format, or comes out of it another
    └── TrainingFailed   a training that ended without one finite score

Each message names the thing, says what came, and shows the way out.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SaneError(Exception):
    """The root: catch it to catch whatever a user can mend."""


class UnknownName(SaneError):
    """A name that is not there, with the nearest one that is."""

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str]) -> UnknownName:
        names = sorted(known)
        near = difflib.get_close_matches(name.replace("-", "_").lower(), names, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
        return cls(f"no {kind} named {name!r}; {hint}")


class BadArchitecture(SaneError):
    """An architecture text that cannot be read or does not fit."""


class BadSetting(SaneError):
    """A knob out of range, of the wrong type, or not known."""


class BadGraph(SaneError):
    """A graph, feature or label that cannot be worked with."""


class BadSplit(SaneError):
    """A split that leaves a part empty or a class too small."""


class SealedTest(SaneError):
    """Test labels were asked for before the end."""


class RunFolder(SaneError):
    """A run folder that is corrupt, locked or belongs to other settings."""


class RunInUse(RunFolder):
    """A run folder in which another process works."""


class BadModel(SaneError):
    """A model folder that is missing, damaged or of a newer version."""


class BadExport(SaneError):
    """A model that cannot be written in that format, or that comes out of it as another."""


class TrainingFailed(SaneError):
    """A training that ended without one finite score."""
