"""Readers find their way: search, theme, switch, next page."""

import re
from urllib.parse import unquote

import pytest
from conftest import BOOK, FURTHER, open_page

TERMS = [  # term, page, section or function that answers it
    ("epanechnikov", "functions.html", "d2l_attention.torch.epanechnikov"),
    (
        "teacher forcing",
        "15_attention_that_learns_to_align.html",
        "teach-it-with-the-right-answers",
    ),
    ("causal mask", "03_masks.html", "predict-each-next-word-at-once"),  # its definition
    ("permutation matrix", "03_masks.html", "exercise-3-3"),
    ("masked_softmax", "functions.html", "d2l_attention.torch.masked_softmax"),
]
RESULTS = "#search-results li a"


def search(browser, address, term):
    complaints = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{address}/search.html?q={term.replace(' ', '+')}")
    page.wait_for_selector(RESULTS)
    assert not complaints
    return page


@pytest.mark.parametrize(("term", "goal", "section"), TERMS)
def test_search_leads_to_the_section_that_answers(browser, addresses, term, goal, section):
    page = search(browser, addresses["file"], term)
    found = page.locator(RESULTS).evaluate_all("links => links.slice(0, 1).map(a => a.href)")
    assert any(f"/{goal}#{section}" in unquote(link) for link in found), found
    snippets = page.locator("#search-results .context").all_inner_texts()
    assert not [s for s in snippets if len(s) > 300 or re.search("System Settings|Show the", s)]
    page.close()


def test_a_letter_is_found_as_a_word_and_marked_as_one(browser, addresses):
    page = search(browser, addresses["file"], "d")
    assert set(page.locator("#search-results mark").all_inner_texts()) == {"d", "D"}
    around = page.locator("#search-results mark").evaluate_all(
        "marks => marks.map(m => (m.previousSibling?.data.at(-1) ?? ' ')"
        " + (m.nextSibling?.data?.[0] ?? ' '))"
    )
    assert not [pair for pair in around if re.search(r"[a-zA-Z0-9]", pair)]
    page.close()


def test_the_switch_keeps_chapter_and_heading(browser, addresses):
    chapter, heading = "12_scaled_dot_product_attention.html", "Check-the-sizes"
    context = browser.new_context()
    page = open_page(context, f"{addresses['file']}/{chapter}#{heading}")
    first, *further = zip(BOOK.editions, ("", *FURTHER), strict=True)
    for edition, folder in (*further, first):
        box = page.get_by_role("link", name=edition.name, exact=True).bounding_box()
        page.mouse.click(box["x"] + 5, box["y"] + 5)  # a locator's click would scroll the page
        page.wait_for_url(f"{addresses['file']}/{folder}{chapter}#{heading}")
    context.close()
