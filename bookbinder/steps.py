"""The way of a chapter from what is written to the notebook of an edition, in English.

Each step is a function from the chapters of an edition to its chapters; what a language changes
comes after all of them (`language.in_language`).
"""

import copy
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from nbformat import NotebookNode

from bookbinder.catalogs import worded
from bookbinder.chapters import Chapter, name_cells, read_chapter
from bookbinder.colab import open_alone
from bookbinder.config import Book, Edition
from bookbinder.notation import read_notation, table
from bookbinder.overlay import lay_over
from bookbinder.page import LINK, TARGET, WORDS_OF_LINK
from bookbinder.reading_time import minutes

Step = Callable[[Book, Edition, list[Chapter]], list[Chapter]]

ELSEWHERE = worded("{words} (in {framework})")
# A link to another edition, in any language: its words, folder, file, heading.
LED = re.compile(rf"\[({WORDS_OF_LINK})\]\(\.\./([\w-]+)/(\w+)\.ipynb(#{TARGET})?\)")


def written(book: Book, edition: Edition, _: list[Chapter] = ()) -> list[Chapter]:
    """Return the chapters that an edition has, as they are written."""
    paths = map(book.chapter_file, book.chapters_of(edition))
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
    return [with_texts(c, {"{{notation}}": notation, "{{minutes}}": time_text(c)}) for c in chapters]


def led_elsewhere(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters whose links into those that the edition lacks say whose they are.

    They are written like any other link, `[chapter 11](11_positions_in_the_score.ipynb)`, and lead
    to the folder of the first edition that has the chapter.
    """

    def led(link: re.Match) -> str:
        _, words, target = link.groups()
        name = target.partition("#")[0].removesuffix(".ipynb")
        if name not in edition.without:
            return link[0]
        owner = next((other for other in book.editions if name not in other.without), edition)
        words = ELSEWHERE.format(words=words, framework=owner.name)
        return f"[{words}](../{owner.notebooks.name}/{target})"

    return [with_prose(chapter, lambda source: LINK.sub(led, source)) for chapter in chapters]


def opened_alone(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters that install the book where they are opened without its folder."""
    return [open_alone(chapter, book, edition) for chapter in chapters]


STEPS: tuple[Step, ...] = (written, laid_over, in_words_of, filled_in, led_elsewhere, opened_alone)


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
    bare = title.partition(".")[2].strip()
    return worded("Appendix {letter}: {title}").format(letter=letter, title=bare)


def without_links_elsewhere(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook for a folder of its own: of links to other editions, the words."""
    return prose_changed(notebook, lambda source: LED.sub(r"\1", source))


def with_pages(source: str, folders: dict[str, str]) -> str:
    """Return Markdown whose links to other editions lead to their pages.

    `folders` says where a site has the pages of each folder of notebooks.
    """
    return LED.sub(lambda m: f"[{m[1]}]({folders[m[2]]}{m[3]}.html{m[4] or ''})", source)


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
