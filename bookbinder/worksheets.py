"""Worksheets, the students' edition, without solutions, made of notebooks as they are stored."""

import ast
import contextlib
import copy
import re
import symtable

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from bookbinder.binding import as_stored
from bookbinder.catalogs import YOURS, worded
from bookbinder.chapters import Chapter, name_cells, tags_of
from bookbinder.config import Book, Edition
from bookbinder.diagrams import bring_diagrams
from bookbinder.files import BookError, as_text, write_whole
from bookbinder.language import in_language, language_of
from bookbinder.page import ANSWER, exercise_of, markdown_lines
from bookbinder.publish import DECIDE, covered, unexecuted
from bookbinder.steps import english_chapters

COMMAND = "make worksheets"
YOUR_ANSWER = worded("Your answer:")
OPEN = "raise NotImplementedError"
RULES = worded(  # what students must know of grading
    "**Before you hand this in**: keep the names of the functions, and each check below its "
    "answer. What your last check of an exercise names is graded, and where that is not right "
    "yet, what has this name at the end of the notebook. Import only packages that this book "
    "uses: there are no others where your answers are graded."
)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def bind_worksheets(book: Book, edition: Edition, outputs: bool = True) -> None:
    """Write the worksheets of an edition, those of further editions to a folder below."""
    folder = book.root / ("_build/worksheets" + "-no-outputs" * (not outputs))
    folder = folder if edition == book.editions[0] else folder / edition.notebooks.name
    chapters = english_chapters(book, edition)
    decide = language_of(book, edition.language).said(DECIDE)
    made = sheets(book, edition, chapters)
    bring_diagrams(book, edition, chapters, folder)
    for name, sheet in made.items():
        path = folder / f"{name}.ipynb"
        write_whole(path, as_text(covered(sheet if outputs else unexecuted(sheet), decide)))
        print(book.named(path))


def sheets(book: Book, edition: Edition, chapters: list[Chapter]) -> dict[str, NotebookNode]:
    """Return the worksheet of each English chapter, by its name, in the edition's language."""
    language, made = language_of(book, edition.language), {}
    for chapter in chapters:
        sheet = students(chapter, as_stored(book, edition, chapter, COMMAND))
        made[chapter.name] = in_language(sheet, language, chapter.name)
    return made


def students(chapter: Chapter, executed: NotebookNode) -> NotebookNode:
    """Return a notebook in which solutions are stubs, where no cell above asks for their names."""
    notebook = copy.deepcopy(executed)
    cells: list[NotebookNode] = []
    attempts: set[str] = set()  # what a cell above leaves to the reader
    for index, cell in enumerate(notebook.cells):
        is_solution = "solution" in tags_of(cell)
        if cell.cell_type == "markdown":
            answerless = without_answers(cell.source, chapter.where(index))
            cell.source = invitation() if is_solution else answerless
        elif is_solution:
            is_attempted = names_in(parsed(cell) or [])[0] & attempts
            cell = nbformat.v4.new_code_cell("" if is_attempted else stubs(cell.source))
        elif YOURS in cell.source:
            attempts |= names_in(parsed(cell) or [])[0]
        cells += apart(cell) if cell.source else []
    notebook.cells = cells
    if checks_in(notebook):
        cells.insert(1, nbformat.v4.new_markdown_cell(RULES))
    name_cells(notebook)
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


def names_in(body: list[ast.stmt]) -> tuple[set[str], set[str]]:
    """Return the names that statements bind for later cells, and those that they use."""
    table = symtable.symtable("\n".join(map(ast.unparse, body)), "", "exec")
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


def invitation() -> str:
    """Return the line under which an answer on paper goes."""
    return f"*{YOUR_ANSWER}*"


def apart(cell: NotebookNode) -> list[NotebookNode]:
    """Return a cell of a worksheet as cells, so that readers change nothing but their answers.

    An answer on paper stands alone; so does an answer in code, and its check comes after it.
    """
    if cell.cell_type == "markdown":
        texts = re.split(rf"^({re.escape(invitation())})$", cell.source, flags=re.MULTILINE)
        return [with_source(cell, text) for text in texts if text.strip()]
    body = parsed(cell) if YOURS in cell.source else None
    if not body or not isinstance(body[-1], ast.Expr) or not check_in(body[-1]):
        return [cell]
    lines, begin = cell.source.splitlines(), body[-1].lineno - 1
    answer, check = (with_source(cell, "\n".join(x)) for x in (lines[:begin], lines[begin:]))
    answer.outputs, answer.execution_count = [], None
    return [answer, check]


def with_source(cell: NotebookNode, source: str) -> NotebookNode:
    part = copy.deepcopy(cell)
    part.source = source.strip("\n")
    return part


def parsed(cell: NotebookNode) -> list[ast.stmt] | None:
    """Return the statements of a code cell; None of a file, and where it does not parse."""
    if cell.source.startswith("%%writefile"):
        return None
    for read in (str, without_magics):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(read(cell.source)).body
    return None


def without_magics(source: str) -> str:
    """Return Python in which IPython's own, `softmax?`, is calls, and `%%time` is left out."""
    from IPython.core.inputtransformer2 import TransformerManager

    first, end, rest = source.partition("\n")
    source = f"pass{end}{rest}" if first.startswith("%%") else source
    return TransformerManager().transform_cell(source)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def check_in(node: ast.stmt) -> tuple[str, str] | None:
    """Return number and answer of a check: `check("6.2", attend)`, also in an assert."""
    simple = isinstance(node, ast.Expr | ast.Assign | ast.Assert)
    for call in ast.walk(node) if simple else ():
        match call:
            case ast.Call(ast.Name("check"), [ast.Constant(number), answer, *_]) | ast.Call(
                ast.Name("check"), [ast.Constant(number)], [ast.keyword("answer", answer), *_]
            ):
                return str(number), ast.unparse(answer)
    return None


def checks_in(notebook: NotebookNode) -> dict[str, tuple[str, int]]:
    """Return number -> answer, an expression, of its last check, and which code cell that is."""
    return {
        check[0]: (check[1], at)
        for at, cell in enumerate(code_cells(notebook))
        for check in map(check_in, parsed(cell) or [])
        if check
    }


def by_exercise(notebook: NotebookNode) -> dict[str, list[NotebookNode]]:
    """Return number -> what stands below its heading, as Markdown: nothing runs, solutions open."""
    found: dict[str, list[NotebookNode]] = {}
    number = ""
    for cell in notebook.cells:
        text = cell.source.replace("\r\n", "\n").replace("<details>", "<details open>").strip()
        parts: dict[str, list[str]] = {}
        is_code = cell.cell_type == "code" and text
        for line in markdown_lines(f"```python\n{text}\n```" if is_code else text):
            number = exercise_of(line) or number
            parts.setdefault(number, []).append(line.text)
        for number, lines in parts.items():
            part = "\n".join(lines).strip()
            made = new_markdown_cell(part, attachments=cell.get("attachments", {}))
            found.setdefault(number, []).append(made)
    return found
