"""docs/baselines.md says what `sanegnn baselines` prints."""

import re
from pathlib import Path

import pytest

from sanegnn.baselines import contenders, designs
from sanegnn.cli import app as cli

PAGE = Path(__file__).parents[2] / "docs" / "baselines.md"


def cells(line):
    """The cells of a row of a table, code marks gone and bars as they are meant."""
    return [cell.strip().replace("\\|", "|").replace("`", "") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def rows():
    """Name to cells, of every row whose first cell is a name in code."""
    found = [cells(line) for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {name: rest for name, *rest in found}


def test_every_design_and_every_contender_has_a_row():
    assert list(rows()) == [*designs, *contenders]


def test_the_rows_are_what_the_command_prints(capsys):
    assert cli.run(["baselines", "cora"]) == 0
    printed = {}
    for line in capsys.readouterr().out.splitlines()[1:]:
        name, architecture, setting, source = re.split(r" {2,}", line.strip(), maxsplit=3)
        printed.setdefault(name, []).append((architecture, setting, source))
    for name, variants in printed.items():
        _, source, architectures, setting, _ = rows()[name]
        assert architectures.split("<br>") == [architecture for architecture, _, _ in variants]
        assert {setting} == {given for _, given, _ in variants}
        assert all(given.startswith(source) for _, _, given in variants)


@pytest.mark.parametrize("name", contenders)
def test_a_contender_has_its_source_and_its_knobs(name):
    _, source, _, told, _ = rows()[name]
    assert source == contenders.entry(name).source
    table = contenders[name].knobs().table()
    assert told.split(", ") == [f"{knob} {table[knob]}" for knob in re.findall(r"(\w+) [\w.]+", told)]
