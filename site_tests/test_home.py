"""The home page: the trained layer, the cards, and the way to go on."""

import functools
import re

import pytest
from conftest import BOOK, ROOT, comes_true, open_page

from bookbinder.chapters import number_of


@pytest.fixture
def home(reading):
    """Return a function that opens the home page."""
    return functools.partial(reading, "index.html")


def test_the_layer_that_chapter_3_trained_looks_at_the_chosen_noun(home):
    page = home()
    page.wait_for_selector(".d2l-arcs[data-ready]")
    said, out = page.locator(".d2l-arcs .says"), page.locator(".d2l-arcs .out")
    assert said.inner_text() == "“tired” gives weight to: animal 1.00."
    for noun, adjective in (("street", "wide"), ("soup", "salty"), ("bridge", "icy")):
        page.locator(".d2l-arcs select").nth(1).select_option(noun)
        page.locator(".d2l-arcs select").nth(2).select_option(adjective)
        assert re.match(rf"“{adjective}” gives weight to: {noun} (0\.9|1\.0)", said.inner_text())
        assert out.inner_text() == f"Its output names: {noun}"
    page.locator(".d2l-arcs input[type=range]").focus()
    page.keyboard.press("Home")
    assert "all others 0.7" in said.inner_text()  # before training, twelve words share the weight
    link = page.locator(".d2l-arcs .cap a")
    assert link.get_attribute("href") == "03_kernels_to_dot_products.html"
    stored = (ROOT / "notebooks/pytorch/03_kernels_to_dot_products.ipynb").read_text("utf-8")
    weights = page.locator(".d2l-arcs").get_attribute("data-weights")
    assert len(weights) > 30_000
    assert weights in stored


def test_each_chapter_has_a_card_with_picture_question_and_minutes(home):
    page = home()
    chapters = [name for name in BOOK.chapters if number_of(name) is not None]
    cards = page.locator(".book-card").all()
    goals = [card.locator("a").first.get_attribute("href") for card in cards]
    assert goals == [f"{chapter}.html" for chapter in chapters]
    for card, chapter in zip(cards, chapters, strict=True):
        assert card.locator("img[alt]").get_attribute("src") == f"_images/card_{chapter[:2]}.svg"
        assert re.search(r"\?[^?]*\d+ minutes", card.inner_text())
    assert page.get_by_text(f"{len(chapters)} chapters in their order: about ").is_visible()


def test_the_home_page_offers_to_go_on_where_the_reader_left_off(browser, addresses):
    context = browser.new_context(viewport={"width": 1280, "height": 850})
    page = open_page(context, f"{addresses['file']}/index.html")
    assert not page.locator(".go-on").is_visible()
    page.goto(f"{addresses['file']}/04_masked_softmax.html")
    section = page.locator("article section section[id]").nth(2)
    section.evaluate("s => s.scrollIntoView()")
    anchor = section.get_attribute("id")
    page.goto(f"{addresses['file']}/index.html")
    link = page.locator(".go-on")

    def offered():  # another process may have shown the chapter: what it stored comes in a while
        page.reload()
        return link.inner_text() == "Continue with 4. Masked softmax"

    assert comes_true(page, offered)
    assert link.get_attribute("href") == f"04_masked_softmax.html#{anchor}"
    context.close()
