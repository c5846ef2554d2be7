"""The book of this repository, read once for all tests, which must not change it."""

from functools import cache

from conftest import ROOT

from bookbinder.binding import notebook_path, read_edition_chapters
from bookbinder.chapters import Chapter
from bookbinder.config import Edition, read_book
from bookbinder.files import read_notebook
from bookbinder.text import Page

BOOK = read_book(ROOT)


@cache
def chapters(edition: Edition) -> list[Chapter]:
    return read_edition_chapters(BOOK, edition)


@cache
def pages(edition: Edition) -> list[Page]:
    return [
        Page(chapter, read_notebook(notebook_path(edition, chapter.name)))
        for chapter in chapters(edition)
    ]
