"""The book on paper and on a wall of 1280 x 720: nothing is cut off, lost or missing there."""

import dataclasses
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import bs4
import pypdf
import pytest
from conftest import BOOK, GATHER, SITE, open_page

from bookbinder.book import read_notebook
from bookbinder.site.printing import READY, TEXT_WIDTH, print_book
from bookbinder.slides import html_of, slides_of

CHAPTER, TITLE = "14_distance_bilinear_cosine", "14.Distance,bilinear,cosine"
WIDE = """() => document.querySelector("article div.math").insertAdjacentHTML("afterend",
  "<div class=d2l-explorer><div class=parts><div style='min-width: 900px'>x</div></div></div>")"""
CODE = ".cell:not(.tag_drawing)"
BLOCK, FIRST = "05_many_heads_and_a_block", BOOK.editions[0]
DECKS = ("10_masked_softmax", "07_a_model_that_writes", "12_scaled_dot_product_attention")


def squeezed(text):
    """Return a text without gaps, and without ligatures."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def texts_on(name, selector):
    """Return what stands in some parts of a page, squeezed."""
    page = bs4.BeautifulSoup((SITE / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    return [squeezed(part.get_text().removesuffix("#")) for part in page.article.select(selector)]


def on_pages(pdf):
    return [squeezed(page.extract_text()) for page in pypdf.PdfReader(pdf).pages]


def test_a_print_has_heads_an_outline_all_code_and_pictures_and_fits(browser, tmp_path):
    (tmp_path / "_build").mkdir()
    (tmp_path / "_build/site").symlink_to(SITE)
    one_chapter = dataclasses.replace(BOOK, root=tmp_path, chapters=(CHAPTER,))
    with ThreadPoolExecutor(1) as thread:  # in this one, the other tests' browser is at work
        thread.submit(print_book, one_chapter, FIRST).result()
    pdf = tmp_path / "_build/book-pytorch-en.pdf"
    pages, outline = on_pages(pdf), squeezed(str(pypdf.PdfReader(pdf).outline))
    inside = [number for number, text in enumerate(pages, 1) if TITLE in text][1:]
    assert len(inside) > 10
    assert inside == [*range(inside[0], inside[-1] + 1)]
    assert all(pages[n - 1].startswith((str(n), TITLE)) for n in inside)
    titles, blocks = texts_on(CHAPTER, ":is(h1, h2)"), texts_on(CHAPTER, f"{CODE} .cell_input pre")
    assert not [title for title in titles if title not in outline]
    assert not [code for code in blocks if not any(code in text for text in pages)]
    page = browser.new_page(viewport={"width": TEXT_WIDTH, "height": 960})
    page.emulate_media(media="print")
    page.goto((tmp_path / "_build/print/book.html").as_uri())
    page.evaluate(WIDE)
    page.evaluate(READY)
    assert page.evaluate(f"{GATHER}.tooWide()") == page.evaluate(f"{GATHER}.unseen()") == []


def test_a_page_from_the_browser_has_its_folded_code_and_hints_and_no_answer(reading, tmp_path):
    reading(f"{BLOCK}.html").pdf(path=tmp_path / "page.pdf")
    text = "".join(on_pages(tmp_path / "page.pdf"))
    folded = texts_on(BLOCK, f"{CODE} details.hide pre, details.hint > p:not(:has(.math))")
    answers = texts_on(BLOCK, ".role-exercises details:not(.hint) > p")
    assert not [part for part in folded if part not in text]
    assert not [part for part in (*answers, "Showthe", "Hidethe", "Copy") if part in text]


@pytest.mark.parametrize("chapter", DECKS)
def test_every_slide_can_be_seen_and_read_without_a_network(browser, tmp_path, chapter):
    file = tmp_path / "slides.html"
    slides = slides_of(read_notebook(FIRST.notebook(chapter)))
    file.write_text(html_of(slides, FIRST), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = open_page(context, file.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate(f"{GATHER}.wrongSlides()") == []
    assert page.locator(".wall.scrolls").count() <= 1  # the code of a layer
    page.wait_for_function("[...document.querySelectorAll('.d2l-arcs')].every((m) => m.run)")
    context.close()
    assert not page.seen.complaints
    assert not [url for url in page.seen.requests if not url.startswith(("data:", file.as_uri()))]
