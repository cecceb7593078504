"""Who may know whom: imports of one another go one way, read from the syntax trees."""

import ast
from pathlib import Path

import pytest

import sanegnn

ROOT = Path(sanegnn.__file__).parent
LEAVES = {"errors", "registry", "seeds"}
BELOW = LEAVES | {"settings", "space"}
RECORDS = {"errors", "registry", "settings", "records", "journal", "runs"}
MAY_KNOW = {
    "errors": set(),
    "seeds": set(),
    "memory": set(),
    "registry": {"errors"},
    "settings": {"errors"},
    "aims": {"errors", "settings"},
    "space": LEAVES,
    "kernels": LEAVES,
    "ops": BELOW | {"kernels"},
    "nets": BELOW | {"kernels", "ops"},
    "data": LEAVES | {"settings"},
    "tasks": BELOW | {"aims", "bundle", "data", "kernels", "nets"},
    "events": LEAVES,
    "results": LEAVES,
    "records": LEAVES | {"settings"},
    "journal": LEAVES | {"settings", "records"},
    "runs": RECORDS,
    "listing": RECORDS,
    "ranking": LEAVES | {"space", "journal"},
    "comparison": RECORDS,
    "reporting": LEAVES | RECORDS | {"space", "listing", "comparison"},
    "tracking": RECORDS,
    "work": LEAVES | {"journal", "memory"},
    "training": BELOW | {"kernels", "ops", "nets", "tasks", "journal", "work"},
    "bundle": BELOW | {"data", "kernels", "nets", "journal"},
    "plain": set(),
    "exporting": BELOW | {"bundle", "data", "journal", "kernels", "nets", "ops", "plain"},
    "explaining": BELOW
    | {"bundle", "data", "events", "exporting", "journal", "kernels", "nets", "ops"}
    | {"records", "runs", "tasks", "training", "work"},
    "strategies": BELOW | {"kernels", "nets", "tasks", "training", "journal", "records", "work"},
    "baselines": BELOW
    | {
        "aims",
        "data",
        "kernels",
        "ops",
        "nets",
        "tasks",
        "training",
        "strategies",
        "journal",
        "records",
        "work",
    },
}
TOP = {
    "bringing",
    "session",
    "census",
    "witness",
    "comparing",
    "api",
    "uses",
    "estimator",
    "testing",
    "cli",
    "__init__",
    "__main__",
}
NOT_BELOW_TOP = {"cli", "__main__"}
NO_TORCH = {
    *("errors", "registry", "seeds", "settings", "aims", "space", "events", "results"),
    *("records", "journal", "runs", "listing", "ranking", "comparison", "reporting", "tracking"),
}


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def spoken(tree):
    """Every import statement with its line and whether it runs when the module is imported."""
    hidden = set()
    for node in ast.walk(tree):
        typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if typing or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            hidden |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node.lineno, id(node) not in hidden
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are written in full"
            for name in node.names:
                yield f"{node.module}.{name.name}", node.lineno, id(node) not in hidden


def rooms_of(name):
    parts = name.split(".")
    return {parts[1]} if parts[0] == "sanegnn" and len(parts) > 1 else set()


def trespasses(path, text):
    here = room(path)
    allowed = MAY_KNOW.get(here)
    for name, line, at_import in spoken(ast.parse(text)):
        for known in rooms_of(name) - {here}:
            if allowed is None and here not in NOT_BELOW_TOP and known in NOT_BELOW_TOP:
                yield f"{path}:{line}: {here} imports {name}"
            if allowed is not None and known not in allowed:
                yield f"{path}:{line}: {here} imports {name}"
        if here in NO_TORCH and at_import and name.split(".")[0] in ("torch", "torch_geometric", "numba"):
            yield f"{path}:{line}: {here} imports {name}, which tables and plots must do without"


FILES = sorted(ROOT.rglob("*.py"))


def test_every_room_has_its_place():
    assert {room(path) for path in FILES} <= set(MAY_KNOW) | TOP


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path):
    assert list(trespasses(path, path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("place", "text", "said"),
    [
        ("space/space.py", "\nfrom sanegnn.nets import Net\n", ":2: space imports sanegnn.nets.Net"),
        ("ops/base.py", "import sanegnn.training", ":1: ops imports sanegnn.training"),
        ("ops/base.py", "from sanegnn import api", ":1: ops imports sanegnn.api"),
        ("kernels/graph.py", "def f():\n    from sanegnn.ops import weight", ":2: kernels imports"),
        ("runs.py", "import torch", ":1: runs imports torch"),
        ("api.py", "from sanegnn.cli import main", ":1: api imports sanegnn.cli.main"),
    ],
)
def test_a_trespass_is_named_with_its_line(place, text, said):
    (found,) = trespasses(ROOT / place, text)
    assert said in found


def test_torch_inside_a_function_is_no_trespass():
    assert not list(trespasses(ROOT / "runs.py", "def f():\n    import torch"))
