"""The way of a chapter from what is written to the notebook of an edition, in English.

Each step is a function from the chapters of an edition to its chapters; what a language changes
comes after all of them (`language.in_language`).
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import replace

from nbformat import NotebookNode

from bookbinder.book import Book, Edition
from bookbinder.chapters import Chapter, name_cells, read_chapter
from bookbinder.colab import open_alone
from bookbinder.language.catalog import worded
from bookbinder.notation import read_notation, table
from bookbinder.overlay import lay_over
from bookbinder.reading_time import minutes

Step = Callable[[Book, Edition, list[Chapter]], list[Chapter]]


def written(book: Book, edition: Edition, _: list[Chapter] = ()) -> list[Chapter]:
    """Return the chapters that an edition has, as they are written."""
    paths = map(book.chapter_file, book.chapters)
    return [read_chapter(path, book.named(path)) for path in paths]


def laid_over(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters with what the overlay of the edition's framework changes."""
    paths = [book.overlay_file(edition, chapter.name) for chapter in chapters]
    pairs = zip(chapters, paths, strict=True)
    return [lay_over(c, path, book.named(path)) if path else c for c, path in pairs]


def in_words_of(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters that say `tensor`, or what the framework calls it, for {{array}}."""
    words = {f"{{{{{name}}}}}": word for name, word in edition.words}
    made = [with_texts(chapter, words) for chapter in chapters]
    for chapter in made:
        name_cells(chapter.notebook)  # the id of a cell is that of what it says
    return made


def filled_in(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters with what is computed from their text: the minutes, the notation."""
    notation = table(read_notation(book.source, edition.framework), chapters)
    texts = ({"{{notation}}": notation, "{{minutes}}": time_text(c)} for c in chapters)
    return list(map(with_texts, chapters, texts))


def opened_alone(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters that install the book where they are opened without its folder."""
    return [open_alone(chapter, book, edition) for chapter in chapters]


STEPS: tuple[Step, ...] = (written, laid_over, in_words_of, filled_in, opened_alone)


def english_chapters(book: Book, edition: Edition, steps: Iterable[Step] = STEPS) -> list[Chapter]:
    """Return all chapters of an edition, in the order of the book."""
    chapters: list[Chapter] = []
    for step in steps:
        chapters = step(book, edition, chapters)
    return chapters


def title_in_contents(book: Book, name: str, title: str) -> str:
    """Return the title of a chapter as contents have it: that of an appendix has a letter."""
    if name not in book.appendices:
        return title
    letter = chr(ord("A") + book.appendices.index(name))
    bare = title.rpartition(". ")[2]
    return worded("Appendix {letter}: {title}").format(letter=letter, title=bare)


def with_prose(chapter: Chapter, changed: Callable[[str], str]) -> Chapter:
    """Return a chapter whose cells of prose are changed."""
    return replace(chapter, notebook=prose_changed(chapter.notebook, changed))


def prose_changed(notebook: NotebookNode, changed: Callable[[str], str]) -> NotebookNode:
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source = changed(cell.source)
    return made


def with_texts(chapter: Chapter, texts: dict[str, str]) -> Chapter:
    """Return a chapter whose prose has a text in each place, {{minutes}}, that is for one."""

    def filled(source: str) -> str:
        for place, text in texts.items():
            source = source.replace(place, text)
        return source

    return with_prose(chapter, filled)


def time_text(chapter: Chapter) -> str:
    """Return how long a chapter takes."""
    read, practised = minutes(chapter)
    text = worded("about {minutes} minutes to read")
    if practised:
        text = worded("about {minutes} minutes to read, {practised} for the exercises")
    return text.format(minutes=read, practised=practised)
