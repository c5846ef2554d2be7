"""Worksheets, the students' edition: notebooks with places for answers in place of solutions."""

import base64
import copy
import re
from collections.abc import Callable, Collection, Iterator
from itertools import groupby

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from bookbinder.book import Book, BookError, Edition, as_text, read_notebook, write_whole
from bookbinder.chapters import VALIDATION, name_cells, tags_of
from bookbinder.code import checks_in, read_code
from bookbinder.language.catalog import YOURS, language_of, worded
from bookbinder.markdown import ANSWER, exercise_of, markdown_lines
from bookbinder.notebook import DECIDE, KEYS, MADE_WITH, covered, without_outputs
from d2l_attention.practice.exercises import find

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
PLACE = f"*{YOUR_ANSWER}*"  # in English
REASON = worded("Say why: the reason counts, too.")
ON_PAPER = re.compile(r"^\| (\d+\.\d+) \|[^|]*\|[^|]*\bpaper\b", re.MULTILINE)  # a row of a table


def bind_worksheets(book: Book, edition: Edition, outputs: bool = True) -> None:
    """Write the worksheets of an edition, those of further editions to a folder below."""
    folder = book.root / ("_build/worksheets" + "-no-outputs" * (not outputs))
    folder = folder if edition == book.editions[0] else folder / edition.notebooks.name
    decide = language_of(book, edition.language)(DECIDE)
    for name in book.chapters:
        sheet, path = worksheet_of(book, edition, name), folder / f"{name}.ipynb"
        write_whole(path, as_text(covered(sheet if outputs else without_outputs(sheet), decide)))
        print(book.named(path))


def worksheet_of(book: Book, edition: Edition, name: str) -> NotebookNode:
    """Return the worksheet of a chapter, made of the edition's notebook of it."""
    table = book.root / "EXERCISES.md"  # which says of each exercise how it is answered
    on_paper = ON_PAPER.findall(table.read_text(encoding="utf-8")) if table.exists() else []
    _ = language_of(book, edition.language)
    return worksheet(whole_notebook(edition, name), name, on_paper, _)


def whole_notebook(edition: Edition, name: str) -> NotebookNode:
    """Return a notebook with its pictures in it, so that it needs no folder."""
    path = edition.notebook(name)
    notebook = read_notebook(path)
    for cell in notebook.cells:
        lines = markdown_lines(cell.source) if cell.cell_type == "markdown" else ()
        for link in (link for line in lines for link in line.links):
            file = path.parent / link.target
            if file.suffix == ".svg" and file.is_file():
                data = f"data:image/svg+xml;base64,{base64.b64encode(file.read_bytes()).decode()}"
                cell.source = cell.source.replace(f"]({link.target})", f"]({data})")
    return notebook


def worksheet(
    notebook: NotebookNode, name: str, on_paper: Collection[str] = (), _: Callable = str
) -> NotebookNode:
    """Return a notebook of a chapter with a place for an answer in place of each solution.

    A solution in code has none where a cell above asks for its names. An exercise has a line for
    words, unless its check sees a function and it asks for nothing else.
    """
    sheet, place = copy.deepcopy(notebook), f"*{_(YOUR_ANSWER)}*"
    sheet.metadata.pop(MADE_WITH, None)
    sheet.cells = [part for cell in sheet.cells for part in with_solutions(cell)]
    checks = checks_in(sheet)
    values = {number for number in checks if find(number).inputs is None}
    asked_in_words, asked, cells = {*values, *on_paper}, set(), []
    for number, cell in numbered(sheet.cells):
        if cell.cell_type == "markdown":
            cells += without_answers(cell, place, name)
        elif "solution" in tags_of(cell):
            if VALIDATION not in tags_of(cell) and not asked & read_code(cell.source).bound:
                cells.append(new_code_cell(f"...  # {YOURS}"))
                asked_in_words.add(number)
        elif YOURS in cell.source:
            asked |= read_code(cell.source).bound
            cells += answer_and_check(cell)
        else:
            cells.append(cell)
    sheet.cells = []
    for number, cell in numbered(cells):
        if cell.source != place or number not in checks or number in asked_in_words:
            is_reason = cell.source == place and number in values
            sheet.cells += [new_markdown_cell(_(REASON))] * is_reason + [cell]
    if checks:
        sheet.cells.insert(1, new_markdown_cell(f"{_(RULES)}\n{_(READ)}"))
    name_cells(sheet)
    return sheet


def with_solutions(cell: NotebookNode) -> list[NotebookNode]:
    """Return a cell with those whose text is folded in it."""
    above, below, alone = (cell.metadata.pop(key, []) for key in KEYS)
    return alone or [*above, cell, *below]


def numbered(cells: list[NotebookNode]) -> Iterator[tuple[str, NotebookNode]]:
    """Yield each cell with the number of the last exercise that begins in it or above it."""
    number = ""
    for cell in cells:
        lines = markdown_lines(cell.source) if cell.cell_type == "markdown" else ()
        headings = [exercise_of(line) for line in lines if "★" in line.content]
        number = next(filter(None, reversed(headings)), number)
        yield number, cell


def without_answers(cell: NotebookNode, place: str, where: str) -> Iterator[NotebookNode]:
    """Yield prose as cells, with the line `place` for each answer; folds with a class stay."""
    if len({cell.source.count(mark) for mark in ("<details", "<summary>", "</details>")}) > 1:
        raise BookError(
            f"{where}: write <details>, <summary>...</summary>, text and </details> in one cell"
        )
    for is_answer, lines in groupby(markdown_lines(cell.source), lambda x: x.fold == ANSWER):
        text = place if is_answer else "\n".join(line.text for line in lines).strip("\n")
        if text:
            yield NotebookNode(cell | {"source": text})


def answer_and_check(cell: NotebookNode) -> list[NotebookNode]:
    """Return a cell for an answer in two, so that readers change nothing but their answer."""
    code, mark, check = cell.source.rpartition("\ncheck(")
    if not mark:
        return [cell]
    answer = new_code_cell(code.rstrip("\n"), metadata=cell.metadata)
    return [answer, NotebookNode(cell | {"source": f"{mark.lstrip()}{check}"})]
