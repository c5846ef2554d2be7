"""The book is printed from the site, chapter after chapter, with the numbers of their pages."""

import dataclasses
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import bs4
import pypdf
import pytest
from conftest import CHROMIUM, ROOT

from bookbinder.config import read_book
from bookbinder.site.printing import FIT, READY, TEXT_WIDTH, one_page, print_book

CHAPTER, TITLE = "08_more_scoring_functions", "8. More scoring functions"
WIDE = """() => document.querySelector("article div.math").insertAdjacentHTML("afterend",
  "<div class=d2l-explorer><div class=parts><div style='min-width: 900px'>x</div></div></div>")"""
MOST_LINES = 45  # of code that fits on a page
BOXES = "div.math, .parts, pre, table.table"
CUT = f"""() => [...document.querySelectorAll("{BOXES}")].filter((box) => {{
  const right = box.getBoundingClientRect().left + box.scrollWidth * box.currentCSSZoom;
  return right > innerWidth + 1;
}}).map((b) => b.textContent)"""


def squeezed(text):
    """Return a text without gaps, and without ligatures."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


@pytest.fixture(scope="module", params=[True, False], ids=["whole", "without exercises"])
def exercises(request):
    return request.param


@pytest.fixture(scope="module")
def folder(site, exercises, tmp_path_factory):
    """A folder with one printed chapter."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    root = tmp_path_factory.mktemp("print")
    (root / "_build").mkdir()
    (root / "_build/site").symlink_to(site)
    one_chapter = dataclasses.replace(read_book(ROOT), root=root, chapters=(CHAPTER,))
    with ThreadPoolExecutor(1) as thread:  # in this one, the other tests' browser is at work
        thread.submit(print_book, one_chapter, one_chapter.editions[0], exercises).result()
    return root / "_build"


@pytest.fixture(scope="module")
def book_page(folder):
    return bs4.BeautifulSoup((folder / "print/book.html").read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def pages(folder, exercises):
    """The texts of the pages, without gaps."""
    name = "book-pytorch-en.pdf" if exercises else "book-pytorch-en-without-exercises.pdf"
    assert [path.name for path in folder.glob("*.pdf")] == [name]
    return [squeezed(page.extract_text()) for page in pypdf.PdfReader(folder / name).pages]


def test_the_contents_name_the_page_of_every_chapter_and_section(book_page, pages):
    lines = book_page.select("#contents a")
    assert len(lines) > 8
    for line in lines:
        number = int(line.find_next("span").get_text())
        assert squeezed(line.get_text()) in pages[number - 1]


def test_every_page_of_a_chapter_has_its_title_and_number_at_the_head(pages):
    named = [number for number, text in enumerate(pages, 1) if squeezed(TITLE) in text]
    inside = named[1:]  # after the contents
    assert len(inside) > 10
    assert inside == list(range(inside[0], inside[-1] + 1))
    for number in inside:
        assert pages[number - 1].startswith((str(number), squeezed(TITLE)))


def test_no_code_that_fits_on_a_page_is_cut_at_its_end(book_page, pages):
    blocks = [pre.get_text() for pre in book_page.select(".cell_input pre")]
    blocks = [code for code in blocks if code.count("\n") <= MOST_LINES]
    assert len(blocks) > 20
    assert not [code for code in blocks if not any(squeezed(code) in page for page in pages)]


def test_every_explorer_has_its_still_picture_and_no_code_only_draws(book_page):
    explorers = book_page.select(".d2l-explorer")
    assert explorers
    for explorer in explorers:
        assert "Still picture at" in explorer.get_text()
        assert explorer.select("img, td.v")
    assert not book_page.select(".tag_drawing pre:not(.cell_output pre)")
    assert f"The code that draws this is in {CHAPTER}.ipynb." in book_page.get_text()


@pytest.mark.parametrize("chapter", ["03_kernels_to_dot_products", "12_many_heads"])
def test_a_trained_model_is_printed_as_its_still_picture(site, chapter):
    text = (site / f"{chapter}.html").read_text(encoding="utf-8")
    page = bs4.BeautifulSoup(one_page("T", "", {chapter: text}, "site"), "html.parser")
    (model,) = page.select(".d2l-arcs")
    assert model.select_one(".still").get_text().endswith("training steps.")
    assert model.select("img")


def test_exercises_and_their_solutions_are_there_or_not(book_page, pages, exercises):
    assert bool(book_page.select("[id$='--exercises'], [id$='--solutions']")) == exercises
    assert any("Exercise8.2" in page for page in pages) == exercises


def test_text_has_ten_points_and_nothing_is_wider_than_the_paper(browser, folder):
    page = browser.new_page(viewport={"width": TEXT_WIDTH, "height": 960})
    page.emulate_media(media="print")
    page.goto((folder / "print/book.html").as_uri())
    page.evaluate(READY)
    size = page.evaluate("getComputedStyle(document.querySelector('.bd-article p')).fontSize")
    assert float(size.removesuffix("px")) == pytest.approx(10 * 96 / 72, abs=0.01)  # points
    page.evaluate(WIDE)
    too_wide = page.evaluate(CUT)
    page.evaluate(FIT)
    cut = page.evaluate(CUT)
    page.close()
    assert too_wide
    assert not cut
