"""Worksheets, the students' edition, without solutions, made of notebooks as they are stored."""

import ast
import base64
import contextlib
import copy
import re
import symtable
from collections.abc import Collection, Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from bookbinder.book import Book, BookError, Edition, as_text, write_whole
from bookbinder.chapters import VALIDATION, Chapter, name_cells, tags_of
from bookbinder.compose import english_chapters, prose_changed
from bookbinder.language.catalog import YOURS, worded
from bookbinder.language.say import Language, in_language, language_of
from bookbinder.markdown import ANSWER, Line, exercise_of, markdown_lines
from bookbinder.notebook import as_stored
from bookbinder.pictures import diagram_text
from bookbinder.publish import DECIDE, covered, unexecuted
from d2l_attention.practice.exercises import find

COMMAND = "make worksheets"
YOUR_ANSWER = worded("Your answer:")
RULES = worded(  # what students must know of grading
    "**Before you hand this in**: keep the names of the functions, and each check below its "
    "answer. What your last check of an exercise names is graded, and where that is not right "
    "yet, what has this name at the end of the notebook. Import only packages that this book "
    "uses: there are no others where your answers are graded."
)
READ = worded(
    "Your teacher reads what you write below *Your answer:*, too: proofs, sentences, and the "
    "reason for a single value."
)
REASON = worded("Say why: the reason counts, too.")
PICTURE = re.compile(r"(?<=\]\()figures/[^)\s]+\.svg(?=\))")
MAGIC = re.compile(r"^[ \t]*(%time\b|%%(time|capture|prun).*|[%!](?!%).*)", re.MULTILINE)
ON_PAPER = re.compile(r"^\| (\d+\.\d+) \|[^|]*\|[^|]*\bpaper\b", re.MULTILINE)  # a row of a table


def bind_worksheets(book: Book, edition: Edition, outputs: bool = True) -> None:
    """Write the worksheets of an edition, those of further editions to a folder below."""
    folder = book.root / ("_build/worksheets" + "-no-outputs" * (not outputs))
    folder = folder if edition == book.editions[0] else folder / edition.notebooks.name
    chapters = english_chapters(book, edition)
    decide = language_of(book, edition.language).said(DECIDE)
    made = sheets(book, edition, chapters)
    for name, sheet in made.items():
        path = folder / f"{name}.ipynb"
        write_whole(path, as_text(covered(sheet if outputs else unexecuted(sheet), decide)))
        print(book.named(path))


def sheets(book: Book, edition: Edition, chapters: list[Chapter]) -> dict[str, NotebookNode]:
    """Return the worksheet of each English chapter, by its name, in the edition's language."""
    language, made = language_of(book, edition.language), {}
    table = book.root / "EXERCISES.md"  # which says of each exercise how it is answered
    on_paper = ON_PAPER.findall(table.read_text(encoding="utf-8")) if table.exists() else []
    for chapter in chapters:
        sheet = students(chapter, as_stored(book, edition, chapter, COMMAND), on_paper)
        sheet = in_language(sheet, language, chapter.name)
        made[chapter.name] = with_pictures(sheet, book.source, language)
    return made


def with_pictures(sheet: NotebookNode, source: Path, language: Language) -> NotebookNode:
    """Return a notebook that has its diagrams in it, so that it is whole without a folder."""

    def embedded(name: re.Match) -> str:
        drawing = diagram_text(source, name[0], language).encode()
        return f"data:image/svg+xml;base64,{base64.b64encode(drawing).decode()}"

    return prose_changed(sheet, lambda text: PICTURE.sub(embedded, text))


