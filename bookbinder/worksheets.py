"""Worksheets: the students' edition, without solutions, and the teachers', with little else.

Both are made from the executed notebooks. Nothing is run again: a cell whose output could show a
solution loses it.
"""

import ast
import contextlib
import copy
import re
import symtable
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bookbinder.binding import notebook_path, read_edition_chapters
from bookbinder.chapters import Chapter, name_cells, tags_of, title_cell
from bookbinder.colab import INSTALL
from bookbinder.config import Book, Edition
from bookbinder.diagrams import bring_diagrams
from bookbinder.errors import BookError
from bookbinder.files import as_text, read_notebook, write_whole
from bookbinder.publish import origin, published

COMMAND = "make worksheets"
FOLDERS = {False: "_build/worksheets", True: "_build/solutions"}
DETAILS = re.compile(r"<details[^>]*>\s*<summary>(.*?)</summary>.*?</details>", re.DOTALL)
EXERCISES = "## Exercises"
INVITATION = "*Your answer:*"
YOURS = "your turn"  # in a comment: the cell is the reader's to fill in
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def worksheets_folder(book: Book, edition: Edition, solutions_only: bool) -> Path:
    """Return where they go: `_build/worksheets`, of further editions a folder below."""
    folder = book.root / FOLDERS[solutions_only]
    return folder if edition == book.editions[0] else folder / edition.notebooks.name


def bind_worksheets(book: Book, edition: Edition, solutions_only: bool) -> None:
    """Write the students' or the teachers' version of every chapter of an edition."""
    folder = worksheets_folder(book, edition, solutions_only)
    texts: dict[Path, str] = {}
    chapters = read_edition_chapters(book, edition)
    for chapter in chapters:
        whole = bound(book, notebook_path(edition, chapter.name), chapter)
        made = (teachers if solutions_only else students)(chapter, whole)
        if made is not None:
            title = title_cell(made)
            title.source = f"{origin(chapter.file, COMMAND)}\n{title.source}"
            texts[folder / f"{chapter.name}.ipynb"] = as_text(made)
    bring_diagrams(book.source, chapters, folder)
    for path, text in texts.items():
        write_whole(path, text)
        print(book.named(path))


def bound(book: Book, path: Path, chapter: Chapter) -> NotebookNode:
    """Return the executed notebook of a chapter with its text as it was written."""
    notebook = read_notebook(path)
    expected = published(chapter, chapter.notebook)
    if [cell.source for cell in notebook.cells] != [cell.source for cell in expected.cells]:
        raise BookError(
            f"{book.named(path)} differs from {chapter.file}; run `make notebooks` first"
        )
    for cell, written in zip(notebook.cells, chapter.notebook.cells, strict=True):
        cell.source = written.source
    return notebook


def students(chapter: Chapter, executed: NotebookNode) -> NotebookNode:
    """Return a notebook in which solutions are stubs, and no output shows what they give."""
    notebook = copy.deepcopy(executed)
    cells, removed = [], []
    attempts: set[str] = set()  # what a cell above leaves to the reader
    solved: set[str] = set()  # what has other values without the solutions
    for index, cell in enumerate(notebook.cells):
        where, source, is_solution = chapter.where(index), cell.source, "solution" in tags_of(cell)
        if cell.cell_type == "markdown":
            cell.source = INVITATION if is_solution else without_answers(source, where)
            removed += taken_out(source, cell.source)
        elif cell.cell_type == "code":
            bound, used = names_in(cell, where)
            if is_solution:
                cell = unsolved(cell, "" if bound & attempts else stubs(source, where))
                removed += taken_out(source, cell.source)
                solved |= bound
            elif used & solved:
                cell = unsolved(cell, source)
                solved |= bound
            elif YOURS in source:
                attempts |= bound
            else:
                solved -= bound
        if cell.source:
            cells.append(cell)
    notebook.cells = cells
    name_cells(notebook)
    check_nothing_left(notebook, removed, chapter)
    return notebook


def unsolved(cell: NotebookNode, source: str) -> NotebookNode:
    """Return a code cell with nothing of the old one but its place."""
    new = nbformat.v4.new_code_cell(source)
    if kept := [tag for tag in tags_of(cell) if tag != "solution"]:
        new.metadata["tags"] = kept
    return new


