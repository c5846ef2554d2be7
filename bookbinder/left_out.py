"""Links into chapters that an edition leaves out: they lead to the first edition that has them.

They are written like any other link, `[chapter 11](11_positions_in_the_score.ipynb)`. A notebook
says whose chapter it is, and finds it in the other edition's folder; where that folder is not at
hand, the words stay without a link.
"""

import copy
import re
from dataclasses import replace

from nbformat import NotebookNode

from bookbinder.catalogs import read_catalog, said, say_in
from bookbinder.chapters import Chapter
from bookbinder.config import ENGLISH, Book, Edition
from bookbinder.text import LINK, TARGET, WORDS_OF_LINK, jupyter_anchor

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
        return f"[{told}](../{owner.notebooks.name}/{with_shown_anchor(book, owner, target)})"

    def led(chapter: Chapter) -> Chapter:
        notebook = copy.deepcopy(chapter.notebook)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = LINK.sub(link, cell.source)
        original = chapter.original and led(chapter.original)
        return replace(chapter, notebook=notebook, original=original)

    return [led(chapter) for chapter in chapters] if owners else chapters


def with_shown_anchor(book: Book, owner: Edition, target: str) -> str:
    """Return the target of a link with the anchor that the owner's language gives its heading."""
    file, _, anchor = target.partition("#")
    if owner.language == ENGLISH or not anchor:
        return target
    catalog = read_catalog(book, owner.language, file.removesuffix(".ipynb"))
    texts = (message.id for message in catalog if message.id)
    heading = next((text for text in texts if jupyter_anchor(text) == anchor), anchor)
    return f"{file}#{jupyter_anchor(said(catalog, heading))}"


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
