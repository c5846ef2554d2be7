"""Grading: no fraud makes a point, no right answer loses one, each loses only its own.

And what a class hands in: which notebook counts, what stands in the table, answers on paper.
"""

import csv
import os
import re
import socket
import subprocess
import sys
import time
from collections import ChainMap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookbinder.classroom import grading, sandbox, submissions
from bookbinder.classroom.grading import Question, Session, grade
from bookbinder.classroom.submissions import grade_folder, on_paper, questions_in
from bookbinder.files import BookError, write_whole
from bookbinder.solutions import read_bound
from bookbinder.worksheets import checks_in, code_cells, students
from d2l_attention.practice import Exercise
from d2l_attention.practice.checking import Result
from d2l_attention.practice.exercises import find
from tests.conftest import DATA, write_files
from tests.this_book import BOOK, chapters, pages

EDITION = BOOK.editions[0]
NAME = "12_scaled_dot_product_attention"
RIGHT = "return x / x.sum(-1)[..., None]"


def answers_under(heading):
    """Return name -> cells of the answers in the part of the text that begins so."""
    text = (DATA / "answers.md").read_text(encoding="utf-8").partition(f"\n## {heading}")[2]
    entries = [x.partition("\n") for x in text.partition("\n## ")[0].split("\n### ")]
    return {name: re.findall(r"```\w+\n(.*?)\n```", x, re.DOTALL) for name, _, x in entries[1:]}


FIRST, WRONG, SPELLINGS, CLASS = map(answers_under, ("Before", "Wrong", "Right", "A class"))
WRONG = [(*name.split(" → "), "\n".join(cells)) for name, cells in WRONG.items()]
forged, says, code = WRONG.pop()
for size in ("[float('inf')]", "[10**400] * 900", "'ab'", "None", "[[1]]"):
    WRONG.append((f"{forged}, {size}", says, code.replace("SIZE", size)))
SPELLINGS["very long lines"] = ["a = " + "1+" * 6000 + "1", "b = " + "-" * 6000 + "1"]
SPELLINGS["very long lines"] += ["\n \n%%time" + "\n" * 10**5 + "def F(x): RIGHT"]


def sandboxed(test):
    """Mark a test that starts a sandbox: `make test` runs it, where there is bubblewrap."""
    none = pytest.mark.skipif(not sandbox.bubblewrap_works(), reason="no bubblewrap, or not here")
    return pytest.mark.slow(none(test))


def notebook_of(*cells, words=()):
    return new_notebook(cells=[*map(new_code_cell, cells), *map(new_markdown_cell, words)])


def hand_in(folder, **notebooks):
    for name, notebook in notebooks.items():
        path = folder / f"{name.replace('__', '/')}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = notebook if isinstance(notebook, str) else nbformat.writes(notebook)
        path.write_text(text, encoding="utf-8")


