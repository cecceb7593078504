import dataclasses
import math
import tomllib
from importlib import import_module
from pkgutil import walk_packages
from typing import Annotated, get_args, get_type_hints

import pytest
from cyclopts import Parameter
from hypothesis import given
from hypothesis import strategies as st

import sanegnn
from sanegnn.errors import BadSetting, UnknownName
from sanegnn.settings import (
    Among,
    DataChoice,
    Knobs,
    Machine,
    OneOf,
    Search,
    Setting,
    Training,
    Within,
    from_toml,
    knob,
    ranges,
    to_toml,
)

for module in walk_packages(sanegnn.__path__, "sanegnn."):
    if "__main__" not in module.name and "cpu" not in module.name:
        import_module(module.name)


def subclasses(cls):
    return [cls, *(found for child in cls.__subclasses__() for found in subclasses(child))]


KNOBS = [
    cls
    for cls in subclasses(Knobs)
    if dataclasses.is_dataclass(cls) and cls.__module__.startswith("sanegnn.")
]
FIELDS = [(cls, field) for cls in KNOBS for field in dataclasses.fields(cls)]


def marks(cls, field):
    return get_args(get_type_hints(cls, include_extras=True)[field.name])[1:]


def test_the_walk_finds_the_settings_of_strategies_too():
    assert {"Setting", "Algorithm1", "Machine"} <= {cls.__name__ for cls in KNOBS}


@pytest.mark.parametrize(
    ("cls", "field"), FIELDS, ids=lambda part: getattr(part, "name", part.__class__.__name__)
)
def test_every_field_has_help_and_a_default(cls, field):
    (help_,) = [mark for mark in marks(cls, field) if isinstance(mark, Parameter)]
    assert help_.help
    assert field.default is not dataclasses.MISSING, f"{cls.__name__}.{field.name} has no default"


@pytest.mark.parametrize("cls", dict.fromkeys(cls for cls, _ in FIELDS), ids=lambda cls: cls.__name__)
def test_every_class_is_frozen_and_stands_with_its_defaults(cls):
    knobs = cls()
    assert cls.of(knobs.table()) == knobs
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(knobs, dataclasses.fields(cls)[0].name, None)


def test_every_field_of_the_setting_can_be_tuned():
    assert {name for name, _ in ranges(Setting)} == {field.name for field in dataclasses.fields(Setting)}


@pytest.mark.parametrize(
    ("name", "mark"), list(ranges(Setting)), ids=lambda part: part if isinstance(part, str) else ""
)
def test_every_tuning_range_is_legal(name, mark):
    for value in mark.values if isinstance(mark, OneOf) else (mark.low, mark.high):
        Setting(**{name: value})


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Setting(hidden="64"), "hidden = '64' has the wrong type: int is needed"),
        (lambda: Setting(hidden=64.0), "hidden = 64.0 has the wrong type"),
        (lambda: Setting(hidden=True), "hidden = True has the wrong type"),
        (lambda: Setting(residual=1), "residual = 1 has the wrong type"),
        (lambda: Setting(dropout=1.0), "dropout = 1.0 is not possible: it must lie between 0 and 0.99"),
        (lambda: Setting(dropout=-0.1), "dropout = -0.1 is not possible"),
        (lambda: Setting(lr=math.nan), "lr = nan is not possible"),
        (lambda: Setting(lr=1e30), "lr = 1e.30 is not possible"),
        (lambda: Setting(activation="relux"), "activation = 'relux' is not possible: known: relu, elu"),
        (lambda: Setting(hidden=30, heads=4), "hidden 30 cannot be shared by 4 heads"),
        (lambda: Setting(lr=None), "lr = None has the wrong type"),
        (lambda: Training(epochs=0), "epochs = 0 is not possible"),
        (lambda: Search(depth=7), "depth = 7 is not possible: it must lie between 1 and 6"),
        (lambda: DataChoice(split=0), r"split = 0 has the wrong type: str \| None is needed"),
        (lambda: DataChoice(metric=3), r"metric = 3 has the wrong type: str \| None is needed"),
        (lambda: Machine(device="gpu"), "device = 'gpu' is not possible: known: auto, cpu, cuda, mps"),
    ],
)
def test_a_bad_value_is_named_with_the_way_out(build, words):
    with pytest.raises(BadSetting, match=words):
        build()


