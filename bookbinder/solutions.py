"""Fold solutions in code into the prose of a notebook, and unfold them.

Only JupyterLab hides the code of a cell; a fold in Markdown is closed in every viewer. So readers
get a solution as text, in the fold with its words. Its cells travel in the metadata of that prose:
unfolded, they run and are compared like all others.
"""

import copy
import re
from itertools import groupby
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bookbinder.book import read_notebook
from bookbinder.chapters import tags_of
from bookbinder.language.catalog import worded

SOLUTION = worded("Solution")  # on a fold that has no words of its own
KEYS = ABOVE, BELOW, ALONE = "solution_above", "solution_below", "solution"  # in the metadata
FIRST_FOLD = re.compile(r"\A<details>\n<summary>.*</summary>\n\n")  # that of a hint has a class
LAST_FOLD = re.compile(r"(?:\A|\n)<details>\n(?:(?!</?details).)*</details>\Z", re.DOTALL)
END = "</details>"
NEW_FOLD = "<details>\n<summary>{summary}</summary>\n\n{text}</details>"
IN = re.compile(r"(?<=\bIn)( ?\[)(\d+)(?=\])")  # in a traceback


def read_bound(path: Path) -> NotebookNode:
    """Return a notebook of the book as it was executed, its solutions as cells."""
    return unfolded(read_notebook(path))


def folded(notebook: NotebookNode, summary: str = SOLUTION) -> NotebookNode:
    """Return the notebook that readers get: solutions as text, their cells as metadata.

    `summary` is what stands on a fold that is made for them, in the language of the notebook.
    """
    made = with_folds(notebook, summary)
    made.cells = [cell for cell in made.cells if not is_solution(cell)]
    return counted(made)


def unfolded(notebook: NotebookNode) -> NotebookNode:
    """Return what `folded` was given."""
    made = copy.deepcopy(notebook)
    cells, made.cells = made.cells, []
    for cell in cells:
        above, below, alone = (cell.metadata.pop(key, []) for key in KEYS)
        cell.source = cell.source.replace(text_of(above), "", 1)
        cell.source = cell.source.replace(f"\n{text_of(below)}", "", 1) if below else cell.source
        made.cells += alone or [*above, cell, *below]
    return counted(made)


def with_folds(notebook: NotebookNode, summary: str = SOLUTION) -> NotebookNode:
    """Return the notebook with solutions as text, too: below their cells, or above, or alone."""
    made = copy.deepcopy(notebook)
    groups = [[*group] for _, group in groupby(made.cells, is_solution)]
    made.cells = []
    for above, cells, below in zip([[], *groups], groups, [*groups[1:], []], strict=False):
        made.cells += cells
        if not is_solution(cells[0]):
            continue
        text = text_of(cells)
        if below and (fold := FIRST_FOLD.match(below[0].source)):
            below[0].source = f"{fold[0]}{text}{below[0].source[fold.end() :]}"
            below[0].metadata[ABOVE] = cells
        elif above and LAST_FOLD.search(above[-1].source):
            above[-1].source = f"{above[-1].source.removesuffix(END)}\n{text}{END}"
            above[-1].metadata[BELOW] = cells
        else:
            source = NEW_FOLD.format(summary=summary, text=text)
            fold = nbformat.v4.new_markdown_cell(source, metadata={ALONE: cells})
            fold.id = f"{cells[0].id}-fold"
            made.cells.append(fold)
    return made


def is_solution(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and "solution" in tags_of(cell)


def text_of(cells: list[NotebookNode]) -> str:
    """Return cells as Markdown: the code of each, and what it prints; they have no pictures."""
    blocks = []
    for cell in cells:
        blocks.append(f"```python\n{cell.source}\n```")
        values = ((o.get("text"), o.get("data", {}).get("text/plain", "")) for o in cell.outputs)
        if text := "".join(said or f"{value}\n" for said, value in values).strip("\n"):
            blocks.append(f"```text\n{text}\n```")
    return "".join(f"{block}\n\n" for block in blocks)


def counted(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook with its executed cells counted from 1, in tracebacks, too."""
    made = copy.deepcopy(notebook)
    executed = [c for c in made.cells if c.cell_type == "code" and c.execution_count]
    new = {str(cell.execution_count): str(at) for at, cell in enumerate(executed, 1)}
    for count, cell in enumerate(executed, 1):
        cell.execution_count = count
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = count
            for at, part in enumerate(output.get("traceback", [])):
                output.traceback[at] = IN.sub(lambda m: m[1] + new.get(m[2], m[2]), part)
    return made
