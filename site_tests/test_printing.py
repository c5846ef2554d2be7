"""The book is printed from the site, chapter after chapter, with an outline of all parts."""

import dataclasses
import re
import subprocess
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import bs4
import pypdf
import pytest
from conftest import BOOK, CHROMIUM

from bookbinder.language import language_of
from bookbinder.site.printing import FLAGS, READY, TEXT_WIDTH, one_page, print_book

CHAPTER, TITLE = "14_distance_bilinear_cosine", "14. Distance, bilinear, cosine"
MOST_LINES = 45  # of code that fits on a page
WIDE = """() => document.querySelector("article div.math").insertAdjacentHTML("afterend",
  "<div class=d2l-explorer><div class=parts><div style='min-width: 900px'>x</div></div></div>")"""
BOXES = "div.math, .parts, pre, table.table"
CUT = f"""() => [...document.querySelectorAll("{BOXES}")].filter((box) => {{
  const right = box.getBoundingClientRect().left + box.scrollWidth * box.currentCSSZoom;
  return right > innerWidth + 1;
}}).map((b) => b.textContent)"""


def squeezed(text):
    """Return a text without gaps, and without ligatures."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def page_of(site, chapter):
    texts = {chapter: (site / f"{chapter}.html").read_text(encoding="utf-8")}
    page = one_page(("T", ""), texts, "site", language_of(BOOK, "en"))
    return bs4.BeautifulSoup(page, "html.parser")


@pytest.fixture(scope="module")
def folder(site, tmp_path_factory):
    """A folder with one printed chapter."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    root = tmp_path_factory.mktemp("print")
    (root / "_build").mkdir()
    (root / "_build/site").symlink_to(site)
    one_chapter = dataclasses.replace(BOOK, root=root, chapters=(CHAPTER,))
    with ThreadPoolExecutor(1) as thread:  # in this one, the other tests' browser is at work
        thread.submit(print_book, one_chapter, one_chapter.editions[0]).result()
    return root / "_build"


def test_a_print_has_heads_an_outline_and_all_code(site, folder):
    pdf = pypdf.PdfReader(folder / "book-pytorch-en.pdf")
    page, pages = page_of(site, CHAPTER), [squeezed(p.extract_text()) for p in pdf.pages]
    inside = [number for number, text in enumerate(pages, 1) if squeezed(TITLE) in text][1:]
    assert len(inside) > 10
    assert inside == list(range(inside[0], inside[-1] + 1))
    assert all(pages[n - 1].startswith((str(n), squeezed(TITLE))) for n in inside)
    outline = squeezed(str(pdf.outline))
    titles = [squeezed(heading.get_text()) for heading in page.select("article :is(h1, h2)")]
    assert len(titles) > 8
    assert not [title for title in titles if title not in outline]
    blocks = [pre.get_text() for pre in page.select(".cell_input pre")]
    blocks = [code for code in blocks if code.count("\n") <= MOST_LINES]
    assert len(blocks) > 20
    assert not [code for code in blocks if not any(squeezed(code) in text for text in pages)]


@pytest.mark.usefixtures("browser")
def test_a_page_from_the_browser_has_its_folded_code_and_hints_and_no_answer(site, tmp_path):
    page, file = site / "05_many_heads_and_a_block.html", tmp_path / "page.pdf"
    command = [CHROMIUM, "--headless", *FLAGS, f"--print-to-pdf={file}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True)
    text = squeezed("".join(sheet.extract_text() for sheet in pypdf.PdfReader(file).pages))
    article = bs4.BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").article
    folded = article.select(
        ".cell:not(.tag_drawing) details.hide pre, details.hint > p:not(:has(.math))"
    )
    lines = [squeezed(line) for part in folded for line in part.get_text().splitlines()]
    assert len(folded) > 8
    assert not [line for line in lines if line not in text]
    answers = article.select(".role-exercises details:not(.hint) > p")
    assert not [p for p in answers if squeezed(p.get_text()) in text]
    assert not re.search("Showthe|Hidethe|Copy", text)


def test_what_moves_is_a_still_picture_and_code_that_draws_is_left_out(site):
    page = page_of(site, CHAPTER)
    assert all(e.select("img") and e.select_one(".still") for e in page.select(".d2l-explorer"))
    assert not page.select(".tag_drawing .cell_input, details:not(:has(> summary))")
    assert f"The code that draws this is in {CHAPTER}.ipynb." in page.get_text()
    (model,) = page_of(site, "06_inside_a_small_model").select(".d2l-arcs")
    assert model.select_one(".still").get_text().endswith("training steps.")
    assert model.select("td.v")


def test_nothing_is_wider_than_the_paper(browser, folder):
    page = browser.new_page(viewport={"width": TEXT_WIDTH, "height": 960})
    page.emulate_media(media="print")
    page.goto((folder / "print/book.html").as_uri())
    page.evaluate(WIDE)
    too_wide = page.evaluate(CUT)
    page.evaluate(READY)
    cut = page.evaluate(CUT)
    page.close()
    assert too_wide
    assert not cut
