"""The book on paper and on a wall of 1280 x 720: nothing is cut off, lost or missing there."""

import dataclasses
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import bs4
import pypdf
import pytest
from conftest import BOOK, GATHER, SITE, comes_true, nothing_yet, open_page

from bookbinder.binding import notebook_path
from bookbinder.classroom.slides import page_of, slides_of
from bookbinder.files import read_notebook
from bookbinder.site.printing import READY, TEXT_WIDTH, print_book

CHAPTER, TITLE = "14_distance_bilinear_cosine", "14. Distance, bilinear, cosine"
MOST_LINES = 45  # of code that fits on a page
WIDE = """() => document.querySelector("article div.math").insertAdjacentHTML("afterend",
  "<div class=d2l-explorer><div class=parts><div style='min-width: 900px'>x</div></div></div>")"""
MODELS_RUN = "[...document.querySelectorAll('.d2l-arcs')].every((model) => model.run != null)"
FIRST, SECOND, *_ = BOOK.editions
MASKS, GPT = "10_masked_softmax", "07_a_model_that_writes"
DECKS = {MASKS: FIRST, GPT: FIRST, "12_scaled_dot_product_attention": SECOND}


def squeezed(text):
    """Return a text without gaps, and without ligatures."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def texts_on(name, selector):
    """Return what stands in some parts of a page."""
    page = bs4.BeautifulSoup((SITE / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    return [part.get_text().removesuffix("#") for part in page.article.select(selector)]


def on_pages(pdf):
    return [squeezed(page.extract_text()) for page in pypdf.PdfReader(pdf).pages]


def test_a_print_has_heads_an_outline_all_code_and_pictures_and_nothing_too_wide(
    browser, site, tmp_path
):
    (tmp_path / "_build").mkdir()
    (tmp_path / "_build/site").symlink_to(site)
    one_chapter = dataclasses.replace(BOOK, root=tmp_path, chapters=(CHAPTER,))
    with ThreadPoolExecutor(1) as thread:  # in this one, the other tests' browser is at work
        thread.submit(print_book, one_chapter, FIRST).result()
    pdf = tmp_path / "_build/book-pytorch-en.pdf"
    pages, outline = on_pages(pdf), squeezed(str(pypdf.PdfReader(pdf).outline))
    inside = [number for number, text in enumerate(pages, 1) if squeezed(TITLE) in text][1:]
    assert len(inside) > 10
    assert inside == list(range(inside[0], inside[-1] + 1))
    assert all(pages[n - 1].startswith((str(n), squeezed(TITLE))) for n in inside)
    titles = texts_on(CHAPTER, ":is(h1, h2)")
    assert len(titles) > 8
    assert not [title for title in titles if squeezed(title) not in outline]
    blocks = texts_on(CHAPTER, ".cell:not(.tag_drawing) .cell_input pre")
    blocks = [squeezed(code) for code in blocks if code.count("\n") <= MOST_LINES]
    assert len(blocks) > 20
    assert not [code for code in blocks if not any(code in text for text in pages)]
    page = browser.new_page(viewport={"width": TEXT_WIDTH, "height": 960})
    page.emulate_media(media="print")
    page.goto((tmp_path / "_build/print/book.html").as_uri())
    page.evaluate(WIDE)
    assert page.evaluate(f"{GATHER}.tooWide()")
    page.evaluate(READY)
    assert page.evaluate(f"{GATHER}.tooWide()") == page.evaluate(f"{GATHER}.unseen()") == []
    page.close()


def test_a_page_from_the_browser_has_its_folded_code_and_hints_and_no_answer(reading, tmp_path):
    name = "05_many_heads_and_a_block"
    reading(f"{name}.html").pdf(path=tmp_path / "page.pdf")
    text = "".join(on_pages(tmp_path / "page.pdf"))
    code = ".cell:not(.tag_drawing) details.hide pre"
    folded = texts_on(name, f"{code}, details.hint > p:not(:has(.math))")
    assert len(folded) > 8
    lines = [squeezed(line) for part in folded for line in part.splitlines()]
    assert not [line for line in lines if line not in text]
    answers = texts_on(name, ".role-exercises details:not(.hint) > p")
    assert not [answer for answer in answers if squeezed(answer) in text]
    assert not re.search("Showthe|Hidethe|Copy", text)


@pytest.mark.parametrize("chapter", DECKS)
def test_every_slide_can_be_seen_and_read_without_a_network(browser, tmp_path, chapter):
    file, seen = tmp_path / "slides.html", nothing_yet()
    slides = slides_of(read_notebook(notebook_path(DECKS[chapter], chapter)))
    file.write_text(page_of(slides, DECKS[chapter]), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = open_page(context, file.as_uri(), seen)
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate(f"{GATHER}.wrongSlides()") == []
    assert page.locator(".wall.scrolls").count() <= 1  # the code of a layer
    assert comes_true(page, lambda: page.evaluate(MODELS_RUN))
    read_down(page) if chapter == GPT else move_an_explorer(page)
    context.close()
    assert not seen.complaints
    assert not [url for url in seen.requests if not url.startswith(("data:", file.as_uri()))]


def read_down(page):
    """Step through the model in one cell, which has more lines than a wall."""
    page.evaluate(f"{GATHER}.goTo('.scrolls', -1)")
    below = [[1]]
    while below[-1]:
        below.append(page.evaluate(f"{GATHER}.below()"))
        page.keyboard.press("ArrowRight")
    assert below[1] > [0] == below[-2]


def move_an_explorer(page):
    page.evaluate(f"{GATHER}.goTo('.d2l-explorer', 99)")
    explorer = page.locator("section.present .d2l-explorer")
    still = explorer.inner_html()
    control = explorer.locator(".controls :is([type=range], fieldset label:last-child)").first
    control.click(position={"x": 4, "y": 4})
    assert explorer.inner_html() != still
