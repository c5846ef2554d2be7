"""Readers find their way: search, theme, folds, next page."""

import pytest
from conftest import open_page

TERMS = [
    ("epanechnikov", "02_kernels.html"),
    ("teacher forcing", "10_attention_that_learns_to_align.html"),
    ("permutation matrix", "06_scaled_dot_product_attention.html"),
    ("masked_softmax", "functions.html"),
]


@pytest.mark.parametrize(("term", "goal"), TERMS)
def test_search_finds_a_term_on_the_right_page(browser, addresses, way, term, goal):
    complaints = []
    page = browser.new_page()
    page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    page.goto(f"{addresses[way]}/search.html?q={term.replace(' ', '+')}")
    page.wait_for_selector("#search-results li a")
    page.wait_for_timeout(500)
    found = page.locator("#search-results li a").evaluate_all("links => links.map(a => a.href)")
    page.close()
    assert any(f"/{goal}" in link for link in found), found
    assert not complaints


def test_dark_mode_holds_over_pages(browser, addresses, way):
    context = browser.new_context(color_scheme="light")
    page = open_page(context, f"{addresses[way]}/index.html")
    theme = "document.documentElement.dataset.theme"
    page.get_by_role("button", name="Color mode").locator("visible=true").click()
    page.get_by_role("button", name="Dark").locator("visible=true").click()
    assert page.evaluate(theme) == "dark"
    page.get_by_role("link", name="Start reading").click()
    page.wait_for_url("**/00_start_here.html")
    assert page.evaluate(theme) == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    context.close()


def test_solutions_are_folded_and_open_by_keyboard(browser, addresses):
    context = browser.new_context()
    page = open_page(context, f"{addresses['file']}/04_masked_softmax.html")
    folds = page.locator("article details")
    assert folds.count() > 5
    assert not any(folds.evaluate_all("all => all.map(fold => fold.open)"))
    first = folds.first.locator("summary")
    first.focus()
    page.keyboard.press("Enter")
    assert folds.first.evaluate("fold => fold.open")
    context.close()


def test_the_switch_of_editions_keeps_the_heading(browser, addresses):
    """With a second edition put into the page: the book has one."""
    page = "06_scaled_dot_product_attention"
    here, there = "Ask-many-questions-at-once", "Summary"
    switch = f"""document.addEventListener("DOMContentLoaded", () => {{
        document.body.insertAdjacentHTML("beforeend", `
            <nav class="book-editions" style="position: fixed; top: 0; z-index: 9999">
            <a href="{page}.html" data-anchors='{{"{here}": "{there}"}}'>JAX</a></nav>`)
    }})"""
    context = browser.new_context()
    context.add_init_script(switch)
    page = open_page(context, f"{addresses['file']}/{page}.html#{here}")
    page.get_by_role("link", name="JAX").click()
    page.wait_for_url(f"**#{there}")
    context.close()


def test_next_leads_through_the_whole_book(browser, addresses):
    context = browser.new_context()
    page = open_page(context, f"{addresses['file']}/00_start_here.html")
    walked = 0
    while page.locator("a.right-next").count():
        page.locator("a.right-next").click()
        page.wait_for_load_state()
        walked += 1
    assert walked > 10
    context.close()