def test_an_unknown_knob_gets_the_near_one():
    with pytest.raises(
        UnknownName, match="no knob of Setting named 'weight-decay'; did you mean 'weight_decay'"
    ):
        Setting.of({"weight-decay": 0.1})


def test_a_whole_number_may_stand_for_a_real_one():
    assert Setting(dropout=0) == Setting(dropout=0.0)
    assert to_toml({"setting": Setting(dropout=0)}) == to_toml({"setting": Setting(dropout=0.0)})


def test_but_changes_some_and_checks():
    assert Setting().but(hidden=128, lr=0.01) == Setting(hidden=128, lr=0.01)
    with pytest.raises(BadSetting):
        Setting().but(lr=2.0)


def test_a_knob_that_is_not_set_is_not_in_the_table():
    assert "metric" not in DataChoice().table()
    assert DataChoice(metric="roc_auc").table()["metric"] == "roc_auc"


def legal(cls):
    hints = get_type_hints(cls, include_extras=True)
    return st.fixed_dictionaries(
        {}, optional={field.name: values(hints[field.name]) for field in dataclasses.fields(cls)}
    )


def values(hint):
    kind, *rest = get_args(hint)
    among = [mark.names for mark in rest if isinstance(mark, Among)]
    within = [mark for mark in rest if isinstance(mark, Within)] or [Within(-1e9, 1e9)]
    low, high = within[0].low, min(within[0].high, 1e9)
    if among:
        return st.sampled_from(among[0])
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(math.ceil(low), math.floor(high))
    if kind is float:
        return st.floats(low, high)
    return st.text(st.characters(exclude_categories=["Cs"]))


@given(st.data(), st.sampled_from(KNOBS))
def test_toml_gives_back_what_it_took(tmp_path_factory, data, cls):
    table = data.draw(legal(cls))
    if cls is Setting:
        table.pop("heads", None)
        table["hidden"] = 4 * (1 + table.get("hidden", 64) // 4 % 1000)
    try:
        knobs = cls(**table)
    except BadSetting:
        return
    file = tmp_path_factory.getbasetemp() / "knobs.toml"
    file.write_text(to_toml({"some": knobs}), encoding="utf-8")
    assert from_toml(file, {"some": cls}) == {"some": knobs}


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("[setting]\nhiden = 3\n", UnknownName, "no knob of Setting named 'hiden'; did you mean 'hidden'"),
        ("[seting]\n", UnknownName, "did you mean 'setting'"),
        ("setting = 3\n", BadSetting, "setting = 3 .*must be a table"),
        ("[setting\n", BadSetting, "cannot read settings from .*bad.toml"),
        ("[setting]\nlr = 'fast'\n", BadSetting, "lr = 'fast' has the wrong type: float"),
    ],
)
def test_a_bad_file_says_what_is_wrong(tmp_path, text, kind, words):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(kind, match=words):
        from_toml(file, {"setting": Setting})


def test_a_missing_file_is_an_error_of_the_user(tmp_path):
    with pytest.raises(BadSetting, match="cannot read settings from"):
        from_toml(tmp_path / "none.toml", {"setting": Setting})


def test_toml_is_made_of_a_table_for_each_group():
    text = to_toml({"setting": Setting(), "training": Training()})
    assert set(tomllib.loads(text)) == {"setting", "training"}


def test_help_stands_on_the_field():
    @dataclasses.dataclass(frozen=True)
    class Mine(Knobs):
        size: Annotated[int, knob("how large"), Within(1, 3)] = 2

    assert Mine(3).table() == {"size": 3}
    with pytest.raises(BadSetting, match="size = 4 is not possible: it must lie between 1 and 3"):
        Mine(4)


def test_values_to_start_from_give_way_to_what_was_turned():
    begun = Setting(dropout=0.3).starting({"dropout": 0.0, "hidden": 128, "unknown": 1})
    assert (begun.dropout, begun.hidden) == (0.3, 128)
    assert begun.lr == Setting().lr
