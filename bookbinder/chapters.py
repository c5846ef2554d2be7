"""Read a chapter, a Markdown notebook, and keep what one edition of the book needs."""

import copy
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from bookbinder.description import FRAMEWORKS, guess
from bookbinder.errors import BookError

TAGS = ("raises-exception", "nbval-ignore-output", "cover", "solution", "drawing")


@dataclass
class Chapter:
    """A chapter of one edition: a notebook without outputs, and the source line of each cell."""

    name: str
    file: str  # as written in messages: "book/04_masked_softmax.md"
    notebook: NotebookNode
    lines: list[int] = field(default_factory=list)

    def where(self, index: int) -> str:
        """Say in which file and line the cell with this index begins."""
        return f"{self.file}:{self.lines[index]}"


def read_chapter(path: Path, file: str, framework: str) -> Chapter:
    """Return the chapter in `path` with the cells of one framework; `file` names it in messages."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(f"{file}: cannot be read: {error}") from None
    if not text.strip():
        raise BookError(f"{file}: is empty")
    notebook = jupytext.reads(text, fmt="md")
    chapter = Chapter(path.stem, file, notebook, cell_lines(text, notebook))
    check_tags(chapter)
    return keep_framework(chapter, framework)


def cell_lines(text: str, notebook: NotebookNode) -> list[int]:
    """Return the line of `text`, from 1, on which the source of each cell begins."""
    lines, position = [], 0
    for cell in notebook.cells:
        position = text.index(cell.source, position)
        lines.append(text.count("\n", 0, position) + 1)
        position += len(cell.source)
    return lines


def tags_of(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def title_cell(notebook: NotebookNode) -> NotebookNode:
    """Return the first cell of prose: code that stands above the title is not the chapter's."""
    return next((c for c in notebook.cells if c.cell_type == "markdown"), notebook.cells[0])


def check_tags(chapter: Chapter) -> None:
    known = TAGS + FRAMEWORKS
    for index, cell in enumerate(chapter.notebook.cells):
        for tag in tags_of(cell):
            if tag not in known:
                raise BookError(f"{chapter.where(index)}: unknown tag {tag!r}{guess(tag, known)}")


def keep_framework(chapter: Chapter, framework: str) -> Chapter:
    """Return the chapter without the cells that are tagged for other frameworks only."""
    kept = [
        (cell, line)
        for cell, line in zip(chapter.notebook.cells, chapter.lines, strict=True)
        if not (wanted := set(tags_of(cell)) & set(FRAMEWORKS)) or framework in wanted
    ]
    notebook = nbformat.v4.new_notebook(cells=[copy.deepcopy(cell) for cell, _ in kept])
    name_cells(notebook)
    return Chapter(chapter.name, chapter.file, notebook, [line for _, line in kept])


def name_cells(notebook: NotebookNode) -> None:
    """Give each cell an id that depends on its source alone, so that a re-run changes none."""
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def heading_before(chapter: Chapter, index: int) -> str:
    """Return the text of the last heading above the cell with this index."""
    for cell in reversed(chapter.notebook.cells[:index]):
        if cell.cell_type == "markdown":
            headings = [line for line in cell.source.splitlines() if line.startswith("#")]
            if headings:
                return headings[-1].lstrip("#").strip()
    return chapter.name