def stubs(source: str, where: str) -> str:
    """Return the imports of a solution, and its functions and classes without their bodies."""
    lines, kept = source.splitlines(), []
    for node in ast.parse(source).body:
        if isinstance(node, DEFINITIONS):
            kept += ["\n".join(stub_lines(node, lines))]
        elif isinstance(node, ast.Import | ast.ImportFrom) and not kept:
            kept += [ast.unparse(node)]
    if not any(isinstance(node, DEFINITIONS) for node in ast.parse(source).body):
        kept = [f"...  # {YOURS}"]
    return "\n\n\n".join(kept)


def stub_lines(node: ast.stmt, lines: list[str]) -> list[str]:
    """Return header and docstring of a definition, and the methods of a class likewise."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    body = node.body
    if ast.get_docstring(node) is not None:
        kept = lines[first : body[0].end_lineno]
    elif body[0].lineno == node.lineno:
        kept = [*lines[first : node.lineno - 1], lines[node.lineno - 1][: body[0].col_offset]]
    else:
        kept = lines[first : header_end(node, lines)]
    methods = [n for n in body if isinstance(n, DEFINITIONS)]
    if isinstance(node, ast.ClassDef) and methods:
        return [*kept, *(line for method in methods for line in ["", *stub_lines(method, lines)])]
    return [*kept, f"{' ' * (node.col_offset + 4)}raise NotImplementedError  # {YOURS}"]


def header_end(node: ast.stmt, lines: list[str]) -> int:
    """Return the line on which `def f(...) -> x:` ends; comments may stand below it."""
    for number in range(node.lineno, body_start := node.body[0].lineno):
        header = "\n".join(lines[node.lineno - 1 : number]).lstrip()
        with contextlib.suppress(SyntaxError):
            ast.parse(f"{header}\n{' ' * 80}pass")
            return number
    return body_start - 1


def names_in(cell: NotebookNode, where: str) -> tuple[set[str], set[str]]:
    """Return the names that a code cell binds for later cells, and those that it uses."""
    source = re.sub(r"^\s*[%!].*$", "pass", cell.source, flags=re.MULTILINE)
    try:
        table = symtable.symtable(source, where, "exec")
    except SyntaxError as error:
        if "raises-exception" in tags_of(cell):
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
    """Return prose in which folded solutions are an invitation; folded hints stay."""
    if source.count("<details") != len(DETAILS.findall(source)):
        raise BookError(
            f"{where}: write <details>, <summary>...</summary>, text and </details> in one cell"
        )

    def replace(match: re.Match) -> str:
        summary = match[1].strip().lower()
        if summary.startswith("hint"):
            return match[0]
        if summary.startswith(("solution", "answer")):
            return INVITATION
        raise BookError(
            f"{where}: a summary begins with Solution, Answer or Hint, got {match[1].strip()!r}"
        )

    return DETAILS.sub(replace, source)


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
    cells, inside, section = [], [], ""
    for cell in split_at_sections(copy.deepcopy(executed).cells):
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            section = cell.source.splitlines()[0].strip()
        if cell.cell_type == "markdown" or YOURS not in cell.source:
            cells.append(cell)
            inside.append(section == EXERCISES)
    if not any(inside):
        return None
    needed, kept = set(), []
    for cell, is_inside in reversed(list(zip(cells, inside, strict=True))):
        if cell.cell_type == "code":
            bound, used = names_in(cell, chapter.file)
            if (
                is_inside
                or INSTALL in tags_of(cell)
                or (bound & needed and "raises-exception" not in tags_of(cell))
            ):
                needed |= used
                cell.metadata.pop("jupyter", None)
                kept.insert(0, cell)
        elif is_inside:
            kept.insert(0, cell)
    title = f"{title_cell(executed).source.splitlines()[0]}: tasks and solutions"
    notebook = copy.deepcopy(executed)
    notebook.cells = [nbformat.v4.new_markdown_cell(title), *kept]
    name_cells(notebook)
    return notebook


def split_at_sections(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return the cells, with a cell of its own for each `## ` section of prose."""
    split = []
    for cell in cells:
        parts = [cell.source]
        if cell.cell_type == "markdown":
            parts = re.split(r"^(?=## )", cell.source, flags=re.MULTILINE)
        for part in parts:
            if part.strip():
                piece = copy.deepcopy(cell)
                piece.source = part.rstrip("\n")
                split.append(piece)
    return split
