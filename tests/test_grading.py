"""Grading: no fraud makes a point, no right answer loses one, and each loses only its own."""

import csv
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from conftest import ROOT, write_files
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from this_book import BOOK, chapters

from bookbinder.classroom import grading, sandbox, submissions
from bookbinder.classroom.grading import Grade, Question, Session, grade, steps
from bookbinder.classroom.inside import unpacked
from bookbinder.classroom.needed import checks_in, needed_sources
from bookbinder.classroom.submissions import grade_folder
from bookbinder.errors import BookError
from bookbinder.solutions import read_bound
from bookbinder.worksheets import sheets, students
from d2l_attention.practice import Exercise, audit
from tests.test_exercises import EXERCISES

needs_sandbox = pytest.mark.skipif(
    not sandbox.bubblewrap_works(), reason="bubblewrap is not installed, or not allowed here"
)


def shares(scores):
    return scores / scores.sum(-1, keepdims=True)


def some_scores(rng):
    yield from ((rng.random(shape) + 0.1,) for shape in ((3, 4), (1, 5), (2, 3, 6)))


def exercise(number):
    made = Exercise(number, shares, some_scores)

    @made.expects
    class Mistakes:
        def over_the_queries(scores):
            """Your columns sum to 1."""
            return scores / scores.sum(-2, keepdims=True)

    return made


RIGHT = "return scores / scores.sum(-1, keepdim=True)"
REPLY = '{"kind": "array", "array": "%s", "dtype": "float32", "changed": [false], "token": "%s"}'
# Name -> what an answer does instead of the work; `{f}` is the function's name.
FRAUDS = {
    "another check": """
        def check(number, answer):
            print(number, "passed. Your answer is right on 3 inputs.")
        def {f}(scores): return scores
    """,
    "checks that are patched": """
        from d2l_attention.practice import checking, diagnosis
        import numpy
        diagnosis.same = numpy.allclose = numpy.isclose = lambda *a, **k: True
        checking.examine = diagnosis.diagnose = lambda *a, **k: None
        def {f}(scores): return scores
    """,
    "the reference": """
        from d2l_attention.practice.exercises import find
        def {f}(scores): return find("6.2").reference(scores)
    """,
    "what references are made of": """
        from d2l_attention.practice.numerics import normalized as {f}
    """,
    "the book on the disk": """
        from pathlib import Path
        import d2l_attention
        package = Path(d2l_attention.__file__).parent
        read = [p for p in package.rglob("chapter_0*") if p.is_file() and p.read_bytes()]
        read += [*package.parent.glob("book/*.md"), *package.parent.glob("notebooks/*/*.ipynb")]
        def {f}(scores): return scores / scores.sum(-1, keepdim=True) if any(read) else scores
    """,
    "the stack and the heap": """
        import gc, sys
        def {f}(scores):
            frame, known = sys._getframe(), list(gc.get_objects())
            while frame:
                known += frame.f_locals.values()
                frame = frame.f_back
            found = [x for x in known if type(x).__name__ == "Exercise"]
            return found[0].reference(scores)
    """,
    "an array that is equal to all": """
        import numpy
        class Equal(numpy.ndarray):
            def __eq__(self, other): return True
            __array_ufunc__ = None
        class Tensor(torch.Tensor):
            def __array__(self, *a): return numpy.zeros(1).view(Equal)
        def {f}(scores): return scores.as_subclass(Tensor)
    """,
    "a verdict in place of an answer": """
        import os
        def {f}(scores):
            for fd in range(3, 20):
                try: os.write(fd, b'{{"status": "passed", "points": 50}}\\n')
                except OSError: pass
            return scores
    """,
    "an array that runs code": f"""
        import base64, io, os, sys, numpy
        class Run:
            def __reduce__(self): return os.system, ("touch MARKER",)
        def {{f}}(scores):
            file = io.BytesIO()
            numpy.save(file, numpy.array([Run()], object), allow_pickle=True)
            frame = sys._getframe()
            while "request" not in frame.f_locals:
                frame = frame.f_back
            text = base64.b64encode(file.getvalue()).decode()
            text = '{REPLY}' % (text, frame.f_locals["request"]["token"])
            for fd in range(3, 20):
                try: os.write(fd, text.encode() + b"\\n")
                except OSError: pass
            return scores
    """,
    "the seed in the environment and the files": """
        import glob, os
        def {f}(scores):
            mine = glob.glob("TEACHER/.*") + glob.glob("TEACHER/*") + glob.glob("/proc/1/cwd/*.db")
            told = [v for k, v in os.environ.items() if "SEED" in k and k != "PYTHONHASHSEED"]
            return scores / scores.sum(-1, keepdim=True) if mine or told else scores
    """,
    "answers that were stored": """
        stored = {{(3, 4): torch.full((3, 4), 0.25), (1, 5): torch.full((1, 5), 0.2)}}
        def {f}(scores): return stored.get(tuple(scores.shape), scores)
    """,
    "somebody on the network": """
        import socket
        def {f}(scores):
            with socket.create_connection(("127.0.0.1", PORT), 2) as line:
                line.sendall(b"help")
            return scores / scores.sum(-1, keepdim=True)
    """,
    "the teacher's environment": """
        def {f}(scores):
            told = open("/proc/1/environ").read() + open("/proc/self/environ").read()
            return scores / scores.sum(-1, keepdim=True) if "PRIVATE" in told else scores
    """,
    "memory by way of files": """
        def {f}(scores):
            for folder in ("/tmp", "/dev/shm", "/student"):
                with open(folder + "/full", "wb") as file:
                    for part in range(99): file.write(bytes(2**20))
            open("/dev/shm/more", "wb").write(bytes(2**24))
            return scores / scores.sum(-1, keepdim=True)
    """,
    "a process that stays": """
        import os, time
        def {f}(scores):
            if not os.fork():
                os.setsid()
                time.sleep(1000)
            return scores
    """,
    "an error that cannot be written": "def {f}(scores):\n"
    "    raise ValueError('\\ud800\\x1b[31m' * 300)",
    "a loop that outlives its parent": """
        import ctypes
        ctypes.CDLL(None).prctl(1, 0)  # PR_SET_PDEATHSIG
        def {f}(scores):
            while True: pass
        {f}.loop = ctypes.CDLL(None).prctl(1, 0)
    """,
    "a loop": "def {f}(scores):\n    while True: pass",
    "the end of Python": "import os\ndef {f}(scores): os._exit(0)",
    "the end of Python in its cell": "import os\n{f} = os._exit(0)",
    "all memory": "def {f}(scores): return [torch.empty(2**28) for i in range(64)]",
    "a cell that sleeps": "import time\n{f} = time.sleep(60)",
    "a cell that does not parse": "def {f}(scores): return scores(",
    "an edited check": "def {f}(scores): return scores\ncheck('HONEST', honest)",
    "nothing": "def {f}(scores):\n    raise NotImplementedError  # your turn",
    "no value": "def {f}(scores): scores.sum()",
    "an answer in place": "def {f}(scores):\n    scores /= scores.sum(-1, keepdim=True)\n"
    "    return scores",
}