def table_of(folder, name="exam"):
    with (folder / f"grades-{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["submission"].removeprefix("by "): row for row in csv.DictReader(file)}


def some_scores(rng):
    yield from ((rng.random(shape) + 0.1,) for shape in ((3, 4), (1, 5), (2, 3, 6)))


def add(sheet, number, cells, **words):
    """Put cells into a notebook, with a name for their answer `F`, and a question to the others."""
    code, questions = sheet
    name = f"answer_{len(questions)}"
    words |= {"CHECK": f"result = check({number!r}, F)\nassert result.passed", "RIGHT": RIGHT}
    for word, text in {**words, "NUMBER": repr(number), "F": name}.items():
        cells = [re.sub(rf"\b{word}\b", lambda _, text=text: text, cell) for cell in cells]
    exercise = Exercise(number, lambda x: x / x.sum(-1, keepdims=True), some_scores, seed=1)
    exercise.without = ("normalize",) * (".normalize(" in cells[0])
    exercise.most_elements = (lambda x: 1) if "largest_array" in cells[0] else None
    code += cells
    questions.append(Question(exercise, name))


def lighten(patch, folder):
    """Have a PyTorch in the sandbox that loads at once, and a Python that is a link."""
    write_files(folder, {"torch.py": "from numpy import array as tensor\nclass Tensor: pass\n"})
    (folder / "python").symlink_to(sys.executable)
    patch.setattr(sys, "executable", str(folder / "python"))
    patch.setattr(sandbox, "PACKAGES", [str(folder), *sandbox.PACKAGES])


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Three notebooks: the book's own answers, and what needs PyTorch; all else; spellings."""
    own = read_bound(EDITION.notebooks / f"{NAME}.ipynb")
    questions = [q._replace(exercise=q.exercise.with_seed(1)) for q in questions_in(own, NAME)]
    sheets = [([*FIRST["a cell"]], []) for _ in range(3)]
    sheets[0][0].extend(cell.source for cell in code_cells(own))
    sheets[0][1].extend(questions)
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as friend:
        patch.chdir(tmp_path_factory.mktemp("teacher"))
        write_files(Path.cwd(), {".grading-seed": "7", "gradebook.db": "points"})
        patch.setenv("PRIVATE", "of the teacher")
        words = {"PORT": str(friend.getsockname()[1]), "TEACHER": str(Path.cwd())}
        for at, (*_, code) in enumerate(WRONG):  # and an honest answer after each of it
            sheet = sheets["torch" not in code]
            add(sheet, f"50.{at}", [code], HONEST=f"51.{at}", **words)
            add(sheet, f"51.{at}", ["def F(x): RIGHT"])
        for name, cells in SPELLINGS.items():
            add(sheets[2], name, cells if "check" in "".join(cells).lower() else [*cells, "CHECK"])

        def grade_sheet(sheet):
            return grade(notebook_of(*sheet[0]), sheet[1], Session(EDITION.framework))

        patch.setattr(grading, "ALL", 1000)  # on a busy machine
        patch.setattr(sandbox, "MEMORY", 3 * 2**30)
        results = grade_sheet(sheets[0])
        patch.setattr(grading, "CELL", 3)
        patch.setattr(grading, "ANSWER", 3)
        lighten(patch, tmp_path_factory.mktemp("packages"))
        with ThreadPoolExecutor() as pool:
            return {**results, **ChainMap(*pool.map(grade_sheet, sheets[1:]))}


@sandboxed
@pytest.mark.parametrize("at", range(len(WRONG)), ids=[name for name, *_ in WRONG])
def test_what_is_wrong_makes_no_point_and_loses_only_its_own_answer(graded, at):
    found = graded[f"50.{at}"]
    assert not found.passed
    assert WRONG[at][1] in f"{found.status}: {found.mistake or ''}"
    assert graded[f"51.{at}"].passed


def wait_for_no_process():
    until = time.monotonic() + 20  # what was killed may need a moment on a busy machine
    while str(sandbox.RUNNER) in subprocess.check_output(["ps", "-eo", "args"], text=True):
        assert time.monotonic() < until
        time.sleep(0.1)


@sandboxed
def test_right_answers_in_any_spelling_lose_nothing_and_frauds_leave_nothing(graded, tmp_path):
    right = ["12.1", "12.2", "12.3", *SPELLINGS]
    assert [name for name in right if not graded[name].passed] == []
    wait_for_no_process()
    assert not list(tmp_path.parent.rglob("MARKER"))


@sandboxed
def test_interrupted_it_keeps_what_is_graded_and_leaves_no_process(tmp_path, monkeypatch):
    def interrupted(done, **_):
        yield next(done)
        raise KeyboardInterrupt

    lighten(monkeypatch, tmp_path)
    monkeypatch.setattr(submissions, "tqdm", interrupted)
    monkeypatch.setattr(submissions, "AT_ONCE", 2)
    slow = notebook_of("def row_sums(scores):\n    while True: pass")
    ann = notebook_of("row_sums = lambda s: s.sum()\nlargest = 42")
    hand_in(tmp_path, ann=ann, ben=slow, cat=slow)
    with pytest.raises(KeyboardInterrupt):
        grade_exam(tmp_path)
    wait_for_no_process()
    ((name, row),) = table_of(tmp_path).items()
    columns = "1 mistake", "2.2 mistake", "3 (no point)", "points", "of"
    found = ["not attempted", "wrong: wrong shape", "1", "0", "2"]
    assert [name, *map(row.get, columns)] == ["ann", *found]


def test_without_a_sandbox_nothing_is_graded(tmp_path, monkeypatch):
    hand_in(tmp_path, ann=PASSES)
    monkeypatch.setattr(sys, "executable", "/no/python")
    works = sandbox.bubblewrap_works()
    with pytest.raises(BookError, match="start: .*/no/python.*make PYTHON=" if works else ""):
        grade_exam(tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BookError, match="bubblewrap, which keeps a student's code apart"):
        grade_exam(tmp_path)


# A folder of submissions, graded by what needs no sandbox


CHECK = "check('12.2', gradient_of_queries)"
PASSES, FAILS = notebook_of("right", CHECK), notebook_of("wrong", CHECK)


@pytest.fixture
def asked(monkeypatch):
    """What is asked of a grader without a sandbox: "right", "late" or not is the first cell."""
    counts = []

    def grade(notebook, questions, _):
        counts.append(len(questions))
        first = notebook.cells[0].source
        found = ("passed", "It is.") if first == "right" else ("wrong", "No.", "no scale")
        results = {q.exercise.number: Result(q.exercise.number, *found) for q in questions}
        if first == "late":
            results["1"] = Result("1", "error", "", "no answer after 10 s")
        return results

    monkeypatch.setattr(submissions, "read_edition_chapters", lambda _, edition: chapters(edition))
    monkeypatch.setattr(submissions, "grade", grade)
    monkeypatch.setattr(submissions, "started", lambda _: SimpleNamespace(stop=lambda: None))
    return counts


WORDS = ["### Exercise 12.3: masks ★★", "### Exercise 12.4: the proof ★★", "*Your answer:*"]
WORDS += ["Both sums", "### Unlike 12.3", "### Exercise 12.4 again", "are\u2028one."]


def test_a_class_is_graded_and_what_cannot_be_is_named(tmp_path, asked, capsys):
    written = nbformat.writes(notebook_of("right", CHECK, words=WORDS))
    lost = notebook_of("right", CHECK, words=[WORDS[0], "The heading is gone."])
    hand_in(tmp_path, **{"Zoë_17_assignsubmission_file__mine": f"\ufeff{written}", "lost": lost})
    hand_in(tmp_path, ben__12_scaled=FAILS, blank=notebook_of("1 + 1"), text="no notebook")
    hand_in(tmp_path, two=FAILS, two__12_copy=FAILS, two__figures__12_copy=FAILS)
    hand_in(tmp_path, hub__12_scaled=PASSES, hub__10_masked=notebook_of("check('10.1', f)"))
    hand_in(tmp_path, hub__home__local__share__Trash__files__12_scaled=FAILS, __MACOSX__x=FAILS)
    hand_in(tmp_path, jax=notebook_of("import jax", CHECK), seven=notebook_of("check('13.2', f)"))
    hand_in(tmp_path, cells='{"cells": null}', deep="[" * 10**5, nothing="")
    hand_in(tmp_path, **{"=A('a')": "", "two\nlines\x1b[31m": "", r"two\nlines": "", "\udcff": ""})
    right = nbformat.writes(PASSES).partition("[")[2].rpartition("]")[0]
    cells = f"{right}, {CLASS['a strange notebook'][0]}".replace("QUOTES", "> - " * 10**4)
    cells = cells.replace("PARENTHESES", "(" * 10**6).replace("ZEROS", "0" * 5000)
    hand_in(tmp_path, strange=f'{{"cells": [{cells}], "nbformat": "x\0"}}')
    (tmp_path / "utf16.ipynb").write_bytes(nbformat.writes(PASSES).encode("utf-16"))
    (tmp_path / "thief.ipynb").symlink_to(tmp_path / "utf16.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    write_files(tmp_path, {"jon.ipynb.txt": "words", "hub/mine.py": "words", "empty/.x": ""})
    grade_folder(BOOK, EDITION, tmp_path)
    said = capsys.readouterr().out
    assert ": 21 submissions, 13 not graded: '=A('a'), cells, deep, empty, nothing, pipe, " in said
    left_out = "left out: hub/mine.py, jon.ipynb.txt"
    assert said.endswith(f"\n{left_out}\ncode in jax: FRAMEWORK=jax: jax\n")
    grade_folder(BOOK, EDITION, tmp_path)  # which reads what is written
    table = (tmp_path / f"grades-{NAME}.csv").read_text("utf-8-sig")
    told = (tmp_path / f"grades-{NAME}/ben.txt").read_text()
    assert (
        re.sub(r"\bn[0-9a-f]{16} /", "its", table).splitlines()
        == CLASS["the table"][0].splitlines()
    )
    assert told.splitlines() == CLASS["what ben is told"][0].splitlines()
    cells = nbformat.read(tmp_path / f"grades-{NAME}/paper-12.4.ipynb", as_version=4).cells
    sheet = "\n".join(cell.source for cell in cells)
    shown = ["<details open>", "1 of 2", "Both sums", "Unlike", "12.4 again", "are\none", "is gone"]
    assert [*map(sheet.index, shown)] == sorted(map(sheet.index, shown))


def grade_exam(folder, edition=EDITION):
    (folder / "exam.py").write_text(CLASS["an exam"][0])
    grade_folder(BOOK, edition, folder, exam=folder / "exam.py")
    return table_of(folder)


def graded_by_hand(folder, *changes):
    """Grade a class, change the table as a teacher and a spreadsheet do, and grade it again."""
    hand_in(folder, **{"0012345": PASSES, "ann": PASSES, "ben": FAILS, "cleo": "nothing"})
    grade_exam(folder)
    table = folder / "grades-exam.csv"
    text = table.read_text().replace("by ann,1,", "by ann,0.5,").replace("by cleo,", "by cleo,2")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    table.write_text(text)
    return grade_exam(folder)


def test_what_a_teacher_and_a_spreadsheet_write_stays(tmp_path, asked, capsys, monkeypatch):
    moved = ("submission,1 points", "note,submission,1 points"), ("\nby ", "\nlate?,by ")
    saved = (",", ";"), ("0.5", "0,5"), ("\n", ";;\r\n"), ("by ben", '"by ben"')
    table = graded_by_hand(tmp_path, *moved, *saved, ("late?;by a", ";;\r\nlate?;by a"))
    points = {name: (row["points"], row["note"]) for name, row in table.items()}
    marks = {"0012345": "2", "ann": "1.5", "ben": "0", "cleo": "2"}
    assert points == {name: (mark, "late?") for name, mark in marks.items()}
    assert len(asked) == 3
    hand_in(tmp_path, ann=FAILS, cleo=PASSES, ben=notebook_of("wrong"))
    (tmp_path / "0012345.ipynb").unlink()
    path, ours = tmp_path / "grades-exam.csv", submissions.grade

    def meanwhile(*notebook):
        write_whole(path, path.read_text().replace("by ben,0,", "by ben,0.75,"))
        return ours(*notebook)

    monkeypatch.setattr(submissions, "grade", meanwhile)
    monkeypatch.setattr(submissions, "AT_ONCE", 1)
    table = grade_exam(tmp_path)
    assert table["ann"]["remarks"] == "1 points: 0,5 by hand, 0 by the grader"
    assert table["cleo"]["remarks"] == "1 points: 2 by hand, 1 by the grader"
    assert [table[name]["points"] for name in ("0012345", "ann", "ben")] == ["2", "0.5", "0.75"]
    assert capsys.readouterr().out.endswith("as nobody has this name: by 0012345\n")


SPOILED = [  # by a spreadsheet
    ("2.2 points", "02. Feb", "no column '2.2 points'. Mend it"),
    ("0.5", "nan", "'1 points' of 'by ann' must be a number, got 'nan'"),
    ("by ann,0.5", "by ann,0,5", "more cells than columns in the row of 'by ann'"),
    ("by 0012345", "by ann", "two rows of 'by ann'"),
    ("submission", "name", "with its column 'submission'"),
]


@pytest.mark.parametrize(("old", "new", "says"), SPOILED)
def test_a_table_that_would_lose_points_is_not_written(tmp_path, asked, old, new, says):
    with pytest.raises(BookError, match=re.escape(says)):
        graded_by_hand(tmp_path, (old, new))
    assert new in (tmp_path / "grades-exam.csv").read_text()


def test_only_what_is_new_or_late_is_graded_again(tmp_path, asked):
    hand_in(tmp_path, ann=FAILS, ben=FAILS)
    seed, seeds = tmp_path / ".grading-seed", []
    for new, change in (
        ([3, 3], list),
        ([], lambda: hand_in(tmp_path, ben=notebook_of("late", CHECK))),
        ([3, 1], list),  # what is late is asked once more, alone, and the next time
        ([3, 1], lambda: (tmp_path / "grades-exam/ann.txt").unlink()),
        ([3, 3, 1], seed.unlink),
        ([3, 3, 1], list),
    ):
        asked.clear()
        grade_exam(tmp_path)
        assert asked == new
        seeds.append(seed.read_text())
        change()
    assert seeds == [seeds[0]] * 5 + [seeds[5]] != [seeds[0]] * 6
    assert seed.stat().st_mode & 0o077 == 0
    asked.clear()
    grade_exam(tmp_path, BOOK.editions[1])  # of another framework
    assert asked == new


def test_bad_input_is_one_line(tmp_path, asked):
    folder, exam = tmp_path / "class", tmp_path / "exam.py"
    for change, says in (
        (list, "must be a folder with notebooks, got '"),
        (folder.mkdir, "has no notebooks"),
        (lambda: hand_in(folder, ann=notebook_of("1")), "no notebook checks an exercise of the"),
        (lambda: exam.write_text("x = 1"), "defines no Exercise"),
        (lambda: exam.write_text("1/0"), "ZeroDivisionError"),
    ):
        change()
        with pytest.raises(BookError, match=says):
            grade_folder(BOOK, EDITION, folder, exam=exam if exam.exists() else None)


@pytest.mark.slow
def test_every_exercise_of_the_book_counts_once():
    for page in pages(EDITION):
        sheet = students(page.chapter, page.executed)
        counted = [number for number in checks_in(sheet) if find(number).inputs is not None]
        text = "\n".join(cell.source for cell in sheet.cells)
        tasks = re.findall(r"^### Exercise (\d+\.\d+)\b", text, re.MULTILINE)
        if page.number == 0:
            tasks.insert(0, "0.1")  # an example in the text
        assert {*counted, *on_paper(sheet)} == {*tasks} - {"22.3"}  # the student's own program
