"""The report in a real browser: nothing complains, all figures are seen, keys reach what a pointer does."""

import shutil

import pytest

from sanegnn.reporting import report
from tests.reporting.told import compared, finished

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (1280, 390)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def browser():
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with driver.sync_playwright() as drive:
        opened = drive.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    place = tmp_path_factory.mktemp("seen")
    run = finished(place)
    both = [run, finished(place, "other", shift=-0.1)]
    return {
        "run": report.report(run),
        "comparison": report.report(compared(place)),
        "several": report.report(*both, to=place / "both.html"),
    }


def seen(browser, path, width, **options):
    """The page, with everything that the browser complains about."""
    context = browser.new_context(viewport={"width": width, "height": 800}, **options)
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if request.url != path.as_uri() else None)
    page.goto(path.as_uri())
    return page, said


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["run", "comparison", "several"])
def test_every_figure_is_seen_and_nothing_complains(browser, pages, name, width):
    page, said = seen(browser, pages[name], width)
    boxes = [figure.bounding_box() for figure in page.locator("svg.figure").all()]
    assert len(boxes) == pages[name].read_text(encoding="utf-8").count("<svg")
    for box in boxes:
        assert box["width"] > 250
        assert box["height"] > 50
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    page.context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_letters_of_figures_can_be_read(browser, pages, width):
    page, _ = seen(browser, pages["run"], width)
    sizes = page.evaluate(
        "[...document.querySelectorAll('svg.figure text')].map(t => {"
        "const s = t.ownerSVGElement; return parseFloat(getComputedStyle(t).fontSize) *"
        "s.getBoundingClientRect().width / s.viewBox.baseVal.width })"
    )
    assert min(sizes) >= 7.5
    page.context.close()


def test_arrow_keys_walk_through_the_misclassified_nodes(browser, pages):
    page, said = seen(browser, pages["run"], 1280)
    figure, tip = page.locator("#figure-map svg"), page.locator(".tip")
    figure.focus()
    assert page.evaluate("document.activeElement.tagName") == "svg"
    page.keyboard.press("ArrowRight")
    first = tip.inner_text()
    assert "taken for" in first
    page.keyboard.press("ArrowRight")
    assert tip.inner_text() != first
    page.keyboard.press("ArrowLeft")
    assert tip.inner_text() == first
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    assert said == []
    page.context.close()


def test_the_pointer_is_told_what_it_points_at(browser, pages):
    page, _ = seen(browser, pages["run"], 1280)
    page.locator("#figure-importance rect").first.hover()
    assert page.locator(".tip").inner_text().startswith("architecture: ")
    page.context.close()


def test_tab_reaches_parts_figures_and_tables(browser, pages):
    page, _ = seen(browser, pages["run"], 1280)
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.tagName.toLowerCase()"))
    assert {"a", "svg", "summary", "div"} <= set(reached)
    page.context.close()


def test_the_numbers_of_a_figure_unfold_by_key(browser, pages):
    page, _ = seen(browser, pages["run"], 390)
    table = page.locator("#figure-finalists table")
    assert table.is_hidden()
    page.locator("#figure-finalists summary").focus()
    page.keyboard.press("Enter")
    assert table.is_visible()
    page.context.close()


def test_without_script_the_marks_still_have_their_titles(browser, pages):
    page, said = seen(browser, pages["run"], 390, java_script_enabled=False)
    assert page.locator("#figure-map svg title").count() > 0
    assert said == []
    page.context.close()


def test_dark_and_print_have_their_own_colours(browser, pages):
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    page, _ = seen(browser, pages["run"], 1280, color_scheme="dark")
    assert page.evaluate(ground) == "rgb(20, 23, 28)"
    page.emulate_media(media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    assert page.locator("nav").is_hidden()
    page.context.close()
