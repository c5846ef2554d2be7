"""The home page: the trained layer, the cards, and the way to go on."""

import re

import pytest
from conftest import ROOT, open_page

from bookbinder.chapters import number_of
from bookbinder.config import read_book

FIGURES = ROOT / "book/figures"


@pytest.fixture
def home(browser, addresses):
    """Return a function that opens the home page."""
    contexts = []

    def open_home(width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 850}, **options)
        contexts.append(context)
        return open_page(context, f"{addresses['file']}/index.html")

    yield open_home
    for context in contexts:
        context.close()


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


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_nothing_moves_when_the_arcs_do(home, width):
    page = home(width)
    page.evaluate("document.fonts.ready")
    size = "[document.documentElement.scrollHeight, document.querySelector('.start').offsetTop]"
    before = page.evaluate(size)
    for at in range(3):
        page.locator(".d2l-arcs select").nth(at).select_option(index=3)
        assert page.evaluate(size) == before
    page.locator(".d2l-arcs input[type=range]").focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "End"):
        page.keyboard.press(key)
        assert page.evaluate(size) == before
    page.locator(".d2l-arcs input[type=text]").fill("because " * 12)
    assert page.evaluate(size) == before
    page.locator(".d2l-arcs input[type=text]").fill("hippo")
    assert page.evaluate(size) == before
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".d2l-arcs").bounding_box()["height"] <= 560


def test_the_layer_is_above_the_fold_and_the_way_in_too(home):
    page = home()
    box = page.locator(".start-reading").bounding_box()
    assert box["y"] + box["height"] <= 850


def test_less_motion_is_respected(home):
    motion = "e => getComputedStyle(e).transitionDuration.split(', ')"
    arc = ".d2l-arcs path >> nth=0"
    assert set(home(reduced_motion="reduce").locator(arc).evaluate(motion)) == {"0s"}
    assert "0.2s" in home(reduced_motion="no-preference").locator(arc).evaluate(motion)


def test_without_a_script_the_weights_stand_there(browser, addresses):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{addresses['file']}/index.html")
    cells = page.locator(".d2l-arcs td.v").all_text_contents()
    assert [text for text in cells if text] == ["1.00"]
    assert page.locator(".d2l-arcs th").nth(2).inner_text() == "animal"
    assert page.locator(".d2l-arcs :is(input, select)").count() == 0
    context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_each_chapter_has_a_card_with_picture_question_and_minutes(home, width):
    page = home(width)
    cards = page.locator(".book-card").all()
    chapters = [name for name in read_book(ROOT).chapters if number_of(name) is not None]
    goals = [card.locator("a").first.get_attribute("href") for card in cards]
    assert goals == [f"{chapter}.html" for chapter in chapters]
    for card, chapter in zip(cards, chapters, strict=True):
        shown = card.locator("img[alt]")
        assert shown.get_attribute("src") == f"_images/card_{chapter[:2]}.svg"
        scale = shown.bounding_box()["width"] / 320
        sizes = re.findall(r'font-size="(\d+)"', (FIGURES / f"card_{chapter[:2]}.svg").read_text())
        assert scale * min(map(int, sizes), default=15) >= 12
        text = card.inner_text()
        assert "?" in text
        assert re.search(r"\d+ minutes", text)
    ways = page.locator(".paths .path").all_inner_texts()
    assert [way.split("\n")[0] for way in ways] == ["In two hours", "In one day", "Everything"]


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
    assert link.inner_text() == "Continue with 4. Masked softmax"
    assert link.get_attribute("href") == f"04_masked_softmax.html#{anchor}"
    context.close()
