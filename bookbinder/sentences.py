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
from bookbinder.roles import role_of
from bookbinder.text import REFERENCE

MARKS = re.compile(r"^((?:>|\s|#+ |- |\d+\. |<summary>)*)(.*?)((?:</summary>)?)$")
WORDS_IN_FORMULA = re.compile(r"\\text\{([^}]*)\}")
NOT_PROSE = re.compile(
    r"\$\$.*?\$\$|\$[^$]+\$|`[^`]*`|<[^>]*>|\{\{\w+\}\}|\]\([^)]*\)|\\\w+|https?://\S+"
)
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
    words = " ".join(WORDS_IN_FORMULA.findall(text)) + NOT_PROSE.sub(" ", text)
    return bool(WORD.search(words))


def sentences_of(chapter: Chapter) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences of a chapter, each with the index of its cell."""
    section = ""
    for index, cell in enumerate(chapter.notebook.cells):
        if cell.cell_type != "markdown":
            continue
        code = formula = False  # inside a block of it
        for number, line in enumerate(cell.source.split("\n")):
            code ^= line.lstrip().startswith(("```", "~~~"))
            formula ^= line.strip() == "$$"
            if line.startswith(("# ", "## ")) and not code:
                section = role_of(line)
            quoted = section == "references" and REFERENCE.match(line)
            told = not formula or WORDS_IN_FORMULA.search(line)
            marks, text, end = MARKS.match(line).groups()
            if told and is_prose(text) and not (code or quoted):
                yield index, Sentence(number, marks, text, end)


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
