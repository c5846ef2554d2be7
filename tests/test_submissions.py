"""What a class hands in: which notebook counts, what stands in the table, and answers on paper."""

import csv
import os
import re
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookbinder.classroom import submissions
from bookbinder.classroom.submissions import grade_folder, on_paper
from bookbinder.files import BookError
from bookbinder.worksheets import checks_in, students
from d2l_attention.practice.checking import Result
from d2l_attention.practice.exercises import find
from tests.this_book import BOOK, chapters, pages

EDITION = BOOK.editions[0]
NAME = "12_scaled_dot_product_attention"
FOLDER = f"grades-{NAME}"
CHECK = "check('12.2', gradient_of_queries)"


def notebook_of(*cells):
    return new_notebook(cells=list(map(new_code_cell, cells)))


RIGHT, WRONG = notebook_of("right", CHECK), notebook_of("wrong", CHECK)


@pytest.fixture(autouse=True)
def read_once(monkeypatch):
    monkeypatch.setattr(submissions, "read_edition_chapters", lambda _, edition: chapters(edition))


@pytest.fixture
def graded(monkeypatch):
    """What a grader gets that needs no sandbox: it finds "right" in the first cell, or does not."""
    notebooks = []

    def grade(notebook, questions, _):
        notebooks.append(notebook)
        right = notebook.cells[0].source == "right"
        result = ("passed", "It is.") if right else ("wrong", "No.", "no scale")
        return {q.exercise.number: Result(q.exercise.number, *result) for q in questions}

    monkeypatch.setattr(submissions, "grade", grade)
    monkeypatch.setattr(submissions, "started", lambda _: SimpleNamespace(stop=lambda: None))
    return notebooks


def hand_in(folder, **notebooks):
    for name, notebook in notebooks.items():
        path = folder / f"{name.replace('__', '/')}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = notebook if isinstance(notebook, str) else nbformat.writes(notebook)
        path.write_text(text, encoding="utf-8")


