"""Grading: no fraud makes a point, no right answer loses one; and what a class hands in."""

import json
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

from bookbinder.book import BookError, write_whole
from bookbinder.code import code_cells
from bookbinder.grading import sandbox, session, table
from bookbinder.grading.session import Question, grade
from bookbinder.grading.table import grade_folder, questions_in
from bookbinder.notebook import read_bound
from d2l_attention.practice import Exercise
from d2l_attention.practice.checking import Result
from tests.conftest import DATA, write_files
from tests.this_book import BOOK

EDITION = BOOK.editions[0]
NAME = "12_scaled_dot_product_attention"
RIGHT = "return x / x.sum(-1)[..., None]"
PASSES, FAILS = ["right", "check('12.2', f)"], ["wrong", "check('12.2', f)"]


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


def sandboxed(test):
    """Mark a test that starts a sandbox: `make test` runs it, where there is bubblewrap."""
    none = pytest.mark.skipif(not sandbox.bubblewrap_works(), reason="no bubblewrap, or not here")
    return pytest.mark.slow(none(test))


def notebook_of(*cells):
    made = (new_code_cell(x) if isinstance(x, str) else new_markdown_cell(*x) for x in cells)
    return new_notebook(cells=[*made])


def hand_in(folder, **notebooks):
    for name, cells in notebooks.items():
        path = folder / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = cells if isinstance(cells, str) else nbformat.writes(notebook_of(*cells))
        path.write_text(text, encoding="utf-8")


def table_of(folder, name="exam"):
    return (folder / f"grades-{name}.csv").read_text("utf-8-sig").rstrip("\n")


def add(sheet, number, cells, **words):
    """Put cells into a notebook, with a name for their answer `F`, and a question to the others."""
    code, questions = sheet
    name = f"answer_{len(questions)}"
    words |= {"CHECK": f"result = check({number!r}, F)\nassert result.passed", "RIGHT": RIGHT}
    words |= {"SUM": "1+" * 6000, "SIGNS": "-" * 6000, "LINES": "\n" * 10**5}
    for word, text in {**words, "NUMBER": repr(number), "F": name}.items():
        cells = [re.sub(rf"\b{word}\b", lambda _, text=text: text, cell) for cell in cells]
    inputs = lambda rng: ((rng.random(n) + 0.1,) for n in ((3, 4), (1, 5), (2, 3, 6)))  # noqa: E731
    exercise = Exercise(number, lambda x: x / x.sum(-1, keepdims=True), inputs, seed=1)
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
    before, code = FIRST["a cell"], [cell.source for cell in code_cells(own)]
    sheets = [(before + code, questions), ([*before], []), ([*before], [])]

    def grade_sheet(sheet):
        return grade(notebook_of(*sheet[0]), sheet[1], sandbox.Sandbox(EDITION.framework))

    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as friend:
        patch.chdir(tmp_path_factory.mktemp("teacher"))
        write_files(Path.cwd(), {".grading-seed": "7", "gradebook.db": "points"})
        patch.setenv("PRIVATE", "of the teacher")
        words = {"PORT": str(friend.getsockname()[1]), "TEACHER": str(Path.cwd())}
        for at, (*_, code) in enumerate(WRONG):  # and an honest answer after each of it
            add(sheets["torch" not in code], f"50.{at}", [code], HONEST=f"51.{at}", **words)
            add(sheets["torch" not in code], f"51.{at}", ["def F(x): RIGHT"])
        for name, cells in SPELLINGS.items():
            add(sheets[2], name, cells if "check" in "".join(cells).lower() else [*cells, "CHECK"])

        patch.setattr(sandbox, "ALL", 1000)  # on a busy machine
        patch.setattr(sandbox, "MEMORY", 3 * 2**30)
        results = grade_sheet(sheets[0])
        patch.setattr(sandbox, "CELL", 3)
        patch.setattr(session, "ANSWER", 3)
        lighten(patch, tmp_path_factory.mktemp("packages"))
        with ThreadPoolExecutor() as pool:
            return ChainMap(results, *pool.map(grade_sheet, sheets[1:]))


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
    monkeypatch.setattr(table, "tqdm", interrupted)
    monkeypatch.setattr(table, "AT_ONCE", 2)
    slow = ["def row_sums(scores):\n    while True: pass"]
    hand_in(tmp_path, ann=["row_sums = lambda s: s.sum()\nlargest = 42"], ben=slow, cat=slow)
    with pytest.raises(KeyboardInterrupt):
        grade_exam(tmp_path)
    wait_for_no_process()
    assert table_of(tmp_path) == CLASS["an interrupted table"][0]


def test_without_a_sandbox_nothing_is_graded(tmp_path, monkeypatch):
    hand_in(tmp_path, ann=PASSES)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BookError, match="bubblewrap, which keeps a student's code apart"):
        grade_exam(tmp_path)


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

    monkeypatch.setattr(table, "grade", grade)
    monkeypatch.setattr(table, "Sandbox", lambda _: SimpleNamespace(start=list, close=list))
    return counts


