"""What a reader does: previews, covers, folds, copies, search, switch; other themes, no scripts."""

import re

import pytest
from conftest import BOOK, FURTHER, GATHER, SERVED, SITE, violations

from bookbinder.markdown import slug

CHAPTER, DECIDE = "12_scaled_dot_product_attention.html", "00_start_here.html"
PREVIEWS = [("a.equation", "softmax", 1), ("a[href='#reference-1']", "Vaswani", 0)]
HIDES = "e => e.inert + (e.open === false) + (getComputedStyle(e).filter !== 'none')"
# A button, what it uncovers, and in how many ways that is hidden before.
COVERS = [("button:text('Decide')", ".tag_decide .cell_output", 2), (".hint summary", ".hint", 1)]
FOCUS = "[...document.querySelectorAll('*')].indexOf(document.activeElement)"
ALONE = {"java_script_enabled": False, "color_scheme": "dark"}
STYLE = "e => getComputedStyle(e)"
PICTURES = "article section > p > img, .cell_output img"  # diagrams, heat maps
IS_TURNED = f"{STYLE}.filter.startsWith('invert')"
LOOKS = [  # a page, how it is opened, some parts, how each of them looks
    (DECIDE, ALONE, ".tag_decide .cell_output", f"{STYLE}.filter", "none"),
    ("07_a_model_that_writes.html", ALONE, ".writer .out", "e => e.innerText.length > 300", True),
    (CHAPTER, ALONE, "div.math > mjx-container >> visible=true", "e => e.clientHeight > 9", True),
    (CHAPTER, ALONE, "blockquote.box", f"{STYLE}.backgroundColor", "rgb(244, 246, 248)"),
    (DECIDE, {"color_scheme": "dark", "theme": "light"}, PICTURES, IS_TURNED, False),
    (DECIDE, {"color_scheme": "light", "theme": "dark"}, PICTURES, IS_TURNED, True),
    (DECIDE, {"color_scheme": "dark", "theme": "auto"}, PICTURES, IS_TURNED, True),
]
AROUND = """marks => marks.map((mark) => (mark.previousSibling?.data.at(-1) ?? "")
  + mark.textContent + (mark.nextSibling?.data?.[0] ?? ""))"""
TERMS = {  # the section or function that answers each
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
    link.focus()
    link.hover()
    box.wait_for()
    assert not violations(page, "'.book-preview, a:hover'")
    page.keyboard.press("Tab")
    box.wait_for(state="detached")
    assert not page.evaluate(f"{GATHER}.noPreview()")


def test_enter_uncovers_an_output_and_opens_a_fold_tab_leads_on_and_code_is_copied(reading):
    page = reading(DECIDE, base=SERVED, permissions=["clipboard-read", "clipboard-write"])
    for button, part, ways in COVERS:
        assert page.locator(part).first.evaluate(HIDES) == ways
        page.locator(button).first.focus()
        page.keyboard.press("Enter")
        assert page.locator(part).first.evaluate(HIDES) == 0
    assert len({page.keyboard.press("Tab") or page.evaluate(FOCUS) for _ in range(40)}) == 40
    cell = page.locator("div.cell_input >> visible=true").first
    cell.hover()
    cell.get_by_role("button", name="Copy the code").click()
    page.get_by_text("Copied").wait_for()
    code = cell.locator("pre").text_content()
    assert page.evaluate("navigator.clipboard.readText()") == code.rstrip() + "\n"


@pytest.mark.parametrize(("name", "how", "parts", "look", "seen"), LOOKS)
def test_parts_look_right_in_a_theme_and_without_scripts(reading, name, how, parts, look, seen):
    found = reading(name, **how).locator(parts).evaluate_all(f"all => all.map({look})")
    assert {*found} == {seen}


def test_search_leads_to_what_answers_and_finds_a_letter_as_a_word(reading):
    for term, goal in TERMS.items():
        page = reading(f"search.html?q={term.replace(' ', '+')}")
        assert f"/{goal}" in page.locator("#search-results li a").first.evaluate("a => a.href")
        snippets = page.locator("#search-results .context").all_inner_texts()
        assert not [s for s in snippets if len(s) > 300 or re.search("System Settings|Show the", s)]
    words = page.locator("#search-results mark").evaluate_all(AROUND)
    assert {re.sub("[^a-zA-Z0-9]", "", word) for word in words} == {"d", "D"}


def test_the_switch_keeps_chapter_and_heading_and_leads_to_what_stands_alone(reading):
    goal = f"{CHAPTER}#check-the-sizes"
    page = reading(goal)
    places, (alone,) = (f"{folder}{goal}" for folder in ("", *FURTHER)), BOOK.alone
    first, *further = zip(BOOK.editions, places, strict=True)
    way = alone.editions[0], f"{alone.chapters[0]}.html#{slug(dict(alone.sections)[CHAPTER[:-5]])}"
    back = BOOK.editions[1], f"{FURTHER[0]}{alone.sections[0][0]}.html"
    for edition, place in (*further, first, way, back):
        box = page.get_by_role("link", name=edition.name, exact=True).bounding_box()
        page.mouse.click(box["x"] + 5, box["y"] + 5)  # a locator's click would scroll the page
        page.wait_for_url(f"{SITE.as_uri()}/{place}")
