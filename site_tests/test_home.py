"""The home page: its explorer against the Python function, its cards, and the way to go on."""

import math
import re

import pytest
from conftest import ROOT, open_page

from bookbinder.chapters import number_of
from bookbinder.config import read_book
from bookbinder.site import home_explorer

SENTENCES = [
    home_explorer.SENTENCE,
    "Attention, please: the ATTENTION is all you need!",
    "Über 42 Katzen schlafen; 猫 и кот 猫",
    "a",
]
WIDTHS = "all => all.map(path => parseFloat(path.style.strokeWidth))"
THICKEST = 30
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


def shown_numbers(page):
    """Return the columns of the numbers that belong to the arcs."""
    rows = page.locator(".sentence tbody tr").all()
    return [[float(cell) for cell in row.locator("td").all_text_contents()] for row in rows]


def expected(text, chosen, sharpness):
    words = home_explorer.words_of(text)
    row = home_explorer.scores(words)[chosen]
    return row, home_explorer.weights(row, sharpness)


def test_the_script_computes_what_the_python_function_computes(home):
    page = home()
    for text in SENTENCES:
        words, scores, weights = page.evaluate(
            """([text, most]) => {
                const words = bookSentence.wordsOf(text, most);
                const scores = bookSentence.scores(words);
                return [words, scores, scores.map((row) => bookSentence.weights(row, 3.5))];
            }""",
            [text, home_explorer.MOST_WORDS],
        )
        assert words == home_explorer.words_of(text)
        for row, scored, shares in zip(home_explorer.scores(words), scores, weights, strict=True):
            assert scored == pytest.approx(row, abs=1e-12)
            assert shares == pytest.approx(home_explorer.weights(row, 3.5), abs=1e-12)


def test_pointing_focus_arrows_sharpness_and_typing_change_arcs_and_numbers(home):
    page = home()
    words = page.locator(".sentence-words button")
    slider, text = (page.locator(f".sentence input[type={kind}]") for kind in ("range", "text"))

    def agree(typed, chosen, sharpness):
        scores, weights = expected(typed, chosen, sharpness)
        arcs = page.locator(".sentence-stage path").evaluate_all(WIDTHS)
        assert arcs == pytest.approx([THICKEST * weight for weight in weights], abs=1e-3)
        for cells, score, weight in zip(shown_numbers(page), scores, weights, strict=True):
            assert cells == pytest.approx([score, sharpness * score, weight], abs=0.0051)
        pressed = words.evaluate_all("all => all.map(w => w.ariaPressed === 'true')")
        assert [at for at, here in enumerate(pressed) if here] == [chosen]
        said = page.locator(".sentence-says").text_content()
        assert said == home_explorer.says(home_explorer.words_of(typed), chosen, weights)

    agree(home_explorer.SENTENCE, home_explorer.CHOSEN, home_explorer.SHARPNESS)
    words.nth(3).hover()
    agree(home_explorer.SENTENCE, 3, 4)
    words.nth(6).focus()
    agree(home_explorer.SENTENCE, 6, 4)
    page.keyboard.press("ArrowRight")  # and round again
    agree(home_explorer.SENTENCE, 0, 4)
    slider.focus()
    page.keyboard.press("End")
    agree(home_explorer.SENTENCE, 0, 16)
    page.keyboard.press("Home")
    agree(home_explorer.SENTENCE, 0, 0)
    page.mouse.move(5, 5)  # else the new words come under the pointer
    text.fill("Stop pots, tops!")
    agree("Stop pots, tops!", 0, 0)
    text.fill(" .. ")
    assert "Type a sentence" in page.locator(".sentence-says").inner_text()
    assert page.locator(".sentence-stage path").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_moves_when_the_arcs_do(home, width):
    page = home(width)
    page.evaluate("document.fonts.ready")
    size = "[document.documentElement.scrollHeight, document.querySelector('.start').offsetTop]"
    before = page.evaluate(size)
    for at in range(7):
        page.locator(".sentence-words button").nth(at).focus()
        assert page.evaluate(size) == before
    page.locator(".sentence input[type=range]").focus()
    page.keyboard.press("End")
    assert page.evaluate(size) == before


@pytest.mark.parametrize("width", [360, 390, 800, 1280])
def test_words_and_arcs_stay_within_the_page(home, width):
    page = home(width)
    for text in ("abundant " * 11, "a" * 50 + " " + "b" * 49):
        page.locator(".sentence input[type=text]").fill(text)
        page.locator(".sentence-words button").last.focus()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        right = page.locator(".sentence-stage").evaluate("e => e.getBoundingClientRect().right")
        for part in page.locator(".sentence-words button, .sentence-stage path").all():
            box = part.bounding_box()
            assert box["x"] + box["width"] <= right + 1


def test_the_explorer_is_above_the_fold_and_the_way_in_too(home):
    page = home()
    box = page.locator(".start-reading").bounding_box()
    assert box["y"] + box["height"] <= 850


def test_less_motion_is_respected(home):
    motion = "e => getComputedStyle(e).transitionDuration"
    arc = ".sentence-stage path >> nth=0"
    assert home(reduced_motion="reduce").locator(arc).evaluate(motion) == "0s"
    assert home(reduced_motion="no-preference").locator(arc).evaluate(motion) == "0.15s"


def test_without_a_script_the_weights_are_said_and_the_numbers_open(browser, addresses):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{addresses['file']}/index.html")
    assert page.locator(".sentence-says").is_visible()
    assert not page.locator(".sentence-set").is_visible()
    weights = expected(home_explorer.SENTENCE, home_explorer.CHOSEN, home_explorer.SHARPNESS)[1]
    shown = [cells[2] for cells in shown_numbers(page)]
    context.close()
    assert shown == [round(weight, 2) for weight in weights]
    assert math.isclose(sum(weights), 1)


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
