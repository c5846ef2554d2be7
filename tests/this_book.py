"""The book of this repository, read once for all tests, which must not change it."""

from functools import cache

from nbformat import NotebookNode

from bookbinder.book import Edition, read_book
from bookbinder.chapters import Chapter, lines_of, number_of
from bookbinder.compose import chapters_of
from bookbinder.markdown import TAG, jupyter_anchor
from bookbinder.notebook import read_bound
from tests.conftest import ROOT

BOOK = read_book(ROOT)
OF = {edition: book for book in (BOOK, *BOOK.alone) for edition in book.editions}


class Page:
    """A chapter with its lines of prose, fenced blocks left out, and as it was executed."""

    def __init__(self, chapter: Chapter, executed: NotebookNode):
        self.chapter, self.executed, self.lines = chapter, executed, lines_of(chapter)
        self.name, self.number = chapter.name, number_of(chapter.name)
        sources = {"markdown": [], "code": []}
        for cell in chapter.notebook.cells:
            sources[cell.cell_type].append(cell.source)
        self.text, self.code = ("\n\n".join(texts) for texts in sources.values())
        self.equations = TAG.findall(self.text)
        self.anchors = [jupyter_anchor(line.title) for line in self.lines if line.level]


@cache
def pages(of: Edition) -> list[Page]:
    return [Page(c, read_bound(of.notebook(c.name))) for c in chapters_of(OF[of], of)]


GUESTS = [page for book in BOOK.alone for page in pages(book.editions[0])]
