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
from bookbinder.files import BookError, write_whole
from bookbinder.worksheets import checks_in, students
from d2l_attention.practice.checking import Result
from d2l_attention.practice.exercises import find
from tests.conftest import write_files
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
        return {row["submission"].removeprefix("by "): row for row in csv.DictReader(file)}


def test_a_class_is_graded_and_what_cannot_be_is_named(tmp_path, graded, capsys):
    hand_in(tmp_path, ann=RIGHT, ben__12_scaled=WRONG, Zoë=RIGHT, blank=notebook_of("1 + 1"))
    hand_in(tmp_path, two=WRONG, two__12_copy=WRONG, two__figures__12_copy=WRONG)
    hand_in(tmp_path, hub__12_scaled=RIGHT, hub__10_masked=notebook_of("check('10.1', f)"))
    hand_in(tmp_path, hub__home__local__share__Trash__files__12_scaled=WRONG, __MACOSX__x=WRONG)
    hand_in(tmp_path, text="no notebook", seven=notebook_of("check('13.2', f)"))
    hand_in(tmp_path, jax=notebook_of("import jax", CHECK))
    write_files(tmp_path, {"jon.ipynb.txt": "words", "hub/mine.py": "words"})
    (tmp_path / "empty").mkdir()
    grade_folder(BOOK, EDITION, tmp_path)
    table = table_of(tmp_path)
    said = {name: (row["points"], row["remarks"]) for name, row in table.items()}
    assert table["ann"]["of"] == "7"  # 12.2 ★★ and 12.3 ★★, and on paper 12.1 ★ and 12.4 ★★
    assert table["ann"]["12.1 (no point)"] == "1"  # which asks for one value
    assert table["ben"]["12.2 mistake"] == "wrong: no scale"
    told = (tmp_path / FOLDER / "ben.txt").read_text()
    assert told.startswith("12.1 (no point) wrong. No.\n12.2 wrong. No.\n12.3 wrong. No.\n\n")
    assert told.endswith("\n12.4 paper: not marked of 2\npoints: 0 of 7\n")
    three = "two/12_copy.ipynb and two/figures/12_copy.ipynb and two.ipynb"
    assert said == {
        **dict.fromkeys(["ann", "Zoë", "hub"], ("4", "")),
        **dict.fromkeys(["ben", "blank"], ("0", "")),
        "jax": ("0", "code in jax: FRAMEWORK=jax"),
        "two": ("", f"3 notebooks, of which one can count: {three}"),
        "text": ("", "no notebook: text.ipynb"),
        "empty": ("", "no notebook: empty"),
        "seven": ("", "not of chapter 12: seven.ipynb"),
    }
    lines = "10 submissions, 4 not graded: empty, seven, text, two", "left out: hub/mine.py, "
    lines = "\n".join(lines) + "jon.ipynb.txt\ncode in jax: FRAMEWORK=jax: jax\n"
    assert capsys.readouterr().out.endswith(lines)


@pytest.mark.slow
def test_points_on_paper_come_into_the_table_and_what_is_handed_in_onto_the_sheet(tmp_path, graded):
    written, large, lost = (new_notebook(cells=list(RIGHT.cells)) for _ in range(3))
    tasks = ["### Exercise 12.3: masks ★★", "### Exercise 12.4: the proof ★★", "*Your answer:*"]
    answer = ["Both sums", "### For $p=0.5$, unlike 12.3", "### Exercise 12.4 again"]
    answer += ["are\u2028one."]
    written.cells += map(new_markdown_cell, [*tasks, *answer])
    lost.cells += map(new_markdown_cell, [tasks[0], "The heading is gone."])
    large.cells[0] = new_code_cell("right", outputs=[new_output("stream", text='"\\[{\n' * 10**6)])
    moodle = "\ufeff" + nbformat.writes(written)
    hand_in(tmp_path, Zoë_17_assignsubmission_file__mine=moodle, large=large, lost=lost)
    grade_folder(BOOK, EDITION, tmp_path)
    points = {name: row["points"] for name, row in table_of(tmp_path).items()}
    assert points == {"Zoë_17": "4", "large": "4", "lost": "4"}
    cells = nbformat.read(tmp_path / FOLDER / "paper-12.4.ipynb", as_version=4).cells
    sheet = "\n".join(cell.source for cell in cells)
    shown = ["<details open>", "1 of 2", "Both sums", "unlike 12.3", "12.4 again", "are\none"]
    shown += ["is gone"]
    assert [*map(sheet.index, shown)] == sorted(map(sheet.index, shown))


EXAM = """
from d2l_attention.practice import Exercise
some = lambda rng: ((rng.normal(size=(n, 3)),) for n in (2, 5))
rows = Exercise("1", lambda scores: scores.sum(-1), some)
row_sums = Exercise("2.2", lambda scores: scores.sum(-1), some)
largest = Exercise("3", 42)
"""


def graded_by_hand(folder, *changes):
    """Grade a class, change the table as a teacher and a spreadsheet do, and grade it again."""
    (folder / "exam.py").write_text(EXAM)
    hand_in(folder, **{"0012345": RIGHT, "ann": RIGHT, "ben": WRONG, "cleo": "nothing"})
    grade_folder(BOOK, EDITION, folder, exam=folder / "exam.py")
    table = folder / "grades-exam.csv"
    text = table.read_text().replace("by ann,1,", "by ann,0.5,").replace("by cleo,", "by cleo,2")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    table.write_text(text)
    grade_folder(BOOK, EDITION, folder, exam=folder / "exam.py")
    return table_of(folder, "exam")


