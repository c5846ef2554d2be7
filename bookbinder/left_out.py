"""Links into chapters that an edition leaves out: they lead to the first edition that has them.

They are written like any other link, `[chapter 11](11_positions_in_the_score.ipynb)`. A notebook
says whose chapter it is, and finds it in the other edition's folder; where that folder is not at
hand, the words stay without a link.
"""

import copy
import re
from dataclasses import replace

from nbformat import NotebookNode

from bookbinder.catalogs import say_in
from bookbinder.chapters import Chapter
from bookbinder.config import Book, Edition
from bookbinder.text import LINK, TARGET, WORDS_OF_LINK

LED = re.compile(rf"\[({WORDS_OF_LINK})\]\(\.\./([\w-]+)/(\w+)\.ipynb(#{TARGET})?\)")


def led_elsewhere(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters whose links into those that the edition lacks say whose they are."""
    say = say_in(book, edition.language)
    owners = {
        name: replace(other, language=edition.language)
        for other in reversed(book.editions)
        for name in edition.without
        if name not in other.without
    }

    def link(found: re.Match) -> str:
        _, words, target = found.groups()
        owner = owners.get(target.partition("#")[0].removesuffix(".ipynb"))
        if owner is None:
            return found[0]
        told = say("{words} (in {framework})").format(words=words, framework=owner.name)
        return f"[{told}](../{owner.notebooks.name}/{target})"

    def led(chapter: Chapter) -> Chapter:
        notebook = copy.deepcopy(chapter.notebook)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = LINK.sub(link, cell.source)
        original = chapter.original and led(chapter.original)
        return replace(chapter, notebook=notebook, original=original)

    return [led(chapter) for chapter in chapters] if owners else chapters


def without_links_elsewhere(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook for a folder of its own: of links to other editions, the words."""
    alone = copy.deepcopy(notebook)
    for cell in alone.cells:
        if cell.cell_type == "markdown":
            cell.source = LED.sub(r"\1", cell.source)
    return alone


def with_pages(source: str, folders: dict[str, str]) -> str:
    """Return Markdown whose links to other editions lead to their pages.

    `folders` says where a site has the pages of each folder of notebooks.
    """
    return LED.sub(lambda m: f"[{m[1]}]({folders[m[2]]}{m[3]}.html{m[4] or ''})", source)
