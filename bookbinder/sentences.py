"""What of a chapter is translated: its sentences, alt texts, and what its explorers say.

A sentence is a line of the source without the marks before it ("- ", "> ", "## ", <summary>), so
that a translation has the cells and lines of its original. A row of a table is one sentence.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from bookbinder.chapters import Chapter
from bookbinder.page import REFERENCE, inline, lines_of

WORDS_IN_FORMULA = re.compile(r"\\text\{([^}]*)\}")
NOT_WORDS = re.compile(r"\{\{\w+\}\}|\\\w+|https?://\S+")
WORD = re.compile(r"[A-Za-z]{2}|\ba\b")
SPOKEN = ("caption", "question")  # arguments of explore(...) and draw_arcs(...)


@dataclass(frozen=True)
class Sentence:
    """A line of a cell that is a message: its number, the marks before it, its text, its end."""

    line: int
    marks: str
    text: str
    end: str


def is_prose(text: str) -> bool:
    """Say whether a text has words, in a formula, too, and not code and addresses alone."""
    words = [node.content for node in inline(text) if node.type == "text"]
    words += WORDS_IN_FORMULA.findall(text)
    return bool(WORD.search(NOT_WORDS.sub(" ", " ".join(words))))


def sentences_of(chapter: Chapter) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences of a chapter, each with the index of its cell."""
    for line in lines_of(chapter):
        text = line.content.removeprefix("<summary>").removesuffix("</summary>")
        text = REFERENCE.sub("", text) if line.level else text  # the number of a chapter
        is_entry = line.in_references and REFERENCE.match(line.text)
        is_letters = line.kind == "formula" and not WORDS_IN_FORMULA.search(text)
        if text and not is_entry and not is_letters and is_prose(text):
            marks, _, end = line.text.partition(text)
            yield line.cell, Sentence(line.number, marks, text, end)


def messages_of(chapter: Chapter) -> Iterator[tuple[str, str, str]]:
    """Yield text, file and comment of each message of a chapter."""
    by_cell: dict[int, list[Sentence]] = {}
    for index, sentence in sentences_of(chapter):
        by_cell.setdefault(index, []).append(sentence)
    for index, cell in enumerate(chapter.notebook.cells):
        for sentence in by_cell.get(index, ()):
            first = (sentence.marks + sentence.text)[:1]
            kind = {"#": "heading", "|": "row of a table"}.get(first, "")
            yield sentence.text, file_of(chapter, index, sentence.line), kind
        if cell.cell_type == "code":
            if alt := cell.metadata.get("alt"):
                yield alt, file_of(chapter, index), "alt text of a picture"
            for node in spoken(cell):
                yield node.value, file_of(chapter, index), "an explorer says"


def file_of(chapter: Chapter, index: int, line: int = 0) -> str:
    return chapter.where(index, line).rpartition(":")[0]


def spoken(cell: NotebookNode) -> list[ast.Constant]:
    """Return the captions and questions of a cell's explorers."""
    if not any(f"{word}=" in cell.source for word in SPOKEN):
        return []
    calls = (node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call))
    words = (keyword.value for call in calls for keyword in call.keywords if keyword.arg in SPOKEN)
    return [word for word in words if isinstance(word, ast.Constant)]
