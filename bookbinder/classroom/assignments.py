"""Worksheets as assignments of nbgrader: what is locked, what is graded, and with how many points.

A check counts, unless it asks for one value, which a friend can pass on: then the paper counts.
For whoever marks paper, the answers of a class stand exercise by exercise under the solution.
"""

import copy
import re

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from bookbinder.answers import CHECKS, HEADING, by_exercise, invitation
from bookbinder.binding import bring_edition_diagrams, read_edition_chapters
from bookbinder.chapters import name_cells
from bookbinder.config import Book, Edition
from bookbinder.files import as_text, write_whole
from bookbinder.publish import covered, unexecuted
from bookbinder.words import Say
from bookbinder.worksheets import sheets, students
from d2l_attention.practice.exercises import find

CHECKED, PAPER = 1, 2  # points
RUBRIC = f"""\
**{PAPER} points**: the result and each step of the reasoning, as in the solution.
**1 point**: the result without a reason, or the reasoning with one gap or slip.

Write them into the column `{{number}} (paper)` of `{{table}}`; then call `make grade` again."""
LINK = re.compile(r"\]\((\w+)\.ipynb")
CONFIG = """\
# Made by `make worksheets ARGS=--nbgrader`: nbgrader reads it when it is called in this folder.
import sys

sys.path.insert(0, {root!r})
c = get_config()
c.CourseDirectory.course_id = {course!r}
c.ClearSolutions.text_stub = {stub!r}
c.GradeOutside.framework = {framework!r}
c.GradeOutside.folder = str(Path(__file__).parent)
# nbgrader's own list, with a grader in place of `Execute` that students' code cannot reach.
c.Autograde.autograde_preprocessors = [
    "bookbinder.classroom.nbgrader_step.GradeOutside",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
"""


def write_assignments(book: Book, edition: Edition, say: Say = str) -> None:
    """Write the students' version of every chapter, in the folders of a course."""
    course = book.root / "_build" / "nbgrader" / edition.notebooks.name
    chapters = read_edition_chapters(book, edition)
    made = sheets(book, edition, chapters, students, say)
    for chapter in chapters:
        path = course / "source" / chapter.name / f"{chapter.name}.ipynb"
        bring_edition_diagrams(book, edition, [chapter], path.parent)
        sheet = covered(unexecuted(made[chapter.name]), say)
        write_whole(path, as_text(assignment(sheet, say)))
        print(book.named(path))
    given = {"root": str(book.root), "course": edition.notebooks.name, "stub": invitation(say)}
    given["framework"] = edition.framework
    write_whole(course / "nbgrader_config.py", CONFIG.format(**given))
    print(book.named(course / "nbgrader_config.py"))


def assignment(worksheet: NotebookNode, say: Say = str) -> NotebookNode:
    """Return a worksheet whose cells say to nbgrader what they are."""
    made = copy.deepcopy(worksheet)
    exercise, counts = "", set()
    for cell in made.cells:
        if number := cell.metadata.get(CHECKS):
            points = CHECKED if find(number).inputs is not None else 0
            counts |= {number} if points else set()
            mark(cell, "check", number, points)
        elif cell.source == invitation(say) and exercise and exercise not in counts:
            mark(cell, "paper", exercise, PAPER)
        elif cell.cell_type == "markdown" and (headings := HEADING.findall(cell.source)):
            exercise = headings[-1]
            if exercise:
                mark(cell, "task", exercise)
        if cell.cell_type == "markdown":  # each assignment has a folder of its own
            cell.source = LINK.sub(r"](../\1/\1.ipynb", cell.source)
    return made


def mark(cell: NotebookNode, kind: str, number: str, points: int | None = None) -> None:
    """Say what a cell is: a "task", a "check" or an answer on "paper", which alone is open."""
    graded, is_answer = points is not None, kind == "paper"
    cell.metadata["nbgrader"] = {
        "schema_version": 3,
        "grade_id": f"{kind}-{number.replace('.', '-')}",
        "grade": graded,
        "solution": is_answer,
        "locked": not is_answer,
        "task": False,
    } | ({"points": points} if graded else {})


def on_paper(worksheet: NotebookNode) -> list[str]:
    """Return the exercises of which the answer on paper counts."""
    marks = [cell.metadata.get("nbgrader", {}) for cell in assignment(worksheet).cells]
    kinds = [one.get("grade_id", "-").split("-", 1) for one in marks]
    return [number.replace("-", ".") for kind, number in kinds if kind == "paper"]


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