def table_of(folder, name=NAME):
    with (folder / f"grades-{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


def test_a_class_is_graded_and_what_cannot_be_is_named(tmp_path, graded, capsys):
    hand_in(
        tmp_path,
        ann=RIGHT,
        ben__12_scaled_dot_product_attention=WRONG,
        Zoë=RIGHT,
        two=WRONG,
        two__12_copy=WRONG,
        text="no notebook",
        seven=notebook_of("check('13.2', f)"),
        blank=notebook_of("1 + 1"),
        hub__12_scaled=RIGHT,
        hub__10_masked=notebook_of("check('10.1', f)"),
    )
    (tmp_path / "essay.pdf").write_text("words")
    (tmp_path / "empty").mkdir()
    grade_folder(BOOK, EDITION, tmp_path)
    table = table_of(tmp_path)
    said = {name: (row["points"], row["remarks"]) for name, row in table.items()}
    assert said["ann"] == ("2", "")  # 12.1 asks for one value
    assert table["ann"]["12.1 (no point)"] == "1"
    assert said["ben"][0] == "0"
    assert table["ben"]["12.2 mistake"] == "wrong: no scale"
    lines = "12.1 wrong. No.\n12.2 wrong. No.\n12.3 wrong. No.\n"
    assert (tmp_path / FOLDER / "ben.txt").read_text() == lines
    remarks = {
        "two": "2 notebooks, of which one can count: 12_copy.ipynb and two.ipynb",
        "text": "no notebook, or too large a one: text.ipynb",
        "empty": "no notebook: empty",
        "seven": "not of chapter 12: seven.ipynb",
    }
    for who, remark in remarks.items():
        assert said.pop(who) == ("", remark)
    assert set(said) == {"ann", "ben", "Zoë", "blank", "hub"}
    who = ", ".join(sorted(remarks))
    assert capsys.readouterr().out.endswith(f"9 submissions, 4 not graded: {who}\n")


@pytest.mark.slow
def test_points_on_paper_come_into_the_table_and_what_is_handed_in_onto_the_sheet(tmp_path, graded):
    written, large = (new_notebook(cells=list(RIGHT.cells)) for _ in range(2))
    answer = "### Exercise 12.4: the proof\n\n*Your answer:*\n\nBoth sums are one."
    written.cells.append(new_markdown_cell(answer))
    large.cells[0] = new_code_cell("right", outputs=[new_output("stream", text='"\\[{\n' * 10**6)])
    moodle = "\ufeff" + nbformat.writes(written)
    hand_in(tmp_path, Zoë_17_assignsubmission_file__mine=moodle, large=large)
    grade_folder(BOOK, EDITION, tmp_path)
    points = {name: row["points"] for name, row in table_of(tmp_path).items()}
    assert points == {"Zoë_17": "2", "large": "2"}
    sheet = (tmp_path / FOLDER / "paper-12.4.ipynb").read_text(encoding="utf-8")
    assert sheet.index("<details open>") < sheet.index("1 point") < sheet.index("Both sums are one")
    table = tmp_path / f"{FOLDER}.csv"
    text = table.read_text(encoding="utf-8-sig").replace(",", ";")
    table.write_text(text.replace("Zoë_17;1;;1;;1;;;", "Zoë_17;1;;1;;0,5;;;1,5"))
    grade_folder(BOOK, EDITION, tmp_path)
    assert table_of(tmp_path)["Zoë_17"]["points"] == "3"
    assert len(graded) == 2


STRANGE = {
    "source": '{"cells": [{"cell_type": "code", "source": 5, "metadata": {}, "outputs": []}]',
    "cells": '{"cells": null',
    "deep": "[" * 100_000,
    "nothing": "",
}


def test_strange_notebooks_and_names_keep_nobody_from_being_graded(tmp_path, graded):
    rest = ', "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    broken = {f"b_{name}": text + rest * (text[:1] == "{") for name, text in STRANGE.items()}
    hand_in(tmp_path, **broken, honest=RIGHT)
    hand_in(
        tmp_path, **{"=HYPERLINK('a')": "", "-2+3": "", "two\nlines\x1b[31m": "", r"two\nlines": ""}
    )
    (tmp_path / "thief.ipynb").symlink_to(tmp_path / "honest.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / os.fsdecode(b"\xff.ipynb")).write_text("")
    for _ in range(2):  # the second run reads what the first has written
        grade_folder(BOOK, EDITION, tmp_path)
    table = table_of(tmp_path)
    for name in broken:
        assert table[name]["remarks"] == f"no notebook, or too large a one: {name}.ipynb"
    assert table["honest"]["12.2"] == "1"
    assert table["thief"]["remarks"].startswith("a link, which may lead to somebody else's")
    assert table["pipe"]["remarks"] == "no notebook, or too large a one: pipe.ipynb"
    assert {"'=HYPERLINK('a')", "'-2+3", r"two\nlines\x1b[31m", r"two\\nlines"} < set(table)


@pytest.mark.slow
def test_only_what_is_new_is_graded_again(tmp_path, graded, monkeypatch):
    hand_in(tmp_path, ann=WRONG, ben=WRONG)
    for _ in range(2):
        grade_folder(BOOK, EDITION, tmp_path)
        assert len(graded) == 2
    seed = (tmp_path / ".grading-seed").read_text()
    assert (tmp_path / ".grading-seed").stat().st_mode & 0o077 == 0
    hand_in(tmp_path, ben=RIGHT)
    grade_folder(BOOK, EDITION, tmp_path)
    assert len(graded) == 3
    (tmp_path / ".grading-seed").unlink()
    grade_folder(BOOK, EDITION, tmp_path)
    assert len(graded) == 5
    assert (tmp_path / ".grading-seed").read_text() != seed
    (tmp_path / FOLDER / "ann.txt").unlink()
    asked, late = [], [False, True, False, True, True]  # from the end: one of two is late again

    def grade(notebook, questions, _):
        asked.append(len(questions))
        found = (["", "no answer after 10 s"][bool(late and late.pop())] for _ in questions)
        return {
            q.exercise.number: Result("", "error", "", x)
            for q, x in zip(questions, found, strict=True)
        }

    monkeypatch.setattr(submissions, "grade", grade)
    for questions in ([3, 2], [3, 2, 3], [3, 2, 3]):  # late at last, it is graded the next time
        grade_folder(BOOK, EDITION, tmp_path)
        assert asked == questions
    grade_folder(BOOK, BOOK.editions[1], tmp_path, NAME)
    assert len(asked) == 5


def test_bad_input_is_one_line(tmp_path):
    with pytest.raises(BookError, match=r"must be a folder with notebooks, got '.*nowhere'"):
        grade_folder(BOOK, EDITION, tmp_path / "nowhere")
    with pytest.raises(BookError, match="has no notebooks"):
        grade_folder(BOOK, EDITION, tmp_path)
    hand_in(tmp_path, ann=notebook_of("1"))
    with pytest.raises(BookError, match="no notebook checks an exercise of the book"):
        grade_folder(BOOK, EDITION, tmp_path)
    for text, says in (("x = 1", "defines no Exercise"), ("1/0", "ZeroDivisionError")):
        (tmp_path / "exam.py").write_text(text)
        with pytest.raises(BookError, match=says):
            grade_folder(BOOK, EDITION, tmp_path, exam=tmp_path / "exam.py")


@pytest.mark.slow
@pytest.mark.parametrize("edition", [pytest.param(e, id=e.framework) for e in BOOK.editions])
def test_every_exercise_of_the_book_counts_once(edition):
    for page in pages(edition):
        sheet = students(page.chapter, page.executed)
        counted = [number for number in checks_in(sheet) if find(number).inputs is not None]
        text = "\n".join(cell.source for cell in sheet.cells)
        tasks = re.findall(r"^### Exercise (\d+\.\d+)\b", text, re.MULTILINE)
        if page.number == 0:
            tasks.insert(0, "0.1")  # an example in the text
        expected = sorted(set(tasks) - {"22.3"})  # the student's own program
        assert sorted([*counted, *on_paper(sheet)]) == expected
