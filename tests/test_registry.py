import pytest

from sanegnn.baselines import contenders, designs
from sanegnn.data import datasets
from sanegnn.errors import UnknownName
from sanegnn.ops import layer_ops, node_ops, skip_ops
from sanegnn.registry import Registry
from sanegnn.space import presets
from sanegnn.strategies import strategies
from sanegnn.tasks import metrics

REGISTRIES = (node_ops, layer_ops, skip_ops, presets, strategies, metrics, datasets, designs, contenders)


@pytest.fixture
def shelf():
    shelf = Registry("tool")
    shelf.add("saw", source="a book")(1)
    shelf.add("axe")(2)
    return shelf


def test_names_keep_the_order_of_registration(shelf):
    assert list(shelf) == ["saw", "axe"]
    assert len(shelf) == 2
    assert shelf["saw"] == 1
    assert shelf.entry("saw").source == "a book"
    assert "axe" in shelf
    assert "hammer" not in shelf


def test_the_decorator_gives_back_what_it_registers(shelf):
    @shelf.add("drill")
    class Drill:
        pass

    assert shelf["drill"] is Drill


def test_a_taken_name_is_refused(shelf):
    with pytest.raises(ValueError, match="a tool named 'saw' is registered already"):
        shelf.add("saw")
    assert shelf["saw"] == 1


def test_an_unknown_name_gets_the_near_one(shelf):
    with pytest.raises(UnknownName, match="no tool named 'sow'; did you mean 'saw'"):
        shelf["sow"]


def test_a_family_makes_its_members(shelf):
    shelf.add_family("bit", source="a box")(lambda head, size: f"{size} mm, {head}")
    with pytest.raises(ValueError, match="a family of tools named 'bit' is registered already"):
        shelf.add_family("bit")
    assert shelf["bit:torx:6"] == "6 mm, torx"
    assert shelf.entry("bit:torx:6").source == "a box"
    assert list(shelf) == ["saw", "axe"]
    with pytest.raises(UnknownName, match="no family of tools named 'bite'; did you mean 'bit'"):
        shelf["bite:torx:6"]


def test_it_may_grow_while_it_is_walked(shelf):
    for name in shelf:
        shelf.add(f"{name}-2")(0)
    assert len(shelf) == 4


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_entry_says_what_it_is(registry):
    for name in registry:
        assert registry[name].__doc__, f"{registry.kind} {name} has no docstring"


def test_every_family_says_what_it_is_and_where_it_is_from():
    for entry in node_ops.families.values():
        assert entry.value.__doc__
        assert entry.source


@pytest.mark.parametrize(
    "registry",
    [node_ops, layer_ops, skip_ops, presets, strategies, designs, contenders],
    ids=lambda r: r.kind,
)
def test_every_part_of_the_method_names_its_source(registry):
    assert [name for name in registry if not registry.entry(name).source] == []