def students(
    chapter: Chapter, executed: NotebookNode, on_paper: Collection[str] = ()
) -> NotebookNode:
    """Return a notebook with a cell in place of a solution, where none above asks for its names.

    An exercise has a line for words, unless its check sees a function and it asks for nothing else.
    """
    notebook = copy.deepcopy(executed)
    cells: list[NotebookNode] = []
    attempts: set[str] = set()  # what a cell above leaves to the reader
    checks = checks_in(notebook)
    values = {number for number in checks if find(number).inputs is None}
    worded_too = {*values, *on_paper}
    for index, (number, cell) in enumerate(numbered(notebook.cells)):
        is_solution = "solution" in tags_of(cell)
        if cell.cell_type == "markdown":
            answerless = without_answers(cell.source, chapter.where(index))
            cell.source = invitation() if is_solution else answerless
        elif is_solution:
            is_left_out = names_in(parsed(cell) or [])[0] & attempts or VALIDATION in tags_of(cell)
            cell = nbformat.v4.new_code_cell("" if is_left_out else f"...  # {YOURS}")
            worded_too |= {number} if cell.source else set()
        elif YOURS in cell.source:
            attempts |= names_in(parsed(cell) or [])[0]
        cells += apart(cell) if cell.source else []
    notebook.cells = []
    for number, cell in numbered(cells):
        is_words = cell.source == invitation()
        notebook.cells += [new_markdown_cell(REASON)] * (is_words and number in values)
        notebook.cells += [cell] * (not is_words or number in worded_too or number not in checks)
    if checks:
        notebook.cells.insert(1, new_markdown_cell(f"{RULES}\n{READ}"))
    name_cells(notebook)
    return notebook


def numbered(cells: list[NotebookNode]) -> Iterator[tuple[str, NotebookNode]]:
    """Yield each cell with the number of the last exercise that begins in it or above it."""
    number = ""
    for cell in cells:
        lines = markdown_lines(cell.source) if cell.cell_type == "markdown" else ()
        number = next(filter(None, map(exercise_of, reversed(lines))), number)
        yield number, cell


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
    lines = cell.source.splitlines()
    begin = max(at for at, line in enumerate(lines) if line.startswith("check("))
    answer, check = (with_source(cell, "\n".join(x)) for x in (lines[:begin], lines[begin:]))
    answer.outputs, answer.execution_count = [], None
    return [answer, check]


def with_source(cell: NotebookNode, source: str) -> NotebookNode:
    part = copy.deepcopy(cell)
    part.source = source.strip("\n")
    return part


def parsed(cell: NotebookNode) -> list[ast.stmt] | None:
    """Return the statements of a code cell, below magics, too; None where it is no Python."""
    for source in (cell.source, MAGIC.sub("", cell.source)):
        with contextlib.suppress(Exception):
            body = ast.parse(source).body
            names_in(body)  # some are refused only here: `global x` below x
            return body
    return None


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


def by_exercise(
    notebook: NotebookNode, asked: Collection[str] | None = None
) -> dict[str, list[NotebookNode]]:
    """Return number -> what stands below its heading, as Markdown: nothing runs, solutions open.

    In a notebook of ours, the next heading ends it. In a student's, only the headings of what is
    `asked` begin an exercise, each once, with their stars where they still have them.
    """
    found: dict[str, list[NotebookNode]] = {}
    number, pages = "", [lines_to_show(cell) for cell in notebook.cells]
    starred = {exercise_of(line) for page in pages for line in page if "★" in line.content}
    for cell, page in zip(notebook.cells, pages, strict=True):
        parts: dict[str, list[str]] = {}
        for line in page:
            begun = exercise_of(line)
            if asked is None:
                number = begun or ("" if 0 < line.level < 4 else number)
            elif begun in {*asked} - {*found, *parts} and (
                "★" in line.content or begun not in starred
            ):
                number = begun
            parts.setdefault(number, []).append(line.text)
        for part, lines in parts.items():
            text = "\n".join(lines).strip()
            made = new_markdown_cell(text, attachments=cell.get("attachments", {}))
            found.setdefault(part, []).append(made)
    return found


def lines_to_show(cell: NotebookNode) -> Collection[Line]:
    """Return the lines of a cell, code in a fence, whatever stands in it."""
    text = "\n".join(cell.source.replace("<details>", "<details open>").splitlines()).strip()
    if cell.cell_type == "code":
        return [Line(f"````python\n{text}\n````")] if text else []
    try:
        return markdown_lines(text)
    except Exception:  # of a parser, or too deep a nesting
        return [Line(text)]