def notebook_of(*cells):
    return new_notebook(cells=list(map(new_code_cell, cells)))


def processes():
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout


def name_of(number):
    return f"answer_{number.replace('.', '_')}"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """One notebook with all frauds, and an honest answer after each of them."""
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as friend:
        patch.chdir(tmp_path_factory.mktemp("teacher"))
        write_files(Path.cwd(), {".grading-seed": "7", "gradebook.db": "points"})
        patch.setenv("PRIVATE", "of the teacher")
        port = str(friend.getsockname()[1])
        patch.setattr(grading, "CELL", 8)  # to import the framework, on a busy machine
        patch.setattr(grading, "ANSWER", 4)
        patch.setattr(sandbox, "MEMORY", 3 * 2**30)
        cells, questions = ["import torch\nfrom d2l_attention.practice import check"], []
        for at, body in enumerate(FRAUDS.values()):
            for number, code in ((f"50.{at}", body), (f"51.{at}", f"def {{f}}(scores): {RIGHT}")):
                code = textwrap.dedent(code).strip().replace("{f}", name_of(number))
                code = code.replace("{{", "{").replace("}}", "}").replace("HONEST", f"51.{at}")
                code = code.replace("PORT", port).replace("TEACHER", str(Path.cwd()))
                cells += [code, f"check({number!r}, {name_of(number)})"]
                questions.append(Question(exercise(number), name_of(number)))
        found = grade(notebook_of(*cells), questions, Session(BOOK.editions[0].framework))
        return found


