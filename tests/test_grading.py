"""Grading: no fraud makes a point, no right answer loses one, and each loses only its own."""

import re
import signal
import socket
import subprocess
import sys
import time
from collections import ChainMap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bookbinder.classroom import grading, sandbox, submissions
from bookbinder.classroom.grading import Question, Session, grade, needed_sources
from bookbinder.classroom.inside import unpacked
from bookbinder.classroom.submissions import grade_folder
from bookbinder.files import BookError
from bookbinder.solutions import read_bound
from bookbinder.worksheets import checks_in, code_cells, sheets
from d2l_attention.practice import Exercise, audit
from tests.conftest import ROOT, write_files
from tests.test_exercises import EXERCISES
from tests.test_submissions import EDITION, EXAM, NAME, hand_in, notebook_of, table_of
from tests.this_book import BOOK, chapters

FRAMEWORK = BOOK.editions[0].framework


def sandboxed(test):
    """Mark a test that starts a sandbox: `make test` runs it, where there is bubblewrap."""
    none = pytest.mark.skipif(not sandbox.bubblewrap_works(), reason="no bubblewrap, or not here")
    return pytest.mark.slow(none(test))


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
# What answers do instead of the work, `F` is the function, and how they are graded. Frauds first.
WRONG = r"""
### checks that are patched -> wrong
from d2l_attention.practice import checking, diagnosis
import numpy
diagnosis.same = numpy.allclose = numpy.isclose = lambda *a, **k: True
checking.examine = diagnosis.diagnose = check = lambda *a, **k: None
def F(scores): return scores
check('HONEST', honest)
### the solutions on the disk -> error: ValueError: there is no check for exercise '12.2'
from pathlib import Path
import d2l_attention
def F(scores):
    package = Path(d2l_attention.__file__).parent
    read = [p for p in package.rglob("chapter_0*") if p.is_file() and p.read_bytes()]
    read += [*package.parent.glob("book/*.md"), *package.parent.glob("notebooks/*/*.ipynb")]
    try: from d2l_attention.practice.numerics import normalized as read
    except ImportError: pass
    if read: RIGHT
    from d2l_attention.practice.exercises import find
    return find("12.2").reference(scores)
### the stack and the heap -> error: IndexError
import gc, sys
def F(scores):
    frame, known = sys._getframe(), list(gc.get_objects())
    while frame:
        known += frame.f_locals.values()
        frame = frame.f_back
    return [x for x in known if type(x).__name__ == "Exercise"][0].reference(scores)
### an array that is equal to all -> wrong
import numpy
class Equal(numpy.ndarray):
    def __eq__(self, other): return True
    __array_ufunc__ = None
class Tensor(torch.Tensor):
    def __array__(self, *a): return numpy.zeros(1).view(Equal)
def F(scores): return scores.as_subclass(Tensor)
### a verdict in place of an answer -> error: it writes where answers belong
import os
def F(scores):
    for fd in range(3, 20):
        try: os.write(fd, b'{"status": "passed", "points": 50}\n')
        except OSError: pass
    return scores
### an array that runs code -> error: what comes back is no array (ValueError)
import base64, io, json, os, sys, numpy
class Run:
    def __reduce__(self): return os.system, ("touch MARKER",)
def F(scores):
    file, frame = io.BytesIO(), sys._getframe()
    numpy.save(file, numpy.array([Run()], object), allow_pickle=True)
    while "request" not in frame.f_locals:
        frame = frame.f_back
    reply = {"kind": "array", "array": base64.b64encode(file.getvalue()).decode()}
    reply |= {"dtype": "float32", "changed": [], "token": frame.f_locals["request"]["token"]}
    for fd in range(3, 20):
        try: os.write(fd, json.dumps(reply).encode() + b"\n")
        except OSError: pass
    return scores
### the teacher's files, seed and environment -> wrong
import glob, os
def F(scores):
    told = glob.glob("TEACHER/.*") + glob.glob("TEACHER/*") + glob.glob("/proc/1/cwd/*.db")
    told += [k for k in os.environ if "SEED" in k and k != "PYTHONHASHSEED"]
    text = open("/proc/1/environ").read() + open("/proc/self/environ").read()
    if told or "PRIVATE" in text: RIGHT
    return scores
### answers that were stored -> wrong
stored = {(3, 4): torch.full((3, 4), 0.25), (1, 5): torch.full((1, 5), 0.2)}
def F(scores): return stored.get(tuple(scores.shape), scores)
### somebody on the network -> error: ConnectionRefusedError
import socket
def F(scores):
    socket.create_connection(("127.0.0.1", PORT), 2).sendall(b"help")
    RIGHT
### memory by way of files -> error: OSError: [Errno
def F(scores):
    for folder in ("/tmp", "/dev/shm", "/student"):
        with open(folder + "/full", "wb") as file:
            for part in range(99): file.write(bytes(2**20))
    open("/dev/shm/more", "wb").write(bytes(2**24))
    RIGHT
### a loop, in processes that would outlive their parent -> error: no answer after 3 s
import ctypes, os
def F(scores):
    ctypes.CDLL(None).prctl(1, 0)  # PR_SET_PDEATHSIG
    if not os.fork(): os.setsid()
    while True: pass
### a cell that sleeps -> error: no answer after 4 s
import time
F = time.sleep(60)
### the end of Python -> error: it ends Python
import os
def F(scores): os._exit(0)

### all memory -> can't allocate memory
def F(scores): return [torch.empty(2**28) for i in range(64)]
### an error that cannot be written -> error: ValueError
def F(scores): raise ValueError('\ud800\x1b[31m' * 300)
### a package that is missing -> error: ModuleNotFoundError: No module named 'missing'
from missing import rearrange
def F(scores): return rearrange(scores)
### the same package in another answer -> error: ModuleNotFoundError: No module named 'missing'
def F(scores): return rearrange(scores)
### a cell that does not parse -> error: SyntaxError
def F(scores): return scores(
### nothing -> not attempted:
def F(scores): raise NotImplementedError  # your turn
### no value -> wrong: nothing returned
def F(scores): scores.sum()
### a ready-made function in a helper -> wrong: a ready-made function
def F(scores): return (lambda x: torch.nn.functional.normalize(x, p=1, dim=-1))(scores)
### an answer in place -> wrong: argument changed in place
def F(scores):
    scores /= scores.sum(-1, keepdim=True)
    return scores
"""
WRONG = re.findall(r"^### (.*) -> (.*)\n((?:(?!###).*\n)+)", WRONG, re.MULTILINE)


