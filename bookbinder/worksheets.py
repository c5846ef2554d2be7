"""Worksheets: the students' edition, without solutions, and the teachers', with little else.

Both are made from the executed notebooks; nothing is run again.
"""

import ast
import copy
import symtable
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bookbinder.answers import YOURS, apart, checked_in, invitation, python_of
from bookbinder.binding import notebook_path
from bookbinder.catalogs import worded
from bookbinder.chapters import Chapter, name_cells, tags_of, title_cell
from bookbinder.colab import INSTALL
from bookbinder.config import Book, Edition
from bookbinder.diagrams import bring_diagrams
from bookbinder.files import BookError, as_text, write_whole
from bookbinder.language import in_language, language_of
from bookbinder.page import ANSWER, lines_of, markdown_lines
from bookbinder.publish import DECIDE, covered, origin, published, unexecuted
from bookbinder.solutions import read_bound
from bookbinder.steps import english_chapters, without_links_elsewhere

COMMAND = "make worksheets"
FOLDERS = {False: "_build/worksheets", True: "_build/solutions"}
OPEN = "raise NotImplementedError"
RULES = worded(  # what students must know of grading
    "**Before you hand this in**: keep the names of the functions, and each check below its "
    "answer. What your last check of an exercise names is graded, and where that is not right "
    "yet, what has this name at the end of the notebook. Import only packages that this book "
    "uses: there are no others where your answers are graded."
)
TASKS_AND_SOLUTIONS = worded("{title}: tasks and solutions")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def worksheets_folder(
    book: Book, edition: Edition, solutions_only: bool, outputs: bool = True
) -> Path:
    """Return where they go: `_build/worksheets`, of further editions a folder below."""
    folder = book.root / (FOLDERS[solutions_only] + "-no-outputs" * (not outputs))
    return folder if edition == book.editions[0] else folder / edition.notebooks.name


def bind_worksheets(
    book: Book, edition: Edition, solutions_only: bool, outputs: bool = True
) -> None:
    """Write the students' or the teachers' version of every chapter of an edition."""
    folder = worksheets_folder(book, edition, solutions_only, outputs)
    chapters = english_chapters(book, edition)
    decide = language_of(book, edition.language).said(DECIDE)
    made = sheets(book, edition, chapters, teachers if solutions_only else students)
    bring_diagrams(book, edition, chapters, folder)
    for name, sheet in made.items():
        path = folder / f"{name}.ipynb"
        write_whole(path, as_text(covered(sheet if outputs else unexecuted(sheet), decide)))
        print(book.named(path))


def sheets(
    book: Book, edition: Edition, chapters: list[Chapter], version: Callable
) -> dict[str, NotebookNode]:
    """Return what `version`, `students` or `teachers`, makes of each English chapter, by its name.

    They are in the language of the edition.
    """
    language, english = language_of(book, edition.language), book.edition(edition.framework)
    made = {}
    for chapter in chapters:
        sheet = version(chapter, bound(book, notebook_path(english, chapter.name), chapter))
        if sheet is not None:
            title = title_cell(sheet)
            title.source = f"{origin(chapter.file, COMMAND)}\n{title.source}"
            sheet = in_language(sheet, language, chapter.name)
            made[chapter.name] = without_links_elsewhere(sheet)
    return made


def bound(book: Book, path: Path, chapter: Chapter) -> NotebookNode:
    """Return the executed notebook of a chapter with its text as it was written."""
    notebook = read_bound(path)
    expected = published(chapter, chapter.notebook)
    if [cell.source for cell in notebook.cells] != [cell.source for cell in expected.cells]:
        raise BookError(
            f"{book.named(path)} differs from {chapter.file}; run `make notebooks` first"
        )
    for cell, written in zip(notebook.cells, chapter.notebook.cells, strict=True):
        cell.source = written.source
    return notebook


def students(chapter: Chapter, executed: NotebookNode) -> NotebookNode:
    """Return a notebook in which solutions are stubs; no output may show what they give."""
    notebook = copy.deepcopy(executed)
    cells, removed = [], []
    attempts: set[str] = set()  # what a cell above leaves to the reader
    solved: set[str] = set()  # what only a solution defines
    for index, cell in enumerate(notebook.cells):
        where, source, is_solution = chapter.where(index), cell.source, "solution" in tags_of(cell)
        if cell.cell_type == "markdown":
            cell.source = invitation() if is_solution else without_answers(source, where)
        elif cell.cell_type == "code":
            bound, used = names_in(cell, where)
            if is_solution:
                cell = nbformat.v4.new_code_cell("" if bound & attempts else stubs(source))
                solved |= bound - attempts
            elif lost := used & solved:
                raise BookError(f"{where}: only a solution defines {min(lost)!r}: define it here")
            elif YOURS in source:
                attempts |= bound
            solved -= bound if cell.source == source else set()
        removed += taken_out(source, cell.source)
        cells += apart(cell) if cell.source else []
    notebook.cells = cells
    if checked_in(notebook):
        cells.insert(1, nbformat.v4.new_markdown_cell(RULES))
    name_cells(notebook)
    check_nothing_left(notebook, removed, chapter)
    return notebook


