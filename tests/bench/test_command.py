import json

import pytest

from bench import page
from bench.__main__ import chosen, main
from bench.rows import KEYS, Row, markdown
from bench.timing import Plan, alternate, fenced, free_memory, out_of_memory


@pytest.fixture
def brief(monkeypatch):
    """One pair of samples a case."""
    monkeypatch.setattr("bench.__main__.QUICK", Plan(1, 1, 0.0))


def test_the_rows_are_written_as_a_list(brief, tmp_path, capsys):
    file = tmp_path / "rows.json"
    assert main(["--quick", "--only", "search/planted", "--json", str(file)]) == 0
    (row,) = json.loads(file.read_text())
    assert tuple(row) == KEYS
    assert row["name"] == "search/planted"
    assert row["ratio"] == pytest.approx(row["theirs"] / row["ours"])
    assert "search/planted" in capsys.readouterr().out


def test_a_dataset_that_is_absent_is_skipped(brief, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SANEGNN_DATA", str(tmp_path))
    file = tmp_path / "rows.json"
    assert main(["--quick", "--only", "search/citeseer", "--json", str(file)]) == 0
    assert json.loads(file.read_text()) == []
    assert "skipped: no raw files of citeseer" in capsys.readouterr().out


def test_a_pattern_chooses():
    assert {case.name for case in chosen("train/gin/*/cora", quick=False)} == {
        "train/gin/64/cora",
        "train/gin/256/cora",
    }
    assert [case.name for case in chosen("search/pubmed", quick=True)] == ["search/pubmed"]
    names = [case.name for case in chosen(None, quick=False)]
    assert len(names) == len(set(names)) == 33


def test_a_pattern_that_fits_nothing_is_an_error(capsys):
    with pytest.raises(SystemExit):
        main(["--only", "nothing"])
    assert "search/cora" in capsys.readouterr().err


def test_samples_are_taken_in_turn():
    seen = []
    alternate(lambda: seen.append("a"), lambda: seen.append("b"), Plan(2, 2, 0.0))
    warm = seen.index("b")
    after = "".join(seen[warm:])
    runs = [after[0]]
    for letter in after[1:]:
        if letter != runs[-1]:
            runs.append(letter)
    assert runs == list("bababa"[: len(runs)])
    assert len(runs) == 5


@pytest.mark.skipif(free_memory() is None, reason="no /proc")
def test_the_fence_stops_an_allocation_and_goes_away():
    import numpy as np

    free = free_memory()
    with pytest.raises(MemoryError) as caught, fenced(0.01):
        np.empty(free // 2, dtype=np.uint8)
    assert out_of_memory(caught.value)
    assert np.empty(free // 50, dtype=np.uint8).size


def test_a_page_is_written_between_its_marks(tmp_path):
    file = tmp_path / "page.md"
    file.write_text("before\n<!-- results -->\nold\n<!-- /results -->\nafter\n")
    table = markdown([Row("x", 2.0, 8.0, "ms", 1, "a thing", "stock", "3")])
    page.replace("results", table, file)
    text = file.read_text()
    assert text.startswith("before\n<!-- results -->\n| what")
    assert text.endswith("<!-- /results -->\nafter\n")
    assert "| a thing | stock | 2 ms | 8 ms | 4.00 | 3 | 1 |" in text
    assert "old" not in text
    with pytest.raises(ValueError, match="no place for profile"):
        page.replace("profile", "", file)