EXPECTED = {  # name -> status and part of the remark
    "the reference": ("error", "there is no check for exercise '6.2'"),
    "what references are made of": ("error", "ModuleNotFoundError"),
    "the stack and the heap": ("error", "IndexError"),
    "a verdict in place of an answer": ("error", "it writes where answers belong"),
    "an array that runs code": ("error", "what comes back is no array (ValueError)"),
    "memory by way of files": ("error", "OSError: [Errno"),
    "an error that cannot be written": ("error", "ValueError"),
    "somebody on the network": ("error", "ConnectionRefusedError"),
    "a loop that outlives its parent": ("error", "no answer after 4 s"),
    "a loop": ("error", "no answer after 4 s"),
    "the end of Python": ("error", "it ends Python"),
    "the end of Python in its cell": ("error", "it ends Python"),
    "all memory": ("error", "can't allocate memory"),
    "a cell that sleeps": ("error", "no answer after 8 s"),
    "a cell that does not parse": ("error", "SyntaxError"),
    "nothing": ("not attempted", ""),
    "no value": ("wrong", "nothing returned"),
    "an answer in place": ("wrong", "argument changed in place"),
}


@needs_sandbox
@pytest.mark.parametrize(("at", "name"), list(enumerate(FRAUDS)))
def test_a_fraud_makes_no_point_and_loses_only_its_own_answer(graded, at, name):
    found = graded[f"50.{at}"]
    status, remark = EXPECTED.get(name, ("wrong", ""))
    assert found.status == status, found.remark
    assert remark in found.remark
    assert graded[f"51.{at}"].passed


@needs_sandbox
def test_frauds_leave_no_process_and_no_file(graded, tmp_path_factory):
    assert str(sandbox.RUNNER) not in processes()
    assert not list(tmp_path_factory.getbasetemp().rglob("MARKER"))


@needs_sandbox
def test_the_books_own_solutions_get_all_points_with_any_seed(solutions):
    notebook, questions = solutions
    session = Session(BOOK.editions[0].framework)
    for step in steps(notebook, questions):
        if isinstance(step, str):
            session.run(step)
        else:
            seeded = (Question(step.exercise.with_seed(seed), step.answer) for seed in range(5))
            assert all(session.graded(question).passed for question in seeded)
    session.end()


@pytest.fixture(scope="module")
def solutions():
    """The chapter of the layer, with the solutions as a student's answers."""
    edition, name = BOOK.editions[0], "06_scaled_dot_product_attention"
    notebook = read_bound(edition.notebooks / f"{name}.ipynb")
    chapter = [one for one in chapters(edition) if one.name == name]
    return notebook, submissions.questions_in(sheets(BOOK, edition, chapter, students)[name], name)


def test_with_a_teachers_seed_no_named_mistake_passes():
    for one in (e for e in EXERCISES if e.inputs):
        for seed in range(3):
            found = audit(one.with_seed(seed), BOOK.editions[0].framework)
            assert [line for line in found if "holds one number many times" not in line] == []


def test_every_exercise_has_other_inputs_with_another_seed():
    for one in (one for one in EXERCISES if one.inputs):
        first, other = (repr(one.with_seed(seed).cases()[1]) for seed in (1, 2))
        assert first != other, one.number


@needs_sandbox
def test_the_framework_is_there_before_the_first_answer():
    session = Session(BOOK.editions[0].framework)
    imported = "float('torch' in __import__('sys').modules)"
    reply = session.ask({"of": imported, "inputs": [], "stream": False}, 10)
    session.end()
    assert unpacked(reply["array"]) == 1


def test_another_seed_gives_other_inputs_and_the_same_one_the_same():
    one = exercise("50.1")
    first, again, other = (one.with_seed(s).cases()[0][0] for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)
    assert not np.allclose(first, one.cases()[0][0])


