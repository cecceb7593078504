"""The report from records alone: what stands in it, that it is one whole file, and what becomes of names."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import sanegnn
from sanegnn.cli import app as cli
from sanegnn.errors import BadSetting, RunFolder
from sanegnn.reporting import report
from sanegnn.reporting.markup import VOID
from tests.reporting.told import LOST, NASTY, WON, begun, compared, finished


class Reader(HTMLParser):
    """Checks that elements are nested, and keeps ids and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.words, self.links = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "src", "srcset", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return finished(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def page(folder):
    return report.report(folder).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def race(tmp_path_factory):
    return compared(tmp_path_factory.mktemp("races"))


def figures(page):
    return re.findall(r'<figure id="figure-([\w-]+)">', page)


def test_the_answer_comes_first(page):
    assert page.index("0.8500") < page.index("<h2>")
    header = Reader(page[: page.index("<main>")]).text
    assert "± 0.0248" in header  # t(0.975, 2) = 4.3027 times 0.01 / sqrt(3)
    assert "The searched design leads: a tie." in header
    assert "2026-01-01 10:00:00 UTC, once" in header


def test_every_figure_is_there(page):
    assert figures(page) == [
        *("architecture", "efficiency", "alphas-0", "finalists", "tuning", "importance"),
        *("confusion", "calibration", "degree", "homophily", "map"),
    ]


def test_the_page_is_whole_and_ids_are_unique(page):
    read = Reader(page)
    assert read.open == []
    assert len(set(read.ids)) == len(read.ids)
    assert {link[1:] for link in read.links} <= set(read.ids)


def test_nothing_is_loaded_from_elsewhere(page):
    assert all(link.startswith("#") for link in Reader(page).links)
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r"https?://|@import|url\(", page)


def test_names_are_text_whatever_they_hold(page):
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "<id 118>" in Reader(page).text
    assert "Node <7> collects much." in Reader(page).text
    assert NASTY[2] in page
    assert "\x00" not in page


def test_the_command_and_the_versions_are_told(page):
    text = Reader(page).text
    assert "sanegnn fit cora --config run.toml" in text
    assert "[selection]" in text
    assert "c0ffee" in text
    assert "2.13" in text or "torch" in text


def test_the_same_records_make_the_same_page(folder, page):
    assert report.report(folder).read_text(encoding="utf-8") == page


def test_no_number_of_a_figure_is_missing(folder, race):
    for picture in (*report.page_of([folder]).pictures, *report.page_of([race]).pictures):
        text = report.svg.standalone(picture)
        root = ElementTree.fromstring(text)
        assert root.tag.endswith("svg")
        assert not re.search(r"\b(nan|inf)\b", text), picture.name


def test_marks_lie_within_their_figure(folder, race):
    for picture in (*report.page_of([folder]).pictures, *report.page_of([race]).pictures):
        for mark in picture.marks:
            places = mark.points if hasattr(mark, "points") else [(mark.x, mark.y)]
            for x, y in places:
                assert -0.01 <= x <= picture.width + 0.01, (picture.name, mark)
                assert -0.01 <= y <= picture.height + 0.01, (picture.name, mark)


def test_without_evidence_the_report_speaks_of_the_design_alone(tmp_path):
    path = finished(tmp_path)
    (path / "evidence.npz").unlink()
    text = report.report(path).read_text(encoding="utf-8")
    assert figures(text) == ["architecture", "efficiency", "alphas-0", "finalists", "tuning", "importance"]


def test_damaged_evidence_is_named(tmp_path):
    path = finished(tmp_path)
    (path / "evidence.npz").write_bytes(b"PK\x03\x04 not whole")
    with pytest.raises(RunFolder, match=r"evidence.npz is damaged .* remove it"):
        report.report(path)


def test_a_run_that_goes_on_has_a_report_too(tmp_path):
    begun(tmp_path).close()
    text = report.report(tmp_path / "it").read_text(encoding="utf-8")
    assert "unfinished" in text
    assert figures(text) == ["alphas-0"]
    assert "It goes on." in text


def test_a_comparison_has_its_leaderboard(race):
    page = report.report(race).read_text(encoding="utf-8")
    assert figures(page) == ["leaderboard", "efficiency-validation", "efficiency-test", "architecture"]
    header = Reader(page[: page.index("<main>")]).text
    assert "0.8250" in header
    assert "gat-jk has the highest mean test score, 82.50" in header
    assert "--contenders gat-jk,gcn,paper --splits 0,1" in Reader(page).text


def test_runs_are_laid_beside_each_other(tmp_path):
    paths = [finished(tmp_path, "one"), finished(tmp_path, "two", shift=-0.1)]
    page = report.report(*paths, to=tmp_path / "both.html").read_text(encoding="utf-8")
    header = Reader(page[: page.index("<main>")]).text
    assert "one leads two by 10.00 points ± 3.51" in header  # each reach 2.484, together 2.484 * sqrt(2)
    assert "more than the noise of training" in header
    assert figures(page) == ["scores-0", "efficiency", "architecture-0"]


def test_runs_on_other_data_are_not_compared(tmp_path):
    paths = [finished(tmp_path, "one"), finished(tmp_path, "two", data="beef", dataset="other")]
    page = report.report(*paths, to=tmp_path / "both.html").read_text(encoding="utf-8")
    assert "their scores cannot be compared" in page
    assert figures(page)[:2] == ["scores-0", "scores-1"]
    assert "leads" not in Reader(page[: page.index("<main>")]).text


def test_figures_and_tables_become_files(folder, tmp_path, capsys):
    into = ["--figures", str(tmp_path / "f"), "--tables", str(tmp_path / "t"), "-o", str(tmp_path / "r.html")]
    assert cli.run(["report", str(folder), *into]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'r.html'}\n"
    assert len(list((tmp_path / "f").glob("*.svg"))) == 11
    endings = {path.suffix for path in (tmp_path / "t").iterdir()}
    assert endings == {".csv", ".md", ".tex"}
    lines = (tmp_path / "t" / "finalists.csv").read_text().splitlines()
    assert lines[0] == "architecture,mean,from,to,trainings"
    assert lines[1].startswith(f'"{WON}",0.87,')
    assert lines[2].startswith(f'"{LOST}",0.86,')


@pytest.mark.parametrize(("format", "begin"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_figures_are_printed(folder, tmp_path, format, begin):
    pytest.importorskip("matplotlib")
    page = report.page_of([folder])
    for picture in [one for one in page.pictures if one.name in ("architecture", "confusion")]:
        data = report.FORMATS[format](picture)
        assert data.startswith(begin)
        assert data == report.FORMATS[format](picture)


def test_bad_requests_are_named(tmp_path, folder):
    with pytest.raises(BadSetting, match="no run to report on"):
        report.report()
    with pytest.raises(RunFolder, match="is not a run folder"):
        sanegnn.report(tmp_path / "nowhere")
    with pytest.raises(BadSetting, match="no figures as 'gif': known formats are svg, png, pdf"):
        sanegnn.report(folder, figures=tmp_path / "f", format="gif", to=tmp_path / "r.html")


def test_the_command_speaks_json(folder, tmp_path, capsys):
    assert cli.run(["report", str(folder), "--json", "-o", str(tmp_path / "r.html")]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == str(tmp_path / "r.html")