def stubs(source: str) -> str:
    """Return the imports of a solution, and its functions and classes without their bodies."""
    body = ast.parse(source).body
    kept = [node for node in body if isinstance(node, DEFINITIONS)]
    if not kept:
        return f"...  # {YOURS}"
    first = body.index(kept[0])
    imports = [node for node in body[:first] if isinstance(node, ast.Import | ast.ImportFrom)]
    texts = [ast.unparse(node) for node in [*imports, *map(emptied, kept)]]
    return "\n\n\n".join(texts).replace(OPEN, f"{OPEN}  # {YOURS}")


def emptied(node: ast.stmt) -> ast.stmt:
    """Return a definition with header and docstring alone, and a class's methods likewise."""
    docstring = node.body[: ast.get_docstring(node) is not None]
    inner = isinstance(node, ast.ClassDef) and [n for n in node.body if isinstance(n, DEFINITIONS)]
    node.body = docstring + (list(map(emptied, inner or [])) or ast.parse(OPEN).body)
    return node


def names_in(
    cell: NotebookNode, where: str, may_be_broken: bool = False
) -> tuple[set[str], set[str]]:
    """Return the names that a code cell binds for later cells, and those that it uses.

    A cell that does not parse raises BookError, or has no names where it `may_be_broken`.
    """
    try:
        table = symtable.symtable(python_of(cell), where, "exec")
    except SyntaxError as error:
        if may_be_broken or "raises-exception" in tags_of(cell):
            return set(), set()
        raise BookError(f"{where}: the cell does not parse: {error.msg}") from None
    symbols = table.get_symbols()
    bound = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    used = {s.get_name() for s in symbols if s.is_referenced()}
    inner = table.get_children()
    while inner:
        scope = inner.pop()
        inner += scope.get_children()
        used |= {s.get_name() for s in scope.get_symbols() if s.is_global()}
    return bound, used


def without_answers(source: str, where: str) -> str:
    """Return prose with a line to write an answer in place of ours; folds with a class stay."""
    if len({source.count(mark) for mark in ("<details", "<summary>", "</details>")}) > 1:
        raise BookError(
            f"{where}: write <details>, <summary>...</summary>, text and </details> in one cell"
        )
    return "\n".join(
        invitation() if line.fold == ANSWER else line.text
        for line in markdown_lines(source)
        if line.fold != ANSWER or line.content.startswith("<details")
    )


def taken_out(before: str, after: str) -> list[str]:
    """Return the lines that were taken out and are long enough to tell something."""
    left = {line.strip() for line in after.splitlines()}
    lines = [line.strip() for line in before.splitlines()]
    return [line for line in lines if len(line) > 15 and line not in left]


def check_nothing_left(notebook: NotebookNode, removed: list[str], chapter: Chapter) -> None:
    """Raise BookError where a line of a solution stands in an output or in metadata."""
    for cell in notebook.cells:
        seen = "\n".join([*strings_in(cell.get("outputs", [])), *strings_in(cell.metadata)])
        for line in removed:
            if line in seen:
                raise BookError(
                    f"{chapter.file}: in the worksheet, an output or metadata of this cell shows "
                    f"a line of a solution, {line!r}:\n{cell.source}"
                )


def strings_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from strings_in(entry)


def teachers(chapter: Chapter, executed: NotebookNode) -> NotebookNode | None:
    """Return tasks and solutions with the cells above that they need; None if there are none."""
    tasks: dict[int, list[str]] = {}  # cell -> its lines among the exercises
    sections: dict[int, str] = {}  # cell -> the section in which it ends
    for line in lines_of(chapter, fenced=True):
        sections[line.cell] = line.section
        if line.section == "exercises":
            tasks.setdefault(line.cell, []).append(line.text)
    if not tasks:
        return None
    notebook = copy.deepcopy(executed)
    kept: list[NotebookNode] = []
    needed: set[str] = set()
    for index, cell in reversed(list(enumerate(notebook.cells))):
        if index in tasks:
            cell.source = "\n".join(tasks[index]).strip("\n")
            kept.append(cell)
        elif cell.cell_type == "code" and YOURS not in cell.source:
            bound, used = names_in(cell, chapter.where(index))
            is_needed = bound & needed and "raises-exception" not in tags_of(cell)
            above = max((at for at in sections if at < index), default=None)
            if sections.get(above) == "exercises" or is_needed or INSTALL in tags_of(cell):
                needed |= used
                cell.metadata.pop("jupyter", None)
                kept.append(cell)
    title = title_cell(executed).source.splitlines()[0].removeprefix("# ")
    title = TASKS_AND_SOLUTIONS.format(title=title)
    notebook.cells = [nbformat.v4.new_markdown_cell(f"# {title}"), *reversed(kept)]
    name_cells(notebook)
    return notebook
