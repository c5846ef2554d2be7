"""What a reader sees of equations, folds, errors, code and pictures, on wide and narrow screens."""

import re

import pytest
from conftest import OPEN_FOLDS, SITE, open_page

DARK = "localStorage.setItem('mode', 'dark'); localStorage.setItem('theme', 'dark')"


@pytest.fixture
def reading(browser, addresses):
    """Return a function that opens a page in a window of some width."""
    contexts = []

    def open_at(name, width, *, script=None):
        context = browser.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        if script:
            context.add_init_script(script)
        return open_page(context, f"{addresses['file']}/{name}")

    yield open_at
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [1280, 1920])
def test_equations_code_errors_and_printed_lines_stand_whole(visited, name, width):
    seen = visited(name, "file").opened[width]
    assert not seen["cut"]
    assert not seen["clipped"]
    assert not seen["small"], "an equation is too long: set it on two lines"
    assert not seen["code"] + seen["errors"]


def test_no_line_begins_with_the_sign_that_ends_a_formula(visited, name):
    seen = visited(name, "file")
    assert not seen.opened[1280]["alone"] + seen.closed[768]["alone"] + seen.opened[390]["alone"]


def test_hints_and_errors_stand_whole_on_a_phone(visited, name):
    seen = visited(name, "file").opened[390]
    assert not seen["hints"] + seen["errors"]


def test_an_error_shows_its_last_call_and_its_message(reading):
    page = reading("01_queries_keys_values.html", 1280)
    for error in page.locator(".output.traceback").all():
        text = error.inner_text()
        assert len(re.findall(r"Cell In", text)) <= 1
        assert re.search(r"^\w+Error: ", text, re.MULTILINE)
    calls = page.locator("details.calls")
    assert calls.count() > 0
    assert "Cell In" in calls.first.text_content()


def test_a_fold_of_code_has_one_triangle_and_one_line(reading):
    page = reading("04_masked_softmax.html", 1280)
    for script in ("() => {}", OPEN_FOLDS):
        page.evaluate(script)
        for summary in page.locator("details.hide > summary").all():
            parts = summary.locator("p").evaluate_all(
                "all => all.map(p => getComputedStyle(p).display)"
            )
            assert sorted(parts) == ["inline", "none"]
            assert not summary.get_attribute("aria-label"), "its words are its name"
            assert summary.evaluate("s => getComputedStyle(s).display") == "list-item"
            assert summary.bounding_box()["height"] < 50


def test_feedback_of_a_check_is_as_dark_as_the_page(reading):
    page = reading("04_masked_softmax.html", 1280, script=DARK)
    feedback = page.locator(".output.text_html").filter(has_text="not attempted").first
    look = "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
    background, color = feedback.evaluate(look)
    assert background == "rgba(0, 0, 0, 0)"
    assert color == page.evaluate("getComputedStyle(document.body).color")


def test_lines_of_code_have_room(reading):
    page = reading("04_masked_softmax.html", 1280)
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        height, size = page.locator("div.cell_input pre").first.evaluate(
            "e => [getComputedStyle(e).lineHeight, getComputedStyle(e).fontSize].map(parseFloat)"
        )
        assert height / size >= 1.45


def test_pictures_keep_their_room_while_they_load(visited, name, way):
    facts = visited(name, way).facts
    assert not facts["unsized"]
    assert abs(facts["growth"]) <= 1


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