def test_what_a_teacher_and_a_spreadsheet_write_stays(tmp_path, graded, capsys, monkeypatch):
    moved = ("submission,1 points", "note,submission,1 points"), ("\nby ", "\nlate?,by ")
    saved = (",", ";"), ("0.5", "0,5"), ("\n", ";;\r\n"), ("by ben", '"by ben"')
    table = graded_by_hand(tmp_path, *moved, *saved, ("late?;by a", ";;\r\nlate?;by a"))
    points = {name: row["points"] for name, row in table.items()}
    assert points == {"0012345": "2", "ann": "1.5", "ben": "0", "cleo": "2"}
    assert {row["note"] for row in table.values()} == {"late?"}
    assert len(graded) == 3
    hand_in(tmp_path, ann=WRONG, cleo=RIGHT, ben=notebook_of("wrong"))
    ours = submissions.grade

    def meanwhile(notebook, *others):
        path = tmp_path / "grades-exam.csv"
        write_whole(path, path.read_text().replace("by ben,0,", "by ben,0.75,"))
        return ours(notebook, *others)

    monkeypatch.setattr(submissions, "grade", meanwhile)
    monkeypatch.setattr(submissions, "AT_ONCE", 1)
    (tmp_path / "0012345.ipynb").unlink()
    grade_folder(BOOK, EDITION, tmp_path, exam=tmp_path / "exam.py")
    table = table_of(tmp_path, "exam")
    assert table["ann"]["remarks"] == "1 points: 0,5 by hand, 0 by the grader"
    assert table["cleo"]["remarks"] == "1 points: 2 by hand, 1 by the grader"
    assert [table[name]["points"] for name in ("0012345", "ann", "ben")] == ["2", "0.5", "0.75"]
    assert capsys.readouterr().out.endswith("as nobody has this name: by 0012345\n")


# What a spreadsheet does to a table, and what is said before anything is written.
SPOILED = [
    ("2.2 points", "02. Feb", "no column '2.2 points'. Mend it"),
    ("0.5", "01. May", "'1 points' of 'by ann' must be a number, got '01. May'"),
    ("0.5", "nan", "'1 points' of 'by ann' must be a number, got 'nan'"),
    ("by ann,0.5", "by ann,0,5", "more cells than columns in the row of 'by ann'"),
    ("by 0012345", "by ann", "two rows of 'by ann'"),
    ("submission", "name", "with its column 'submission'"),
    (",notebook", ",", "no column 'notebook'"),
]


@pytest.mark.parametrize(("old", "new", "says"), SPOILED)
def test_a_table_that_would_lose_points_is_not_written(tmp_path, graded, old, new, says):
    with pytest.raises(BookError, match=re.escape(says)):
        graded_by_hand(tmp_path, (old, new))
    assert new in (tmp_path / "grades-exam.csv").read_text()


STRANGE_FILES = {"words": "no JSON", "cells": '{"cells": null}', "deep": "[" * 10**5, "nothing": ""}
STRANGE = [  # cells
    '{"cell_type": "code", "source": 5, "outputs": []}',
    '{"cell_type": "code", "source": ["x = 1", null], "metadata": {"tags": null}, "id": 7}',
    '{"cell_type": "markdown", "source": "\\ud800 \\u0000 \u0000", "attachments": {"a": []}}',
    '{"source": "print(n)\\nglobal n", "cell_type": "code", "execution_count": 1'
    + "0" * 5000
    + "}",
    "null",
    '{"cell_type": "code", "source": "%s"}' % ("(" * 10**6),
    '{"cell_type": "markdown", "source": "%s"}' % ("> - " * 10**4),
]


def test_strange_notebooks_and_names_keep_nobody_from_being_graded(tmp_path, graded):
    hand_in(tmp_path, **STRANGE_FILES)
    cells = nbformat.writes(RIGHT).partition("[")[2].rpartition("]")[0]
    for at, cell in enumerate(STRANGE):
        hand_in(tmp_path, **{f"honest {at}": f'{{"cells": [{cells}, {cell}], "nbformat": "x"}}'})
    (tmp_path / "honest.ipynb").write_bytes(nbformat.writes(RIGHT).encode("utf-16"))
    hand_in(tmp_path, **{"=HYPERLINK('a')": "", "two\nlines\x1b[31m": "", r"two\nlines": ""})
    (tmp_path / "thief.ipynb").symlink_to(tmp_path / "honest.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / os.fsdecode(b"\xff.ipynb")).write_text("")
    for _ in range(2):  # the second run reads what the first has written
        grade_folder(BOOK, EDITION, tmp_path)
    table = table_of(tmp_path)
    for name in STRANGE_FILES:
        assert table[name]["remarks"] == f"no notebook: {name}.ipynb"
    honest = {name: row["12.2 points"] for name, row in table.items() if "honest" in name}
    assert set(honest.values()) == {"2"}
    assert len(honest) == len(STRANGE) + 1
    assert table["thief"]["remarks"].startswith("a link, which may lead to somebody else's")
    assert table["pipe"]["remarks"] == "no file: pipe.ipynb"
    assert {"=HYPERLINK('a')", r"two\nlines\x1b[31m", r"two\\nlines"} < set(table)


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
    asked, late = [], ["", "late", "", "late", "late"]  # from the end: one of two is late again

    def grade(notebook, questions, _):
        asked.append(len(questions))
        mistake = "no answer after 10 s"
        found = ((q.exercise.number, late and late.pop() and mistake) for q in questions)
        return {number: Result(number, "error", "", late or "") for number, late in found}

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
        assert {*counted, *on_paper(sheet)} == {*tasks} - {"22.3"}  # the student's own program
