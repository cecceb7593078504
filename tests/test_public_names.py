import subprocess
import sys
from types import ModuleType

import pytest

import sanegnn

PUBLIC = [
    "Architecture",
    "DataChoice",
    "Field",
    "GraphData",
    "GraphSet",
    "Leaderboard",
    "Machine",
    "Model",
    "NodeClassifier",
    "Race",
    "Repeats",
    "Result",
    "RunChoice",
    "Sample",
    "Search",
    "SearchSpace",
    "Seed",
    "Selection",
    "Setting",
    "Tables",
    "Training",
    "Tuning",
    "WholeGraphs",
    "compare",
    "explain",
    "export",
    "fit",
    "load",
    "read",
    "report",
    "search",
    "track",
    "train",
    "truth",
    "tune",
]


def test_the_public_names_are_these():
    assert sorted(sanegnn.__all__) == PUBLIC
    assert dir(sanegnn) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_no_room(name):
    """A module of that name would take the name's place once it is imported."""
    found = getattr(sanegnn, name)
    assert not isinstance(found, ModuleType)
    assert callable(found)
    assert f"sanegnn.{name}" not in sys.modules


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="module 'sanegnn' has no attribute 'fitt'"):
        sanegnn.fitt  # noqa: B018


def fresh(code):
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return out.stdout.split()


@pytest.mark.parametrize(
    "module",
    [
        *(
            "sanegnn",
            "sanegnn.settings",
            "sanegnn.space",
            "sanegnn.runs",
            "sanegnn.results",
            "sanegnn.listing",
            "sanegnn.ranking",
        ),
        *("sanegnn.comparison", "sanegnn.comparison.tables", "sanegnn.reporting.report", "sanegnn.tracking"),
    ],
)
def test_importing_costs_no_torch(module):
    code = f"import sys, {module}; print('torch' in sys.modules, 'numba' in sys.modules)"
    assert fresh(code) == ["False", "False"]


def test_public_names_come_in_any_order():
    code = "import sanegnn as s; [getattr(s, name) for name in sorted(s.__all__)]; print(callable(s.fit))"
    assert fresh(code) == ["True"]
