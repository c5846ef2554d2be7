"""An edition without a chapter: links into it say whose it is, and lead there where they can."""

from dataclasses import replace

import pytest

from bookbinder.binding import bind_module, notebook_path, read_edition_chapters
from bookbinder.config import read_book
from bookbinder.files import as_text, read_notebook
from bookbinder.page import Page, link_problems
from bookbinder.publish import published
from bookbinder.reader_copies import bring_copies
from bookbinder.worksheets import bind_worksheets, worksheets_folder
from tests.conftest import TINY, write_files

BOOK = {
    "book.toml": TINY["book.toml"] + '[frameworks.jax]\nwithout = ["01_second"]\n',
    "README.md": "# Tiny\n\nWhat the book is.\n",
    "book/00_first.md": """
        # 0. First

        See [chapter 1](01_second.ipynb#Begin-here-(now)), [`f` of it](01_second.ipynb),
        [(1.1)](01_second.ipynb), [this](#Words) and [the title](00_first.ipynb).

        **Time** {{minutes}}

        ## Words

        PyTorch has one.
    """,
    "book/01_second.md": """
        # 1. Second

        **Time** {{minutes}}

        ## Begin here (now)

        $$ a = b \\tag{1.1} $$
    """,
    "book/jax/00_first.md": """
        ## Words

        <!-- was: PyTorch has one. -->
        As [there](01_second.ipynb#Begin-here-(now)).
    """,
}
TOLD = (
    "See [chapter 1 (in PyTorch)](../pytorch/01_second.ipynb#Begin-here-(now)), "
    "[`f` of it (in PyTorch)](../pytorch/01_second.ipynb),\n"
    "[(1.1) (in PyTorch)](../pytorch/01_second.ipynb), [this](#Words) and "
    "[the title](00_first.ipynb)."
)


EQUATION = "01_second has no equation (1.2)"


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A bound book of two chapters, of which the second edition leaves out one."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    write_files(tmp_path, BOOK)
    book = read_book(tmp_path)
    for edition in book.editions:
        chapters = read_edition_chapters(book, edition)
        bind_module(book, edition, chapters)
        edition.notebooks.mkdir(parents=True)
        for chapter in chapters:
            text = as_text(published(chapter, chapter.notebook))
            notebook_path(edition, chapter.name).write_text(text)
    return book


def text_of(folder):
    return "\n".join(cell.source for cell in read_notebook(folder / "00_first.ipynb").cells)


def test_links_into_a_chapter_that_is_left_out_lead_to_the_edition_that_has_it(book):
    first, second = (text_of(edition.notebooks) for edition in book.editions)
    assert TOLD in second
    assert "As [there (in PyTorch)](../pytorch/01_second.ipynb#Begin-here-(now))." in second
    assert "(in PyTorch)" not in first
    assert "See [chapter 1](01_second.ipynb#Begin-here-(now))" in first


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("there", "there", ""),
        ("second.ipynb#Begin", "second.ipynb#begin", "01_second has no heading #begin-here-(now)"),
        ("01_second.ipynb#", "02_third.ipynb#", "02_third.ipynb does not exist"),
        ("[there](01_second.ipynb#Begin-here-(now))", "[(1.2)](01_second.ipynb)", EQUATION),
    ],
)
def test_what_such_a_link_leads_to_exists(book, old, new, problem):
    overlay = BOOK["book/jax/00_first.md"]
    assert old in overlay
    write_files(book.root, {"book/jax/00_first.md": overlay.replace(old, new)})
    (chapter,) = read_edition_chapters(book, book.editions[1])
    page = Page(chapter, chapter.notebook)
    found = link_problems(page, {page.name: page}, book.editions[1].notebooks)
    assert found == [f"book/jax/00_first.md:4: {problem}"] * bool(problem)


def test_a_folder_of_its_own_has_the_words_without_the_link(book):
    edition = book.editions[1]
    bring_copies(book, edition, book.root / "mine")
    bind_worksheets(book, edition, solutions_only=False)
    for folder in (book.root / "mine", worksheets_folder(book, edition, False)):
        text = text_of(folder)
        assert "See chapter 1 (in PyTorch), `f` of it (in PyTorch),\n(1.1) (in PyTorch)," in text
        assert "[this](#Words) and [the title](00_first.ipynb)" in text
        assert "As there (in PyTorch)." in text


def test_a_translated_link_leads_to_the_heading_of_the_other_edition_in_its_language(book):
    (book.root / "book/locale/zh").mkdir(parents=True)
    catalog = book.root / "book/locale/zh/01_second.po"
    catalog.write_text('msgid "Begin here (now)"\nmsgstr "从这里（现在）开始"\n')
    book = replace(book, languages=("en", "zh"))
    (first,) = read_edition_chapters(book, book.edition("jax", "zh"))
    assert "](../pytorch-zh/01_second.ipynb#从这里（现在）开始)" in first.notebook.cells[0].source
