"""A chapter in another language: line by line its sentences, cell by cell the code of the English.

Where a catalog has no translation of a sentence, the English one stays, and a line under the title
says how many do.
"""

import copy
import dataclasses
import json
import unicodedata
from collections.abc import Callable
from html import escape

from babel.messages.catalog import Catalog
from nbformat import NotebookNode

from bookbinder.agreement import disagreements
from bookbinder.catalogs import catalog_file, is_said, read_catalog, said, say_in
from bookbinder.chapters import Chapter, title_cell
from bookbinder.config import Book, Edition
from bookbinder.errors import BookError
from bookbinder.sentences import messages_of, sentences_of, spoken
from bookbinder.words import worded

WIDTH = 76  # letters of a string in code; a Han letter is as wide as two
STALE = worded("{count} of the {all} sentences of this chapter are in English still.")


def translated_chapters(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return the chapters of an edition in its language; they have the given ones as originals.

    Raises:
        BookError: A catalog is broken, or a translation has lost what it must keep.
    """
    say = say_in(book, edition.language)
    made = []
    for chapter in chapters:
        catalog = read_catalog(book, edition.language, chapter.name)
        file = book.named(catalog_file(book, edition.language, chapter.name))
        if wrong := next(disagreements(catalog, file), None):
            raise BookError(wrong)
        texts = {text for text, _, _ in messages_of(chapter)}
        missing = sum(not is_said(catalog, text) for text in texts)
        chapter = translated(chapter, catalog)
        note = say(STALE).format(count=missing, all=len(texts))
        made.append(with_note(chapter, note) if missing else chapter)
    return made


def translated(chapter: Chapter, catalog: Catalog) -> Chapter:
    """Return a chapter whose words are those of a catalog."""
    notebook = copy.deepcopy(chapter.notebook)
    for index, sentence in sentences_of(chapter):
        cell = notebook.cells[index]
        lines = cell.source.split("\n")
        lines[sentence.line] = sentence.marks + said(catalog, sentence.text) + sentence.end
        cell.source = "\n".join(lines)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = with_spoken(cell, catalog)
            if alt := cell.metadata.get("alt"):
                cell.metadata["alt"] = said(catalog, alt)
    return dataclasses.replace(chapter, notebook=notebook, original=chapter)


def with_note(chapter: Chapter, note: str) -> Chapter:
    """Return a chapter with a line under its title; its original has the line, too."""
    index = chapter.notebook.cells.index(title_cell(chapter.notebook))
    places = copy.deepcopy(chapter.places)
    places[index][1:1] = places[index][:1] * 2

    def noted(one: Chapter) -> Chapter:
        notebook = copy.deepcopy(one.notebook)
        cell = notebook.cells[index]
        title, *rest = cell.source.split("\n")
        cell.source = "\n".join([title, "", f"*{note}*", *rest])
        return dataclasses.replace(one, notebook=notebook, places=places)

    return dataclasses.replace(noted(chapter), original=noted(chapter.english))


def with_spoken(cell: NotebookNode, catalog: Catalog) -> str:
    """Return the code of a cell with the captions and questions of its explorers translated."""
    lines = cell.source.split("\n")
    for node in sorted(spoken(cell), key=lambda node: -node.lineno):
        begin = lines[node.lineno - 1].encode()[: node.col_offset].decode()
        end = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
        new = said(catalog, node.value)
        if new != node.value:
            indent = len(begin) - len(begin.lstrip())
            literal = f"\n{' ' * indent}".join(literals(new, WIDTH - len(begin)))
            lines[node.lineno - 1 : node.end_lineno] = f"{begin}{literal}{end}".split("\n")
    return "\n".join(lines)


def literals(text: str, width: int) -> list[str]:
    """Return a text as literals that Python joins, each within a width where it can be."""
    parts, used = [""], 0
    for letter in text:
        wide = 1 + (unicodedata.east_asian_width(letter) in "WF")
        if used + wide > width and (parts[-1].endswith(" ") or wide == 2):
            parts.append("")
            used = 0
        parts[-1] += letter
        used += wide
    return [json.dumps(part, ensure_ascii=False) for part in parts]


def translated_notebook(
    chapter: Chapter, stored: NotebookNode, practise: Callable[[str], str]
) -> NotebookNode:
    """Return the executed notebook of the English chapter with the words of a translated one.

    `practise` puts the words of exercises and explorers into an output.
    """
    notebook = copy.deepcopy(chapter.notebook)
    outputs = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"}
    for cell, old in zip(notebook.cells, chapter.english.notebook.cells, strict=True):
        if cell.cell_type != "code":
            continue
        executed = copy.deepcopy(outputs[cell.id])
        cell.outputs, cell.execution_count = executed.outputs, executed.execution_count
        words = {
            before.value: after.value
            for before, after in zip(spoken(old), spoken(cell), strict=True)
        }
        for output in cell.outputs:
            for kind, text in output.get("data", {}).items():
                if not isinstance(text, str):
                    continue
                for before, after in words.items():
                    text = text.replace(escape(before), escape(after)).replace(before, after)
                output.data[kind] = practise(text)
    return notebook
