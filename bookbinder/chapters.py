"""Read a chapter, a Markdown notebook; what its lines and cells are."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from bookbinder.book import Book, BookError, guess
from bookbinder.markdown import Line, markdown_lines, roles_of

SVG, HTML = "image/svg+xml", "text/html"  # types of outputs
VALIDATION = "validation"
FOLDED = ("drawing", VALIDATION)  # code that need not be read
NO_SLIDE = "no-slide"  # code that has no place on a wall
TAGS = ("raises-exception", "nbval-ignore-output", "solution", "decide", "prose", NO_SLIDE, *FOLDED)
MARKERS = tuple(7 * mark for mark in "<|=>")  # what git leaves where two people changed a line


@dataclass
class Chapter:
    """A chapter: a notebook without outputs, and where each line was written."""

    name: str
    file: str  # as written in messages: "book/10_masked_softmax.md"
    notebook: NotebookNode
    places: list[list[str]] = field(default_factory=list)  # per cell and line: "file:line"
    minutes: tuple[int, int] = (0, 0)  # to read it, and for its exercises

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
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(MARKERS):
            raise BookError(f"{file}:{number}: a conflict of a merge is not resolved: {line!r}")


def places_of(file: str, text: str, notebook: NotebookNode) -> list[list[str]]:
    places, position = [], 0
    for cell in notebook.cells:
        position = text.index(cell.source, position)
        first, lines = text.count("\n", 0, position) + 1, cell.source.splitlines() or [""]
        places.append([f"{file}:{number}" for number, _ in enumerate(lines, first)])
        position += len(cell.source)
    return places


def number_of(name: str) -> int | None:
    number = name.split("_")[0]
    return int(number) if number.isdigit() else None


def tags_of(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def fold_of(cell: NotebookNode) -> str:
    """Say what need not be read in a code cell: "imports", if it has little else, or its tag."""
    if "solution" in tags_of(cell):
        return ""
    lines = [line for line in cell.source.splitlines() if line]
    imports = sum(line.startswith(("import ", "from ")) for line in lines)
    tag = next((tag for tag in tags_of(cell) if tag in FOLDED), "")
    return "imports" if imports > max(1, len(lines) / 2) else tag


def title_cell(notebook: NotebookNode) -> NotebookNode:
    """Return the first cell of prose: code that stands above the title is not the chapter's."""
    return next((c for c in notebook.cells if c.cell_type == "markdown"), notebook.cells[0])


def title_of(chapter: Chapter) -> str:
    return next(line.title for line in lines_of(chapter) if line.role == "title")


def title_in_contents(book: Book, chapter: Chapter, _: Callable[[str], str] = str) -> str:
    """Return the title of a chapter as contents have it: that of an appendix has a letter."""
    title, lettered = title_of(chapter), [*book.appendices, *book.guests]
    if chapter.name not in lettered:
        return title
    letter = chr(ord("A") + lettered.index(chapter.name))
    return _("Appendix {letter}: {title}").format(letter=letter, title=title.rpartition(". ")[2])


def check_tags(chapter: Chapter) -> None:
    for index, cell in enumerate(chapter.notebook.cells):
        for tag in tags_of(cell):
            if tag not in TAGS:
                raise BookError(f"{chapter.where(index)}: unknown tag {tag!r}{guess(tag, TAGS)}")


def name_cells(notebook: NotebookNode) -> None:
    """Give each cell an id that depends on its source alone, so that a re-run changes none."""
    seen = Counter()
    for cell in notebook.cells:
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[digest] += 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def lines_of(chapter: Chapter, fenced: bool = False) -> list[Line]:
    """Return the lines of prose, those of fenced blocks only where they are asked for."""
    lines = [
        replace(line, where=chapter.where(index, number), cell=index, number=number)
        for index, cell in enumerate(chapter.notebook.cells)
        if cell.cell_type == "markdown"
        for number, line in enumerate(markdown_lines(cell.source))
    ]
    roles, section = roles_of(lines), ""
    for at, line in enumerate(lines):
        role = roles.get(at, "")
        section = role if line.level in (1, 2) else section
        lines[at] = replace(line, role=role, section=section)
    return [line for line in lines if fenced or line.kind != "fence"]


def headings_of(chapter: Chapter) -> list[Line]:
    return [line for line in lines_of(chapter) if line.level]


def shown_words(chapters: list[Chapter]) -> dict[str, str]:
    """Return the titles and labels that have a role, as chapters show them, each with its role."""
    lines = [line for chapter in chapters for line in lines_of(chapter) if line.role]
    titles = {line.title: line.role for line in lines if line.level == 2}
    return titles | {line.label: line.role for line in lines if line.kind == "quote"}
