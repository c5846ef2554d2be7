"""Read a chapter, a Markdown notebook."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from bookbinder.book import BookError, guess

VALIDATION = "validation"
FOLDED = ("drawing", VALIDATION)  # code that need not be read
NO_SLIDE = "no-slide"  # code that has no place on a wall
TAGS = ("raises-exception", "nbval-ignore-output", "solution", "decide", "prose", NO_SLIDE, *FOLDED)
MARKERS = tuple(7 * mark for mark in "<|=>")  # what git leaves where two people changed a line


@dataclass
class Chapter:
    """A chapter: a notebook without outputs, and where each line was written."""

    name: str
    file: str  # as written in messages: "book/04_masked_softmax.md"
    notebook: NotebookNode
    places: list[list[str]] = field(default_factory=list)  # per cell and line: "file:line"

    def where(self, index: int, line: int = 0) -> str:
        """Say in which file and line a line of the cell with this index stands."""
        places = self.places[index]
        return places[min(line, len(places) - 1)]


def read_chapter(path: Path, file: str) -> Chapter:
    """Return the chapter in `path`; `file` names it in messages."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(f"{file}: cannot be read: {error}") from None
    if not text.strip():
        raise BookError(f"{file}: is empty")
    refuse_conflicts(text, file)
    notebook = nbformat.v4.new_notebook(cells=jupytext.reads(text, fmt="md").cells)
    chapter = Chapter(path.stem, file, notebook, places_of(file, text, notebook))
    check_tags(chapter)
    name_cells(chapter.notebook)
    return chapter


def refuse_conflicts(text: str, file: str) -> None:
    """Raise BookError at the first marker of a merge that nobody has resolved."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(MARKERS):
            raise BookError(f"{file}:{number}: a conflict of a merge is not resolved: {line!r}")


def places_of(file: str, text: str, notebook: NotebookNode) -> list[list[str]]:
    """Return "file:line" for each line of each cell, from 1; `text` is that of the file."""
    places, position = [], 0
    for cell in notebook.cells:
        position = text.index(cell.source, position)
        first, lines = text.count("\n", 0, position) + 1, cell.source.splitlines() or [""]
        places.append([f"{file}:{number}" for number, _ in enumerate(lines, first)])
        position += len(cell.source)
    return places


def number_of(name: str) -> int | None:
    """Return the number of a chapter; none of a page to look things up."""
    number = name.split("_")[0]
    return int(number) if number.isdigit() else None


def tags_of(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def fold_of(cell: NotebookNode) -> str:
    """Say what a code cell holds that need not be read: "imports", or its tag; else nothing."""
    if "solution" in tags_of(cell):
        return ""
    return "imports" if sets_up(cell) else next((t for t in tags_of(cell) if t in FOLDED), "")


def sets_up(cell: NotebookNode) -> bool:
    """Say whether a cell is little but imports."""
    lines = [line for line in cell.source.splitlines() if line]
    imports = sum(line.startswith(("import ", "from ")) for line in lines)
    return imports > max(1, len(lines) / 2)


def title_cell(notebook: NotebookNode) -> NotebookNode:
    """Return the first cell of prose: code that stands above the title is not the chapter's."""
    return next((c for c in notebook.cells if c.cell_type == "markdown"), notebook.cells[0])


def title_of(chapter: Chapter) -> str:
    """Return the title of a chapter, with its number."""
    return title_cell(chapter.notebook).source.splitlines()[0].lstrip("# ").strip()


def check_tags(chapter: Chapter) -> None:
    for index, cell in enumerate(chapter.notebook.cells):
        for tag in tags_of(cell):
            if tag not in TAGS:
                raise BookError(f"{chapter.where(index)}: unknown tag {tag!r}{guess(tag, TAGS)}")


def name_cells(notebook: NotebookNode) -> None:
    """Give each cell an id that depends on its source alone, so that a re-run changes none."""
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
