"""What a worksheet asks its reader for: answers in code, each with its check, and on paper."""

import ast
import copy
import re

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from bookbinder.catalogs import worded
from bookbinder.page import exercise_of, markdown_lines

ANSWER = worded("Your answer:")
YOURS = "your turn"  # in a comment: the cell is the reader's to fill in
CHECKS = "checks"  # in the metadata of a cell that is the check of an exercise: its number


def invitation() -> str:
    """Return the line under which an answer on paper goes."""
    return f"*{ANSWER}*"


def apart(cell: NotebookNode) -> list[NotebookNode]:
    """Return a cell of a worksheet as cells, so that readers change nothing but their answers.

    An answer on paper stands alone; so does an answer in code, and its check comes after it.
    """
    if cell.cell_type == "markdown":
        texts = re.split(rf"^({re.escape(invitation())})$", cell.source, flags=re.MULTILINE)
        return [with_source(cell, text) for text in texts if text.strip()]
    call = call_in(cell) if YOURS in cell.source else None
    if call is None:
        return [cell]
    lines = cell.source.splitlines()
    above, below = lines[: call.lineno - 1], lines[call.lineno - 1 :]
    answer, check = (with_source(cell, "\n".join(part)) for part in (above, below))
    answer.outputs, answer.execution_count = [], None
    check.metadata[CHECKS] = call.args[0].value
    return [answer, check]


def with_source(cell: NotebookNode, source: str) -> NotebookNode:
    part = copy.deepcopy(cell)
    part.source = source.strip("\n")
    return part


def call_in(cell: NotebookNode) -> ast.Call | None:
    """Return the call `check("6.2", answer)` with which a cell ends."""
    body = ast.parse(python_of(cell)).body
    last = body and isinstance(body[-1], ast.Expr) and body[-1].value
    is_check = isinstance(last, ast.Call) and ast.unparse(last.func) == "check"
    return last if is_check else None


def python_of(cell: NotebookNode) -> str:
    """Return the code of a cell with `pass` in place of what is IPython's own."""
    return re.sub(r"^([ \t]*)[%!].*$", r"\1pass", cell.source, flags=re.MULTILINE)


def checked_in(worksheet: NotebookNode) -> dict[str, str]:
    """Return number -> expression of each answer that a worksheet checks: "6.2" -> "attend"."""
    checks = [cell for cell in worksheet.cells if CHECKS in cell.metadata]
    return {cell.metadata[CHECKS]: ast.unparse(call_in(cell).args[1]) for cell in checks}


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
