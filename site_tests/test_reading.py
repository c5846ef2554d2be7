"""One walk for each thing that a page does: previews, copies, covers, folds, themes, print."""

import re

import pytest
from conftest import BOOK, SITE, violations

CHAPTER = "12_scaled_dot_product_attention.html"
PREVIEWS = {"equation": ("a.equation", "softmax"), "source": ("a[href='#reference-1']", "Vaswani")}
DECIDE, WRITES = "00_start_here.html", "07_a_model_that_writes.html"


@pytest.mark.parametrize("kind", PREVIEWS)
def test_a_reference_shows_what_it_leads_to(reading, axe, kind):
    selector, words = PREVIEWS[kind]
    page = reading(CHAPTER)
    page.clock.install()
    link = page.locator(f"article {selector}").first
    box = page.locator("[role=tooltip]")
    link.hover()
    box.wait_for()
    assert words in (box.get_attribute("aria-label") or box.text_content())
    assert box.locator("div.math > mjx-container").count() == (kind == "equation")
    assert link.get_attribute("aria-describedby") == box.get_attribute("id")
    box.hover()  # it stays while the pointer is on it
    page.clock.run_for(400)
    assert box.count() == 1
    page.keyboard.press("Escape")
    assert box.count() == 0
    assert link.get_attribute("aria-describedby") is None


def test_previews_open_by_keyboard_are_there_for_all_and_violate_no_rule(reading, axe):
    page = reading("17_one_pass.html")
    page.keyboard.press("Tab")  # from now on, focus is shown
    link = page.locator("article a.equation").first
    link.focus()
    link.hover()
    box = page.locator("[role=tooltip]")
    box.wait_for()
    assert not violations(page, axe, "'.book-preview, a:hover'")
    page.keyboard.press("Tab")
    box.wait_for(state="detached")
    missing = page.evaluate(
        """() => [...document.querySelectorAll("article a")]
            .filter((a) => /#(equation|term|reference)-/.test(a.hash))
            .map((a) => a.pathname.split("/").pop() + a.hash)
            .filter((key) => !(key in PREVIEWS))"""
    )
    assert not missing


def test_code_is_copied_as_it_stands(reading):
    permissions = ["clipboard-read", "clipboard-write"]
    page = reading("10_masked_softmax.html", way="server", permissions=permissions)
    cell = page.locator("div.cell_input >> visible=true").first
    code = cell.locator("pre").text_content()
    cell.hover()
    cell.get_by_role("button", name="Copy the code").click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == code.rstrip() + "\n"


def test_an_output_is_covered_until_the_reader_has_decided(reading):
    page = reading(DECIDE)
    cell = page.locator(".tag_decide").first
    output = cell.locator(".cell_output")
    look = "e => [getComputedStyle(e).filter.includes('blur'), e.inert]"
    assert output.evaluate(look) == [True, True]
    cell.get_by_role("button", name="Decide first").focus()
    page.keyboard.press("Enter")
    assert output.evaluate(look) == [False, False]


def test_without_scripts_a_page_is_whole_and_light(browser, addresses):
    context = browser.new_context(java_script_enabled=False, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{addresses['file']}/{DECIDE}")
    output = page.locator(".tag_decide .cell_output").first
    assert output.evaluate("e => getComputedStyle(e).filter") == "none"
    page.goto(f"{addresses['file']}/{CHAPTER}")
    heights = page.locator("div.math > mjx-container >> visible=true").evaluate_all(
        "all => all.map((math) => math.clientHeight)"
    )
    box = page.locator("blockquote.box").first.evaluate("e => getComputedStyle(e).backgroundColor")
    page.goto(f"{addresses['file']}/{WRITES}")
    assert len(page.locator(".writer .out").inner_text()) > 300
    context.close()
    assert box == "rgb(244, 246, 248)"
    assert len(heights) > 1
    assert min(heights) >= 10


def test_what_a_model_writes_is_read_as_prose_on_a_phone(reading):
    samples = reading(WRITES, 390).locator(".tag_prose .cell_output pre")
    sizes = "all => all.map(e => [getComputedStyle(e).fontSize, e.scrollWidth > e.clientWidth])"
    assert samples.evaluate_all(sizes) == [["16px", False]] * 2
    assert re.search("^In attention, .{400}", samples.first.text_content(), re.MULTILINE)


def test_folds_are_closed_and_open_by_keyboard(reading):
    page = reading("10_masked_softmax.html")
    folds = page.locator("article details")
    assert folds.count() > 5
    assert not any(folds.evaluate_all("all => all.map(fold => fold.open)"))
    first = folds.first.locator("summary")
    assert not first.get_attribute("aria-label"), "its words are its name"
    first.focus()
    page.keyboard.press("Enter")
    assert folds.first.evaluate("fold => fold.open")


def test_an_error_shows_the_line_that_raised_it_and_its_message(reading):
    errors = reading("01_queries_keys_values.html").locator(".output.traceback").all()
    assert errors
    for error in errors:
        assert re.fullmatch(r"Cell In\[.*\n\w+Error: .*", error.inner_text().strip(), re.DOTALL)
        assert error.inner_text().count("Cell In") == 1


def test_a_chapter_has_its_notebook_and_its_fonts_their_license(reading):
    page = reading("10_masked_softmax.html")
    assert page.locator("a.book-download").get_attribute("href").endswith("10_masked_softmax.ipynb")
    assert (page.locator("a[href*='colab.']").count() > 0) == bool(BOOK.repository)
    assert "SIL Open Font License" in (SITE / "_static/fonts/OFL.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("theme", "system"), [("light", "dark"), ("dark", "light")])
def test_a_picture_is_as_dark_as_the_page_whatever_the_system_is(reading, theme, system):
    page = reading(DECIDE, theme=theme, color_scheme=system)
    for which in ("article section > p > img", ".cell_output img"):  # a diagram, a heat map
        picture = page.locator(which).first
        assert picture.evaluate("e => getComputedStyle(e).colorScheme") == theme
