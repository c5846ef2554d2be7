"""One walk for each thing that a reader does: previews, copies, covers, folds, search, switch."""

import re
from urllib.parse import unquote

import pytest
from conftest import BOOK, FURTHER, GATHER, violations

CHAPTER = "12_scaled_dot_product_attention.html"
DECIDE = "00_start_here.html"
PREVIEWS = [("a.equation", "softmax", 1), ("a[href='#reference-1']", "Vaswani", 0)]
FOCUS = "[...document.querySelectorAll('*')].indexOf(document.activeElement)"
RESULTS = "#search-results li a"
TERMS = {  # the section or function that answers each
    "epanechnikov": "functions.html#d2l_attention.torch.epanechnikov",
    "teacher forcing": "15_attention_that_learns_to_align.html#teach-it-with-the-right-answers",
    "causal mask": "03_masks.html#predict-each-next-word-at-once",  # its definition
    "permutation matrix": "03_masks.html#exercise-3-3",
    "masked_softmax": "functions.html#d2l_attention.torch.masked_softmax",
    "d": "",
}


def test_a_reference_shows_what_it_leads_to_until_one_leaves_it_and_violates_no_rule(reading):
    page = reading(CHAPTER)
    page.clock.install()
    page.keyboard.press("Tab")  # from now on, focus is shown
    box = page.locator("[role=tooltip]")
    for selector, words, equations in PREVIEWS:
        link = page.locator(f"article {selector}").first
        link.hover()
        box.wait_for()
        assert words in (box.get_attribute("aria-label") or box.text_content())
        assert box.locator("div.math > mjx-container").count() == equations
        assert link.get_attribute("aria-describedby") == box.get_attribute("id")
        box.hover()  # it stays while the pointer is on it
        page.clock.run_for(400)
        assert box.count() == 1
        page.keyboard.press("Escape")
        assert box.count() == 0
        assert link.get_attribute("aria-describedby") is None
    link.focus()
    link.hover()
    box.wait_for()
    assert not violations(page, "'.book-preview, a:hover'")
    page.keyboard.press("Tab")
    box.wait_for(state="detached")
    assert not page.evaluate(f"{GATHER}.noPreview()")


def test_keys_lead_through_a_page_uncover_an_output_and_open_a_fold(reading):
    page = reading(DECIDE)
    cell = page.locator(".tag_decide").first
    output = cell.locator(".cell_output")
    look = "e => [getComputedStyle(e).filter.includes('blur'), e.inert]"
    assert output.evaluate(look) == [True, True]
    cell.get_by_role("button", name="Decide first").focus()
    page.keyboard.press("Enter")
    assert output.evaluate(look) == [False, False]
    folds = page.locator("article details")
    assert folds.count() > 5
    assert not any(folds.evaluate_all("all => all.map(fold => fold.open)"))
    folds.first.locator("summary").focus()
    page.keyboard.press("Enter")
    assert folds.first.evaluate("fold => fold.open")
    places = [page.keyboard.press("Tab") or page.evaluate(FOCUS) for _ in range(40)]
    assert len({*places}) == 40


def test_code_is_copied_as_it_stands(reading):
    permissions = ["clipboard-read", "clipboard-write"]
    page = reading("10_masked_softmax.html", way="server", permissions=permissions)
    cell = page.locator("div.cell_input >> visible=true").first
    cell.hover()
    cell.get_by_role("button", name="Copy the code").click()
    page.get_by_text("Copied").wait_for()
    code = cell.locator("pre").text_content()
    assert page.evaluate("navigator.clipboard.readText()") == code.rstrip() + "\n"


def test_without_scripts_a_page_is_whole_and_light(reading):
    page = reading(DECIDE, java_script_enabled=False, color_scheme="dark")
    output = page.locator(".tag_decide .cell_output").first
    assert output.evaluate("e => getComputedStyle(e).filter") == "none"
    page = reading("07_a_model_that_writes.html", java_script_enabled=False, color_scheme="dark")
    assert len(page.locator(".writer .out").inner_text()) > 300
    page = reading(CHAPTER, java_script_enabled=False, color_scheme="dark")
    math = page.locator("div.math > mjx-container >> visible=true")
    assert min(math.evaluate_all("all => all.map((math) => math.clientHeight)")) >= 10
    box = page.locator("blockquote.box").first
    assert box.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(244, 246, 248)"


@pytest.mark.parametrize(("theme", "system"), [("light", "dark"), ("dark", "light")])
def test_a_picture_is_as_dark_as_the_page_whatever_the_system_is(reading, theme, system):
    page = reading(DECIDE, theme=theme, color_scheme=system)
    for which in ("article section > p > img", ".cell_output img"):  # a diagram, a heat map
        picture = page.locator(which).first
        assert picture.evaluate("e => getComputedStyle(e).colorScheme") == theme


def test_search_leads_to_what_answers_and_finds_a_letter_as_a_word(reading):
    for term, goal in TERMS.items():
        page = reading(f"search.html?q={term.replace(' ', '+')}")
        page.wait_for_selector(RESULTS)
        assert f"/{goal}" in unquote(page.locator(RESULTS).first.evaluate("a => a.href"))
        snippets = page.locator("#search-results .context").all_inner_texts()
        assert not [s for s in snippets if len(s) > 300 or re.search("System Settings|Show the", s)]
    marks = page.locator("#search-results mark")
    assert {*marks.all_inner_texts()} == {"d", "D"}
    around = marks.evaluate_all("""marks => marks.map((mark) =>
      (mark.previousSibling?.data.at(-1) ?? "") + (mark.nextSibling?.data?.[0] ?? ""))""")
    assert not [letters for letters in around if re.search("[a-zA-Z0-9]", letters)]


def test_the_switch_keeps_chapter_and_heading(reading, addresses):
    goal = f"{CHAPTER}#Check-the-sizes"
    page = reading(goal)
    first, *further = zip(BOOK.editions, ("", *FURTHER), strict=True)
    for edition, folder in (*further, first):
        box = page.get_by_role("link", name=edition.name, exact=True).bounding_box()
        page.mouse.click(box["x"] + 5, box["y"] + 5)  # a locator's click would scroll the page
        page.wait_for_url(f"{addresses['file']}/{folder}{goal}")
