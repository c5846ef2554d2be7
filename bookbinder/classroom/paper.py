"""Answers on paper: which exercises they count for, and a sheet for whoever marks each of these.

A check counts, unless it asks for one value, which a friend can pass on: then the paper counts.
On a sheet, the answers of a class stand under the solution.
"""

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from bookbinder.answers import by_exercise, checked_in, invitation
from bookbinder.chapters import name_cells
from d2l_attention.practice.exercises import find

RUBRIC = """\
**2 points**: the result and each step of the reasoning, as in the solution.
**1 point**: the result without a reason, or the reasoning with one gap or slip.

Write them into the column `{number} (paper)` of `{table}`; then call `make grade` again."""


def on_paper(worksheet: NotebookNode) -> list[str]:
    """Return the exercises of which the answer on paper counts."""
    left_out = {number for number in checked_in(worksheet) if find(number).inputs is not None}
    left_out.add("")  # the text above the exercises, which asks, too
    return [
        number
        for number, cells in by_exercise(worksheet).items()
        if number not in left_out and any(cell.source == invitation() for cell in cells)
    ]


def paper_sheets(
    table: str, worksheet: NotebookNode, solutions: NotebookNode, handed: dict[str, NotebookNode]
) -> dict[str, NotebookNode]:
    """Return number -> an exercise and its solution, and below them what each name handed in."""
    given = {cell.source for cells in by_exercise(worksheet).values() for cell in cells}
    written = {name: by_exercise(notebook) for name, notebook in handed.items()}
    made = {}
    for number in on_paper(worksheet):
        cells = by_exercise(solutions).get(number, [])
        cells.append(new_markdown_cell(RUBRIC.format(number=number, table=table)))
        for name, of in written.items():
            answer = [cell for cell in of.get(number, []) if cell.source not in given]
            cells += [new_markdown_cell(f"## {name}"), *answer]
        made[number] = new_notebook(cells=cells)
        name_cells(made[number])
    return made
