"""The home page: the trained layer, the cards, and the way to go on."""

import functools
import re

import pytest
from conftest import BOOK, ROOT, comes_true, open_page


@pytest.fixture
def home(reading):
    """Return a function that opens the home page."""
    return functools.partial(reading, "index.html")


def test_the_trained_layer_opens_in_the_middle_and_looks_at_the_chosen_noun(home):
    page = home()
    page.wait_for_selector(".d2l-arcs[data-ready]")
    said, out = page.locator(".d2l-arcs .says"), page.locator(".d2l-arcs .out")
    assert re.match(r"“tired” gives weight to: animal 0\.[4-7]", said.inner_text())
    assert not page.locator(".d2l-arcs .typed").is_visible()  # the lists suffice here
    page.locator(".d2l-arcs input[type=range]").focus()
    page.keyboard.press("End")
    assert said.inner_text() == "“tired” gives weight to: animal 1.00."
    for noun, adjective in (("street", "wide"), ("soup", "salty"), ("bridge", "icy")):
        page.locator(".d2l-arcs select").nth(1).select_option(noun)
        page.locator(".d2l-arcs select").nth(2).select_option(adjective)
        assert re.match(rf"“{adjective}” gives weight to: {noun} (0\.9|1\.0)", said.inner_text())
        assert out.inner_text() == f"Its output names: {noun}"
    link = page.locator(".d2l-arcs .cap a")
    assert link.get_attribute("href") == "00_start_here.html"
    stored = (ROOT / "notebooks/pytorch/00_start_here.ipynb").read_text("utf-8")
    weights = page.locator(".d2l-arcs").get_attribute("data-weights")
    assert len(weights) > 30_000
    assert weights in stored


def test_each_part_is_a_column_with_a_picture_its_chapters_and_its_hours(home):
    page = home()
    columns = page.locator(".book-card").all()
    links = page.locator(".cards a, .cards + p a").all()
    goals = [link.get_attribute("href") for link in links]
    assert goals == [f"{chapter}.html" for chapter in BOOK.chapters]
    assert len(columns) == len(BOOK.parts)
    for number, column in enumerate(columns, start=1):
        assert column.locator("img[alt]").get_attribute("src") == f"_images/card_{number}.svg"
        assert re.search(r"about [\d.]+ hours", column.inner_text())
    tops = {column.bounding_box()["y"] for column in columns}
    assert len(tops) == 1  # side by side
    buttons = page.locator(".start a >> visible=true").all()
    assert all(box["y"] + box["height"] < 720 for box in (b.bounding_box() for b in buttons))


def test_the_home_page_offers_to_go_on_where_the_reader_left_off(browser, addresses):
    context = browser.new_context(viewport={"width": 1280, "height": 850})
    page = open_page(context, f"{addresses['file']}/index.html")
    assert not page.locator(".go-on").is_visible()
    page.goto(f"{addresses['file']}/10_masked_softmax.html")
    section = page.locator("article section section[id]").nth(2)
    section.evaluate("s => s.scrollIntoView()")
    anchor = section.get_attribute("id")
    page.goto(f"{addresses['file']}/index.html")
    link = page.locator(".go-on")

    def offered():  # another process may have shown the chapter: what it stored comes in a while
        page.reload()
        return link.inner_text() == "Continue with 10. Masked softmax in every corner"

    assert comes_true(page, offered)
    assert link.get_attribute("href") == f"10_masked_softmax.html#{anchor}"
    context.close()
