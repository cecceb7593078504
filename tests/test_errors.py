import inspect

import pytest

from sanegnn import errors
from sanegnn.errors import SaneError, UnknownName

TREE = {
    "UnknownName",
    "BadArchitecture",
    "BadExport",
    "BadSetting",
    "BadGraph",
    "BadModel",
    "BadSplit",
    "SealedTest",
    "RunFolder",
    "RunInUse",
    "TrainingFailed",
}


def test_every_error_is_in_the_tree_and_in_its_drawing():
    found = {
        name
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if kind.__module__ == errors.__name__
    }
    assert found == TREE | {"SaneError"}
    assert all(name in errors.__doc__ for name in found)


@pytest.mark.parametrize("name", sorted(TREE))
def test_one_except_catches_all(name):
    assert issubclass(getattr(errors, name), SaneError)


def test_a_near_name_is_suggested():
    error = UnknownName.of("node aggregator", "sage-max", ("sage_max", "sage_mean", "gcn"))
    assert str(error) == "no node aggregator named 'sage-max'; did you mean 'sage_max'?"


def test_a_far_name_gets_the_list():
    assert (
        str(UnknownName.of("skip", "xyzzy", ("zero", "skip"))) == "no skip named 'xyzzy'; known: skip, zero"
    )
