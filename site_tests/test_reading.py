"""What a reader sees of equations, folds, errors, code and pictures, on wide and narrow screens."""

import re

import pytest
from conftest import SITE, comes_true, open_page

CHAPTERS = sorted(path.name for path in SITE.glob("[01]*.html"))
DARK = "localStorage.setItem('mode', 'dark'); localStorage.setItem('theme', 'dark')"
CUT_EQUATIONS = """() => [...document.querySelectorAll("div.math")]
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => `${box.id || box.textContent}: ${box.scrollWidth} in ${box.clientWidth}`)"""
OVERFLOWING = """(boxes) => boxes.filter((b) => b.scrollWidth > b.clientWidth)
    .map((b) => `${b.scrollWidth - b.clientWidth} px: ${b.textContent.slice(0, 60)}`)"""
BEYOND = """(folds) => folds.flatMap((fold) => [...fold.querySelectorAll("p, li, pre")]
    .filter((e) => e.getBoundingClientRect().right > fold.getBoundingClientRect().right)
    .map((e) => e.textContent.slice(0, 60)))"""
GROWTH = """async () => {
    const before = document.documentElement.scrollHeight;
    for (const image of document.images) image.loading = "eager";
    await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
    return document.documentElement.scrollHeight - before;
}"""


@pytest.fixture
def reading(browser, addresses):
    """Return a function that opens a page in a window of some width, all folds open."""
    contexts = []

    def open_at(name, width, *, script=None, folds=True, math=True):
        context = browser.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        if script:
            context.add_init_script(script)
        page = open_page(context, f"{addresses['file']}/{name}", math=math)
        if folds:
            page.evaluate("for (const f of document.querySelectorAll('details')) f.open = true")
            page.wait_for_timeout(200)
        return page

    yield open_at
    for context in contexts:
        context.close()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_equations_code_errors_and_printed_lines_stand_whole(reading, chapter):
    page = reading(chapter, 1280)
    assert comes_true(page, lambda: not page.evaluate(CUT_EQUATIONS))
    boxes = page.locator("div.cell_input pre, .output.traceback pre, .output.stream pre")
    assert not boxes.evaluate_all(OVERFLOWING)
    page.set_viewport_size({"width": 1920, "height": 900})
    assert comes_true(page, lambda: not page.evaluate(CUT_EQUATIONS))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_hints_and_errors_stand_whole_on_a_phone(reading, chapter):
    page = reading(chapter, 390)
    assert not page.locator("details.hint").evaluate_all(BEYOND)
    assert not page.locator(".output.traceback pre, details.calls pre").evaluate_all(OVERFLOWING)


def test_an_error_shows_its_last_call_and_its_message(reading):
    page = reading("04_masked_softmax.html", 1280, folds=False)
    for error in page.locator(".output.traceback").all():
        text = error.inner_text()
        assert len(re.findall(r"Cell In", text)) <= 1
        assert re.search(r"^\w+Error: ", text, re.MULTILINE)
    calls = page.locator("details.calls")
    assert calls.count() > 0
    assert "Cell In" in calls.first.text_content()


def test_a_fold_of_code_has_one_triangle_and_one_line(reading):
    for folds in (False, True):
        page = reading("04_masked_softmax.html", 1280, folds=folds)
        for summary in page.locator("details.hide > summary").all():
            parts = summary.locator("p").evaluate_all(
                "all => all.map(p => getComputedStyle(p).display)"
            )
            assert sorted(parts) == ["inline", "none"]
            assert summary.evaluate("s => getComputedStyle(s).display") == "list-item"
            assert summary.bounding_box()["height"] < 50


def test_feedback_of_a_check_is_as_dark_as_the_page(reading):
    page = reading("04_masked_softmax.html", 1280, script=DARK, folds=False)
    feedback = page.locator(".output.text_html").filter(has_text="not attempted").first
    look = "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
    background, color = feedback.evaluate(look)
    assert background == "rgba(0, 0, 0, 0)"
    assert color == page.evaluate("getComputedStyle(document.body).color")


def test_lines_of_code_have_room(reading):
    page = reading("04_masked_softmax.html", 1280, folds=False)
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        height, size = page.locator("div.cell_input pre").first.evaluate(
            "e => [getComputedStyle(e).lineHeight, getComputedStyle(e).fontSize].map(parseFloat)"
        )
        assert height / size >= 1.45


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize("width", [390, 1280])
def test_pictures_keep_their_room_while_they_load(reading, chapter, width):
    page = reading(chapter, width, folds=False, math=False)
    unsized = "all => all.filter(i => !(i.width && i.getAttribute('height'))).map(i => i.src)"
    assert not page.locator("img[src^=_images]").evaluate_all(unsized)
    assert abs(page.evaluate(GROWTH)) <= 1


def test_a_resize_before_the_page_stands_is_no_error(browser, addresses):
    """As on a phone, whose window changes its size while a page loads."""
    context = browser.new_context(viewport={"width": 390, "height": 800}, is_mobile=True)
    wrong = []
    page = context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    script = (SITE / "_static/book.js").read_text(encoding="utf-8")
    page.set_content("<p>No main yet</p>")
    page.evaluate(script)
    page.evaluate("dispatchEvent(new Event('resize'))")
    context.close()
    assert not wrong


def test_numbers_of_a_wide_figure_can_be_read_on_a_phone(reading):
    page = reading("06_scaled_dot_product_attention.html", 390, folds=False)
    widths = page.locator(".cell_output img[data-wide]").evaluate_all("a => a.map(i => i.width)")
    assert widths
    assert min(widths) >= 600