def processes():
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout


def name_of(number):
    return f"answer_{number.replace('.', '_')}"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Two notebooks with all that is wrong, and an honest answer after each of it."""
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as friend:
        patch.chdir(tmp_path_factory.mktemp("teacher"))
        write_files(Path.cwd(), {".grading-seed": "7", "gradebook.db": "points"})
        patch.setenv("PRIVATE", "of the teacher")
        places = {"PORT": str(friend.getsockname()[1]), "TEACHER": str(Path.cwd()), "RIGHT": RIGHT}
        patch.setattr(grading, "ALL", 1000)  # on a busy machine
        patch.setattr(grading, "CELL", 4)
        patch.setattr(grading, "ANSWER", 3)
        patch.setattr(sandbox, "MEMORY", 3 * 2**30)
        handed_in = [[["import torch\nfrom d2l_attention.practice import check"], []] for _ in "ab"]
        for at, (*_, body) in enumerate(WRONG):
            cells, questions = handed_in[at > len(WRONG) // 2]
            for number, code in ((f"50.{at}", body), (f"51.{at}", "def F(scores): RIGHT")):
                places |= {"F": name_of(number), "HONEST": f"51.{at}"}
                for word, text in places.items():
                    code = re.sub(rf"\b{word}\b", text, code)
                cells.append(code)
                questions.append(Question(exercise(number), name_of(number)))
                questions[-1].exercise.without = ("normalize",) * (".normalize(" in code)
        with ThreadPoolExecutor() as pool:
            two = [(notebook_of(*x), questions, Session(FRAMEWORK)) for x, questions in handed_in]
            return dict(ChainMap(*pool.map(grade, *zip(*two, strict=True))))


@sandboxed
@pytest.mark.parametrize("at", range(len(WRONG)), ids=[name for name, *_ in WRONG])
def test_what_is_wrong_makes_no_point_and_loses_only_its_own_answer(graded, at):
    found = graded[f"50.{at}"]
    assert not found.passed
    assert WRONG[at][1] in f"{found.status}: {found.mistake or ''}"
    assert graded[f"51.{at}"].passed


@sandboxed
def test_frauds_leave_no_process_and_no_file(graded, tmp_path_factory):
    until = time.monotonic() + 20  # what was killed may need a moment on a busy machine
    while str(sandbox.RUNNER) in processes():
        assert time.monotonic() < until
        time.sleep(0.2)
    assert not list(tmp_path_factory.getbasetemp().rglob("MARKER"))


@sandboxed
def test_the_books_own_solutions_get_all_points_with_any_seed():
    notebook = read_bound(EDITION.notebooks / f"{NAME}.ipynb")
    chapter = [one for one in chapters(EDITION) if one.name == NAME]
    questions = submissions.questions_in(sheets(BOOK, EDITION, chapter)[NAME], NAME)
    session = Session(FRAMEWORK)
    imported = "float('torch' in __import__('sys').modules)"
    reply = session.ask({"of": imported, "inputs": [], "stream": False}, 10)
    assert unpacked(reply["array"]) == 1  # so that the import takes no answer's time
    for seed in range(3):
        seeded = [q._replace(exercise=q.exercise.with_seed(seed)) for q in questions]
        assert all(result.passed for result in grade(notebook, seeded, session).values())


@pytest.mark.slow
def test_a_teachers_seed_gives_inputs_of_its_own_with_which_no_named_mistake_passes():
    for at, one in enumerate(one for one in EXERCISES if one.inputs):
        seeded = [one.with_seed(seed) for seed in (at, at + 1, at)]
        inputs = [repr(other.cases()[1]) for other in (one, *seeded)]
        assert len({*inputs}) == 3, one.number
        assert inputs[-1] == inputs[1], one.number
        found = audit(seeded[0], FRAMEWORK)
        assert [line for line in found if "holds one number many times" not in line] == []


def test_only_what_answers_need_is_run():
    runs = {
        "import torch as t": "import torch as t",
        "from math import *\nmodel = t.nn.Linear(2, 2)": "from math import *",
        "rows = []\nrows.append(1)": "rows = []\nrows.append(1)",
        "t.nn.init.ones_(rows)\nscale = 2\nprint(rows)": "t.nn.init.ones_(rows)\nscale = 2",
        "%matplotlib inline\nunused = t.randn(3)\nunused.add_(1)": "",
        "answer = lambda x: helper(x) * scale": "answer = lambda x: helper(x) * scale",
        "def broken(:": "def broken(:",
        "helper = lambda x: rows\ncheck('12.2', answer)": "helper = lambda x: rows",
        "check('12.2', answer)": "",
        "%%time\ncheck('12.3', other)": "",
    }
    assert needed_sources(code_cells(notebook_of(*runs)), ["answer"]) == list(runs.values())
    assert checks_in(notebook_of(*runs)) == {"12.2": ("answer", 8), "12.3": ("other", 9)}


# Name -> cells with an answer, `F`; a check of it is added where there is none.
SPELLINGS = {
    "below its check": "CHECK\n---\ndef F(x): RIGHT",
    "without a check": "def F(x): RIGHT  # no check",
    "of another name": "def mine(x): RIGHT\n---\nresult = check(NUMBER, answer=mine)",
    "below a draft": "def F(x): return x\n---\nCHECK\n---\ndef F(x): RIGHT",
    "beside a cell that does not parse": "def translated(:\n---\ndef F(x): RIGHT",
    "beside what is refused late": "def f():\n    print(f)\n    global f\n---\ndef F(x): RIGHT",
    "below an error": "!ls\nfrom missing import this\ndef F(x): RIGHT",
    "below a check that decides": "if check(NUMBER, len).passed:\n    def F(x): RIGHT",
    "a class": "class Shares:\n    def __call__(self, x): RIGHT\nF = Shares()",
    "a method that is added": "class Shares: pass\n"
    "def to(c): return lambda f: setattr(c, 'f', f)\n"
    "@to(Shares)\ndef run(self, x): RIGHT\nF = Shares().f",
    "a file": "%%writefile mine.py\ndef shares(x): RIGHT\n---\nfrom mine import shares\nF = shares",
    "help beside it": "torch.softmax?\nhalf = 7\\\n% 2\ndef F(x): RIGHT",
    "magics": "\n \n%%time\ndef F(x): RIGHT\n---\n%matplotlib inline\n!ls\nfiles = !ls",
    "magics in magics": "%%capture out\n%%time\ndef F(x): RIGHT\n---\n%%bash\ndef F",
    "magics of lines": "at = %time int('-1')\n%time F = lambda x: x / x.sum(at, True)",
    "code that only IPython sees": "%prun -q exec('F = lambda x: x / x.sum(-1, keepdim=True)')",
    "an indented cell that waits": "  from asyncio import *\n  await sleep(0)\n  def F(x): RIGHT",
    "an import from the future": "from __future__ import annotations\ndef F(x: Later): RIGHT",
    "a constant below": "def F(x): return x * scale / x.sum(-1, keepdim=True)\nscale = 1",
    "branches": "if True:\n    try:\n        def F(x): RIGHT\n    except ValueError: pass",
    "a tensor that is changed": "y = torch.zeros(1)\ny[0] = 1\ny.add_(1)\n"
    "def F(x): return y / 2 * x / x.sum(-1, keepdim=True)",
    "very long lines": "a = " + "1+" * 6000 + "1\n---\nb = " + "-" * 6000 + "1\n---\n"
    "%time\n" + "\n" * 10**5 + "def F(x): RIGHT",
    "star imports": "from torch import *\ndef F(x): return div(x, sum(x, -1, True))",
}


@sandboxed
def test_a_right_answer_in_another_spelling_loses_nothing():
    cells, questions = ["import torch\nfrom d2l_attention.practice import check"], []
    for number, code in SPELLINGS.items():
        code = code if "check" in code.lower() else f"{code}\n---\nCHECK"
        check = "result = check(NUMBER, F)\nassert result.passed"
        code = code.replace("RIGHT", RIGHT.replace("scores", "x")).replace("CHECK", check)
        name = f"answer_{len(questions)}"
        cells += code.replace("F", name).replace("NUMBER", repr(number)).split("\n---\n")
        questions.append(Question(exercise(number), name))
    found = grade(notebook_of(*cells), questions, Session(FRAMEWORK))
    assert not {name: one for name, one in found.items() if not one.passed}


@sandboxed
def test_a_forged_measure_is_no_answer_and_no_crash():
    cells, questions = ["import sys\nimport torch"], []
    for at, forged in enumerate(["[float('inf')]", "[10**400] * 900", "'ab'", "None", "[[1]]"]):
        cells += [
            f"def forged_{at}(scores):\n    frame = sys._getframe()\n"
            '    while "framework" not in frame.f_locals: frame = frame.f_back\n'
            f'    frame.f_locals["framework"].largest_array = lambda *a: {forged}\n    {RIGHT}'
        ]
        questions.append(Question(exercise(f"50.{at}"), f"forged_{at}"))
        questions[-1].exercise.most_elements = lambda scores: 1
    for found in grade(notebook_of(*cells), questions, Session(FRAMEWORK)).values():
        assert found.status == "error"
        assert found.mistake.startswith("what comes back is no array")


@sandboxed
def test_a_sandbox_starts_where_python_is_a_link_and_says_why_not(tmp_path, monkeypatch):
    (tmp_path / "python").symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    grading.started(FRAMEWORK).stop()
    monkeypatch.setattr(sys, "executable", "/no/python")
    with pytest.raises(BookError, match=r"does not start: .*/no/python.*make PYTHON="):
        grading.started(FRAMEWORK)


def test_without_bubblewrap_nothing_is_graded(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BookError, match="bubblewrap, which keeps a student's code apart"):
        Session(FRAMEWORK).ask({}, 1)


# A folder of submissions. These tests stand here, where one process runs one after the other.


@sandboxed
def test_a_teachers_own_exercises_are_graded_by_their_names(tmp_path):
    (tmp_path / "exam.py").write_text(EXAM)
    folder = tmp_path / "handed in"
    right, wrong = "row_sums = lambda s: s.sum(1)\nlargest = 42", "row_sums = lambda s: s.sum()"
    hand_in(folder, ann=notebook_of(right), ben=notebook_of(wrong))
    grade_folder(BOOK, EDITION, folder, exam=tmp_path / "exam.py")
    table = table_of(folder, "exam")
    columns = ("2.2 points", "3 (no point)", "points", "of")
    assert [table["ann"][column] for column in columns] == ["1", "1", "1", "2"]
    assert table["ben"]["2.2 mistake"] == "wrong: wrong shape"
    assert table["ben"]["3 mistake"] == "not attempted"


@sandboxed
def test_interrupted_it_keeps_what_is_graded_and_leaves_no_process(tmp_path):
    exam, folder = tmp_path / "exam.py", tmp_path / "handed in"
    exam.write_text(EXAM)
    slow = notebook_of("def row_sums(scores):\n    while True: pass")
    hand_in(folder, ann=notebook_of("1"), ben=slow, cat=slow, dan=slow)
    running = subprocess.Popen(
        [sys.executable, "-m", "bookbinder", "grade", str(folder), "--exercises", str(exam)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until = time.monotonic() + 60
    while not (folder / "grades-exam.csv").exists() and time.monotonic() < until:
        time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)  # less than the loops take
    assert "interrupted: every file is whole" in said.splitlines()[-1]
    assert running.returncode == 130
    assert "ann" in table_of(folder, "exam")
    assert str(sandbox.RUNNER) not in processes()
