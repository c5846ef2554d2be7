"""Assignments of nbgrader: valid metadata, and every exercise counts once."""

import re

import nbformat
import pytest
from conftest import ROOT, write_files
from this_book import BOOK, pages

from bookbinder.__main__ import main
from bookbinder.answers import CHECKS, invitation
from bookbinder.classroom.assignments import assignment
from bookbinder.worksheets import students
from d2l_attention.practice.exercises import find

KEYS = {"schema_version", "grade_id", "grade", "solution", "locked", "task"}
TASK = r"^### Exercise (\d+\.\d+)\b"
INVITATION = invitation()
EDITIONS = [pytest.param(e, id=e.framework) for e in BOOK.editions]


def made_of(*cells):
    """Return what the metadata say of cells: Markdown, or ("6.2", code)."""
    notebook = nbformat.v4.new_notebook()
    for cell in cells:
        if isinstance(cell, tuple):
            cell = nbformat.v4.new_code_cell(cell[1], metadata={CHECKS: cell[0]})
        else:
            cell = nbformat.v4.new_markdown_cell(cell)
        notebook.cells.append(cell)
    made = assignment(notebook)
    return made, [cell.metadata.get("nbgrader", {}) for cell in made.cells]


def test_a_check_counts_and_is_locked_and_its_answer_is_open():
    _, (task, answer, check, words, _, after) = made_of(
        "### Exercise 6.2: backward", ("", "def f(): ..."), ("6.2", 'check("6.2", f)'), INVITATION,
        "## Summary", INVITATION,
    )  # fmt: skip
    assert not answer
    assert not words  # the check counts already
    assert not after
    assert (task["grade_id"], task["locked"], task["grade"]) == ("task-6-2", True, False)
    assert check == {
        "schema_version": 3,
        "grade_id": "check-6-2",
        "grade": True,
        "points": 1,
        "solution": False,
        "locked": True,
        "task": False,
    }


def test_paper_counts_where_no_check_does_and_a_value_alone_gives_no_point():
    assert find("6.1").inputs is None
    _, (_, check, value, _, proof) = made_of(
        "### Exercise 6.1", ("6.1", 'check("6.1", three)'), INVITATION, "### Exercise 6.4",
        INVITATION,
    )  # fmt: skip
    assert check["points"] == 0
    for paper, name in ((value, "paper-6-1"), (proof, "paper-6-4")):
        assert (paper["grade_id"], paper["points"]) == (name, 2)
        assert (paper["grade"], paper["solution"], paper["locked"]) == (True, True, False)


def test_links_lead_to_the_folders_of_other_chapters():
    made, _ = made_of("[kernels](02_kernels.ipynb#Look) ![strip](figures/strip.svg) [a](#b)")
    assert made.cells[0].source == (
        "[kernels](../02_kernels/02_kernels.ipynb#Look) ![strip](figures/strip.svg) [a](#b)"
    )


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_exercise_of_the_book_counts_once(edition):
    for page in pages(edition):
        made = assignment(students(page.chapter, page.executed))
        marked = [cell for cell in made.cells if "nbgrader" in cell.metadata]
        for cell in marked:
            said = cell.metadata.nbgrader
            assert set(said) == KEYS | ({"points"} if said.grade else set())
            assert said.schema_version == 3
            assert not said.task
            assert said.locked != said.solution
            assert cell.cell_type == "code" or said.grade == said.solution
            assert (CHECKS in cell.metadata) == said.grade_id.startswith("check-")
        names = [cell.metadata.nbgrader.grade_id for cell in marked]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"(task|check|paper)-\d+-\d+", name) for name in names)
        count = [
            cell.metadata.nbgrader.grade_id.split("-", 1)[1].replace("-", ".")
            for cell in marked
            if cell.metadata.nbgrader.get("points")
        ]
        tasks = re.findall(TASK, "\n".join(cell.source for cell in made.cells), re.MULTILINE)
        if page.number == 0:
            tasks.insert(0, "0.1")  # an example in the text
        assert count == [task for task in tasks if task != "15.3"]  # the student's own program


def test_a_course_has_a_folder_for_each_assignment_with_its_pictures(tiny, capsys):
    picture = (ROOT / "book/figures/strip_06.svg").read_text(encoding="utf-8")
    chapter = "# 0. First\n\n![A strip.](figures/strip_06.svg)\n\n[next](01_second.ipynb)\n"
    write_files(tiny, {"book/00_first.md": chapter, "book/figures/strip_06.svg": picture})
    assert main(["bind"]) == 0
    assert main(["worksheets", "--nbgrader"]) == 0
    course = tiny / "_build/nbgrader/pytorch"
    assert (course / "source/00_first/figures/strip_06.svg").read_text("utf-8") == picture
    sheet = nbformat.read(course / "source/00_first/00_first.ipynb", as_version=4)
    assert "](../01_second/01_second.ipynb)" in sheet.cells[-1].source
    second = nbformat.read(course / "source/01_second/01_second.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in second.cells)
    assert str(course / "nbgrader_config.py").endswith(capsys.readouterr().out.split()[-1])
    assert repr(str(tiny)) in (course / "nbgrader_config.py").read_text("utf-8")