def test_a_class_is_graded_and_what_cannot_be_is_named(tmp_path, asked, capsys):
    odd = {"PARENTHESES": "(" * 10**6, "QUOTES": "> - " * 10**4}
    strange = re.sub("|".join(odd), lambda word: odd[word[0]], CLASS["a strange notebook"][0])
    hand_in(tmp_path, **json.loads(CLASS["the notebooks"][0]), strange=strange, deep="[" * 10**5)
    (tmp_path / "utf16.ipynb").write_text(nbformat.writes(notebook_of(*PASSES)), "utf-16")
    (tmp_path / "thief.ipynb").symlink_to(tmp_path / "utf16.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    write_files(tmp_path, {"jon.ipynb.txt": "words", "hub/mine.py": "words", "empty/.x": ""})
    grade_folder(BOOK, EDITION, tmp_path)
    assert capsys.readouterr().out.partition(": ")[2] == CLASS["what is said"][0] + "\n"
    grade_folder(BOOK, EDITION, tmp_path)  # which reads what is written
    assert table_of(tmp_path, NAME) == CLASS["the table"][0]
    told = (tmp_path / f"grades-{NAME}/ben.txt").read_text()
    assert told == CLASS["what ben is told"][0] + "\n"
    cells = nbformat.read(tmp_path / f"grades-{NAME}/paper-12.4.ipynb", as_version=4).cells
    sheet = "\n".join(f"| {cell.source}" for cell in cells)
    assert all(part in sheet for part in ("<details open>", "1 of 2", *CLASS["on paper"]))


def grade_exam(folder, edition=EDITION):
    (folder / "exam.py").write_text(CLASS["an exam"][0])
    grade_folder(BOOK, edition, folder, exam=folder / "exam.py")
    return table_of(folder)


def graded_by_hand(folder, *changes):
    """Grade a class, change the table as a teacher and a spreadsheet do, and grade it again."""
    hand_in(folder, **{"0012345": PASSES, "ann": PASSES, "ben": FAILS, "cleo": "nothing"})
    grade_exam(folder)
    path = folder / "grades-exam.csv"
    text = path.read_text().replace("by ann,1,", "by ann,0.5,").replace("by cleo,", "by cleo,2")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return grade_exam(folder)


def test_what_a_teacher_and_a_spreadsheet_write_stays(tmp_path, asked, capsys, monkeypatch):
    moved = ("submission,1 points", "note,submission,1 points"), ("\nby ", "\nlate?,by ")
    saved = (",", ";"), ("0.5", "0,5"), ("\n", ";;\r\n"), ("by ben", '"by ben"')
    row = graded_by_hand(tmp_path, *moved, *saved, ("late?;by a", ";;\r\nlate?;by a"))
    assert row == CLASS["by hand"][0]
    assert len(asked) == 3
    hand_in(tmp_path, ann=FAILS, cleo=PASSES, ben=["wrong"])
    (tmp_path / "0012345.ipynb").unlink()
    path, ours = tmp_path / "grades-exam.csv", table.grade

    def meanwhile(*notebook):
        write_whole(path, path.read_text().replace("by ben,0,", "by ben,0.75,"))
        return ours(*notebook)

    monkeypatch.setattr(table, "grade", meanwhile)
    monkeypatch.setattr(table, "AT_ONCE", 1)
    assert grade_exam(tmp_path) == CLASS["by hand"][1]
    assert capsys.readouterr().out.endswith("as nobody has this name: by 0012345\n")


SPOILED = [  # by a spreadsheet
    ("2.2 points", "02. Feb", "no column '2.2 points'. Mend it"),
    ("0.5", "nan", "'1 points' of 'by ann' must be a number, got 'nan'"),
    ("by ann,0.5", "by ann,0,5", "more cells than columns in the row of 'by ann'"),
    ("by 0012345", "by ann", "two rows of 'by ann'"),
    ("by ben", '"by ben', "it is no CSV in UTF-8. Mend it"),
    ("submission", "name", "no column 'submission'. Mend it"),
]


@pytest.mark.parametrize(("old", "new", "says"), SPOILED)
def test_a_table_that_would_lose_points_is_not_written(tmp_path, asked, old, new, says):
    with pytest.raises(BookError, match=re.escape(says)):
        graded_by_hand(tmp_path, (old, new))
    assert new in (tmp_path / "grades-exam.csv").read_text()


def test_only_what_is_new_or_late_is_graded_again(tmp_path, asked):
    hand_in(tmp_path, ann=FAILS, ben=FAILS)
    seed = tmp_path / ".grading-seed"
    for edition, new, change in (
        (0, [3, 3], list),
        (0, [], lambda: hand_in(tmp_path, ben=["late", *FAILS[1:]])),
        (0, [3, 3], list),  # what is late is graded once more, alone, and the next time
        (0, [3, 3], seed.unlink),
        (0, [3, 3, 3], list),
        (1, [3, 3, 3], list),  # of another framework
    ):
        asked.clear()
        grade_exam(tmp_path, BOOK.editions[edition])
        assert asked == new
        change()
    assert seed.stat().st_mode & 0o077 == 0


def test_bad_input_is_one_line(tmp_path, asked):
    exam = tmp_path / "exam.py"
    for folder, change, says in (
        ("none", list, "must be a folder with notebooks, got '"),
        ("", list, "has no notebooks"),
        ("", lambda: hand_in(tmp_path, ann=["1"]), "no notebook checks an exercise of the"),
        ("", lambda: exam.write_text("x = 1"), "defines no Exercise"),
        ("", lambda: exam.write_text("1/0"), "ZeroDivisionError"),
    ):
        change()
        with pytest.raises(BookError, match=says):
            grade_folder(BOOK, EDITION, tmp_path / folder, exam=exam if exam.exists() else None)
