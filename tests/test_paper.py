"""Answers on paper count where no check does, and every exercise counts once."""

import re

import nbformat
import pytest
from this_book import BOOK, pages

from bookbinder.answers import CHECKS, checked_in, invitation
from bookbinder.classroom.paper import on_paper
from bookbinder.worksheets import students
from d2l_attention.practice.exercises import find

TASK = r"^### Exercise (\d+\.\d+)\b"
INVITATION = invitation()
EDITIONS = [pytest.param(e, id=e.framework) for e in BOOK.editions]


def worksheet_of(*cells):
    """Return a worksheet of cells: Markdown, or ("6.2", code)."""
    notebook = nbformat.v4.new_notebook()
    for cell in cells:
        if isinstance(cell, tuple):
            cell = nbformat.v4.new_code_cell(cell[1], metadata={CHECKS: cell[0]})
        else:
            cell = nbformat.v4.new_markdown_cell(cell)
        notebook.cells.append(cell)
    return notebook


def test_paper_counts_where_no_check_does_and_a_value_alone_gives_no_point():
    assert find("6.1").inputs is None
    sheet = worksheet_of(
        "## A question on the way", INVITATION, "### Exercise 6.1", ("6.1", 'check("6.1", three)'),
        INVITATION, "### Exercise 6.2: backward", ("6.2", 'check("6.2", f)'), INVITATION,
        "### Exercise 6.4", "Prove it.", INVITATION, INVITATION, "### Exercise 6.6", "Run it.",
    )  # fmt: skip
    assert on_paper(sheet) == ["6.1", "6.4"]


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_exercise_of_the_book_counts_once(edition):
    for page in pages(edition):
        sheet = students(page.chapter, page.executed)
        counted = [number for number in checked_in(sheet) if find(number).inputs is not None]
        tasks = re.findall(TASK, "\n".join(cell.source for cell in sheet.cells), re.MULTILINE)
        if page.number == 0:
            tasks.insert(0, "0.1")  # an example in the text
        expected = sorted(set(tasks) - {"15.3"})  # the student's own program
        assert sorted([*counted, *on_paper(sheet)]) == expected