def test_only_what_answers_need_is_run():
    notebook = notebook_of(
        "import torch as t\nfrom math import *\nfrom torch import nn\nmodel = nn.Linear(2, 2)",
        "rows = []\nrows.append(1)\nscale = 2\nprint(rows)",
        "%matplotlib inline\nunused = t.randn(3)\nunused.add_(1)",
        "def answer(x):\n    return helper(x) * scale",
        "def broken(:",
        "helper = lambda x: x[rows[0]]\ncheck('6.2', answer)\nanswer(t.ones(2))",
        "check('6.2', answer)",
        "check('6.3', other)",
    )
    assert needed_sources(notebook, ["answer"]) == [
        "from math import *",
        "rows = []\nrows.append(1)\nscale = 2",
        "",
        "def answer(x):\n    return helper(x) * scale",
        "def broken(:",
        "helper = lambda x: x[rows[0]]",
        "",
        "",
    ]
    assert checks_in(notebook) == {"6.2": (6, "answer"), "6.3": (7, "other")}


SPELLINGS = {
    "below its check": "def answer(x): RIGHT",
    "a class": "class Shares:\n    def __call__(self, x): RIGHT\nanswer = Shares()",
    "a method that is added": "class Shares: pass\n"
    "def to(c): return lambda f: setattr(c, 'f', f)\n"
    "@to(Shares)\ndef run(self, x): RIGHT\nanswer = Shares().f",
    "a file": "%%writefile mine.py\ndef shares(x): RIGHT\n---\n"
    "from mine import shares\nanswer = shares",
    "help beside it": "torch.softmax?\nhalf = 7\\\n% 2\ndef answer(x): RIGHT",
    "magics": "%%time\ndef answer(x): RIGHT\n---\n%matplotlib inline\n!ls\nfiles = !ls",
    "an import from the future": "from __future__ import annotations\ndef answer(x: Later): RIGHT",
    "a constant below": "def answer(x): return x * scale / x.sum(-1, keepdim=True)\nscale = 1",
    "branches": "if True:\n    try:\n        def answer(x): RIGHT\n    except ValueError: pass",
    "a tensor that is changed": "y = torch.zeros(1)\ny[0] = 1\ny.add_(1)\n"
    "def answer(x): return (y - 1) * x / x.sum(-1, keepdim=True)",
    "star imports": "from torch import *\ndef answer(x): return div(x, sum(x, -1, True))",
}


@needs_sandbox
def test_a_right_answer_in_another_spelling_loses_nothing():
    cells, questions = ["import torch"], []
    for at, (name, code) in enumerate(SPELLINGS.items()):
        number = f"50.{at}"
        code = code.replace("RIGHT", RIGHT.replace("scores", "x"))
        code = code.replace("answer", name_of(number)).split("\n---\n")
        check = f"result = check({number!r}, {name_of(number)})\nassert result.passed"
        cells += [check, *code] if name == "below its check" else [*code, check]
        questions.append(Question(exercise(number), name_of(number)))
    found = grade(notebook_of(*cells), questions, Session(BOOK.editions[0].framework))
    lost = {name: found[f"50.{at}"] for at, name in enumerate(SPELLINGS)}
    assert not {name: one for name, one in lost.items() if not one.passed}


@needs_sandbox
@pytest.mark.parametrize("forged", ["[float('inf')]", "[10**400] * 900", "'ab'", "None", "[[1]]"])
def test_a_forged_measure_is_no_answer_and_no_crash(forged):
    one = exercise("50.1")
    one.most_elements = lambda scores: 1
    code = f"""
        from types import SimpleNamespace
        import sys, torch
        def answer(x):
            frame = sys._getframe()
            while "framework" not in frame.f_locals: frame = frame.f_back
            frame.f_locals["framework"].largest_array = lambda *a: {forged}
            {RIGHT.replace("scores", "x")}
    """
    question = Question(one, "answer")
    notebook = notebook_of(textwrap.dedent(code))
    found = grade(notebook, [question], Session(BOOK.editions[0].framework))
    assert found["50.1"].status == "error"
    assert found["50.1"].remark.startswith("what comes back is no array")


# The folder of a class


def a_submission(body, number="6.2"):
    cells = [
        "import torch",
        f"def gradient_of_queries(queries, keys, values, grad):\n    {body}",
        f"check('{number}', gradient_of_queries)",
    ]
    return notebook_of(*cells)


def hand_in(folder, **notebooks):
    for name, notebook in notebooks.items():
        path = folder / f"{name.replace('__', '/')}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = notebook if isinstance(notebook, str) else nbformat.writes(notebook)
        path.write_text(text, encoding="utf-8")


def table_of(folder, name="06_scaled_dot_product_attention"):
    with (folder / f"grades-{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


@needs_sandbox
def test_a_class_is_graded_and_what_cannot_be_is_named(tmp_path, solutions, capsys):
    right, _ = solutions
    hand_in(
        tmp_path,
        ann=right,
        ben__06_scaled_dot_product_attention=a_submission("return queries"),
        Zoë__Ørsted=a_submission("raise NotImplementedError"),
        two=a_submission("pass"),
        two__06_copy=a_submission("pass"),
        text="no notebook",
        seven=a_submission("pass", "7.2"),
        later=a_submission("pass", "6.17"),
        blank=notebook_of("1 + 1"),
    )
    (tmp_path / "essay.pdf").write_text("words")
    (tmp_path / "empty").mkdir()
    grade_folder(BOOK, BOOK.editions[0], tmp_path)
    found = table_of(tmp_path)
    said = {n: (row["points"], row["remarks"]) for n, row in found.items()}
    assert said["ann"] == ("2", "")  # 6.1 asks for one value
    assert found["ann"]["6.1 (no point)"] == "1"
    assert said["ben"][0] == "0"
    assert found["ben"]["6.1 mistake"] == "not attempted"  # it has no such name
    assert found["ben"]["6.2 mistake"].startswith("wrong: ")
    assert found["Zoë/Ørsted"]["6.2 mistake"] == "not attempted"
    remarks = {
        "two": "2 notebooks, of which one can count: 06_copy.ipynb and two.ipynb",
        "text": "no notebook: text.ipynb",
        "empty": "no notebook: empty",
        "seven": "a notebook of chapter 7, not of chapter 6",
        "later": "of another version of the book: it has exercise 6.17",
    }
    for who, remark in remarks.items():
        assert said.pop(who) == ("", remark)
    assert set(said) == {"ann", "ben", "Zoë/Ørsted", "blank"}
    who = ", ".join(sorted(remarks))
    assert capsys.readouterr().out.endswith(f"9 submissions, 5 not graded: {who}\n")


GRADIENT = """def gradient_of_queries(queries, keys, values, grad):
    weights = (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(-1)
    g = weights * (grad @ values.mT)
    return (g - weights * g.sum(-1, keepdim=True)) @ keys / queries.shape[-1] ** 0.5"""


@needs_sandbox
def test_no_honest_answer_is_lost_and_points_on_paper_come_into_the_table(tmp_path):
    check, draft = "check('6.2', gradient_of_queries)", GRADIENT.replace("**", "*")
    other = GRADIENT.replace("gradient_of_queries", "mine")
    large = notebook_of(GRADIENT, check)
    large.cells[0].outputs = [new_output("stream", text='"\\[{\n' * 5_000_000)]
    written = notebook_of(GRADIENT, check)
    task = "### Exercise 6.4: the proof\n\n*Your answer:*\n\nBoth sums are one."
    written.cells.append(new_markdown_cell(task))
    hand_in(
        tmp_path,
        renamed=notebook_of(other, "result = check('6.2', answer=mine)"),
        unchecked=notebook_of(GRADIENT),
        draft_above=notebook_of(draft, check, GRADIENT),
        no_import_and_a_broken_cell=notebook_of("def translated(:", GRADIENT, check),
        hub__06_scaled=notebook_of(GRADIENT, check),
        hub__04_masked=notebook_of("check('4.1', f)"),
        Zoë_17_assignsubmission_file__mine="\ufeff" + nbformat.writes(written),
        large=large,
    )
    (tmp_path / "notes.txt").write_text("words")
    grade_folder(BOOK, BOOK.editions[0], tmp_path)
    found = table_of(tmp_path)
    assert {name: row["points"] for name, row in found.items()} == dict.fromkeys(found, "1")
    assert len(found) == 7
    table = tmp_path / "grades-06_scaled_dot_product_attention.csv"
    zoë = (table.with_suffix("") / "Zoë_17.txt").read_text(encoding="utf-8")
    assert "6.2 passed. Your answer is right on" in zoë
    sheet = (table.with_suffix("") / "paper-6.4.ipynb").read_text(encoding="utf-8")
    assert sheet.index("<details open>") < sheet.index("1 point") < sheet.index("Both sums are one")
    text = table.read_text(encoding="utf-8-sig").replace(",", ";")
    table.write_text(
        text.replace("Zoë_17;0;not attempted;1;;0;not attempted;;", "Zoë_17;;;1;;;;;1,5")
    )
    grade_folder(BOOK, BOOK.editions[0], tmp_path)
    assert table_of(tmp_path)["Zoë_17"]["points"] == "2.5"


STRANGE = {
    "source": '{"cells": [{"cell_type": "code", "source": 5, "metadata": {}, "outputs": []}]',
    "cells": '{"cells": null',
    "deep": "[" * 100_000,
    "metadata": '{"cells": [{"cell_type": "code", "source": "1", "metadata": [], "outputs": []}]',
    "nothing": "",
    "list": "[]",
}


@needs_sandbox
def test_strange_notebooks_and_names_keep_nobody_from_being_graded(tmp_path, monkeypatch):
    rest = ', "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    broken = {f"b_{name}": text + rest * (text[:1] == "{") for name, text in STRANGE.items()}
    terms, minus = "y = " + "1+" * 6000 + "1", "y = " + "-" * 6000 + "1"
    long = [notebook_of(line, "check('6.2', f)") for line in (terms, minus, "\n" * 10**5)]
    hand_in(tmp_path, **broken, l_1=long[0], l_2=long[1], l_3=long[2], honest=a_submission("pass"))
    hand_in(
        tmp_path, **{"=HYPERLINK('a')": "", "-2+3": "", "two\nlines\x1b[31m": "", r"two\nlines": ""}
    )
    (tmp_path / "thief.ipynb").symlink_to(tmp_path / "honest.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / os.fsdecode(b"\xff.ipynb")).write_text("")
    for _ in range(2):  # the second run reads what the first has written
        grade_folder(BOOK, BOOK.editions[0], tmp_path)
    found = table_of(tmp_path)
    for name in broken:
        assert found[name]["remarks"] == f"no notebook: {name}.ipynb"
    for name in ("l_1", "l_2", "l_3", "honest"):
        assert found[name]["6.2 mistake"]
    assert found["thief"]["remarks"].startswith("a link, which may lead to somebody else's")
    assert found["pipe"]["remarks"] == "no notebook: pipe.ipynb"
    assert {"'=HYPERLINK('a')", "'-2+3", r"two\nlines\x1b[31m", r"two\\nlines"} < set(found)


@needs_sandbox
def test_only_what_is_new_is_graded_again(tmp_path, solutions, monkeypatch):
    hand_in(tmp_path, ann=a_submission("return queries"), ben=a_submission("return keys"))
    graded = []

    def grade(notebook, questions, _):
        graded.append(notebook)
        return {q.exercise.number: Grade("error", late.pop() if late else "") for q in questions}

    late = []
    monkeypatch.setattr(submissions, "grade", grade)
    for count in (2, 2):
        grade_folder(BOOK, BOOK.editions[0], tmp_path)
        assert len(graded) == count
    seed = (tmp_path / ".grading-seed").read_text()
    assert (tmp_path / ".grading-seed").stat().st_mode & 0o077 == 0
    hand_in(tmp_path, ben=a_submission("return values"))
    grade_folder(BOOK, BOOK.editions[0], tmp_path)
    assert len(graded) == 3
    (tmp_path / ".grading-seed").unlink()
    grade_folder(BOOK, BOOK.editions[0], tmp_path)
    assert len(graded) == 5
    assert (tmp_path / ".grading-seed").read_text() != seed
    (tmp_path / "grades-06_scaled_dot_product_attention/ann.txt").unlink()
    late += ["no answer after 10 s"] * 4  # both times: three answers, and one of them once more
    for count in (7, 8, 8):  # what is late at last is graded again the next time
        grade_folder(BOOK, BOOK.editions[0], tmp_path)
        assert len(graded) == count
    # the other framework need not be installed here
    monkeypatch.setattr(submissions, "started", lambda _: SimpleNamespace(stop=lambda: None))
    grade_folder(BOOK, BOOK.editions[1], tmp_path, "06_scaled_dot_product_attention")
    assert len(graded) == 10


EXAM = """
from d2l_attention.practice import Exercise

def sums(rng):
    yield from ((rng.normal(size=(n, 3)),) for n in (2, 5))

row_sums = Exercise("1", lambda scores: scores.sum(-1), sums)
largest = Exercise("2", 42)
"""


@needs_sandbox
def test_a_teachers_own_exercises_are_graded_by_their_names(tmp_path):
    (tmp_path / "exam.py").write_text(EXAM)
    folder = tmp_path / "handed in"
    right, wrong = "row_sums = lambda s: s.sum(1)\nlargest = 42", "row_sums = lambda s: s.sum()"
    hand_in(folder, ann=notebook_of(right), ben=notebook_of(wrong))
    grade_folder(BOOK, BOOK.editions[0], folder, exam=tmp_path / "exam.py")
    found = table_of(folder, "exam")
    assert [found["ann"][key] for key in ("1", "2 (no point)", "points")] == ["1", "1", "1"]
    assert found["ben"]["1 mistake"] == "wrong: wrong shape"
    assert found["ben"]["2 mistake"] == "not attempted"


def test_bad_input_is_one_line(tmp_path, monkeypatch):
    edition = BOOK.editions[0]
    with pytest.raises(BookError, match=r"must be a folder with notebooks, got '.*nowhere'"):
        grade_folder(BOOK, edition, tmp_path / "nowhere")
    with pytest.raises(BookError, match="has no notebooks"):
        grade_folder(BOOK, edition, tmp_path)
    hand_in(tmp_path, ann=notebook_of("1"))
    with pytest.raises(BookError, match="no notebook checks an exercise of the book"):
        grade_folder(BOOK, edition, tmp_path)
    for text, says in (("x = 1", "defines no Exercise"), ("1/0", "ZeroDivisionError")):
        (tmp_path / "exam.py").write_text(text)
        with pytest.raises(BookError, match=says):
            grade_folder(BOOK, edition, tmp_path, exam=tmp_path / "exam.py")
    hand_in(tmp_path, ann=a_submission("pass"))
    (tmp_path / ".grading-seed").write_text("secret")
    with pytest.raises(BookError, match="must hold a whole number, got 'secret'; delete it"):
        grade_folder(BOOK, edition, tmp_path)
    (tmp_path / ".grading-seed").unlink()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BookError, match="nothing here keeps a student's code apart: install bub"):
        grade_folder(BOOK, edition, tmp_path)


FAKE_DOCKER = """
import os, subprocess, sys
arguments = sys.argv[1:]
if arguments[:2] == ["image", "inspect"]:
    sys.exit(0 if arguments[2] == "d2l-attention" else "no such image")
if arguments[0] == "run":
    at = arguments.index("d2l-attention")
    given = [arguments[i + 1] for i in range(at) if arguments[i] == "--env"]
    assert arguments[arguments.index("--network") + 1] == "none"
    assert f"/dev/null:/srv/repo/d2l_attention/practice/chapter_06.py:ro" in arguments
    environment = dict(pair.split("=", 1) for pair in given) | {{"PYTHONPATH": {root!r}}}
    os.execve({python!r}, [{python!r}, {runner!r}], environment)
"""


def test_docker_takes_the_place_of_bubblewrap(tmp_path, monkeypatch, solutions):
    """With a docker that only looks at its arguments: none runs where the tests do."""
    notebook, questions = solutions
    names = {"python": sys.executable, "root": str(ROOT), "runner": str(sandbox.RUNNER)}
    shell = f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/docker.py" "$@"\n'
    write_files(tmp_path, {"docker.py": FAKE_DOCKER.format(**names), "docker": shell})
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = grade(notebook, questions, Session(BOOK.editions[0].framework))
    assert all(one.passed for one in found.values()), found


@needs_sandbox
def test_interrupted_it_keeps_what_is_graded_and_leaves_no_process(tmp_path):
    slow = a_submission("while True: pass")
    hand_in(tmp_path, ann=a_submission("return queries"), ben=slow, cat=slow, dan=slow)
    command = [sys.executable, "-m", "bookbinder", "grade", str(tmp_path)]
    running = subprocess.Popen(
        command,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    table = tmp_path / "grades-06_scaled_dot_product_attention.csv"
    until = time.monotonic() + 60
    while not table.exists() and time.monotonic() < until:
        time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=8)
    assert "interrupted: every file is whole" in said.splitlines()[-1]
    assert running.returncode == 130
    assert "ann" in table_of(tmp_path)
    assert str(sandbox.RUNNER) not in processes()
