"""Grading: no fraud makes a point, no right answer loses one, and each loses only its own."""

import csv
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import nbformat
import numpy as np
import pytest
from conftest import ROOT, write_files
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from this_book import BOOK

from bookbinder.classroom import grading, sandbox, submissions
from bookbinder.classroom.grading import Question, Session, grade
from bookbinder.classroom.inside import packed, unpacked
from bookbinder.classroom.needed import checks_in, needed_sources
from bookbinder.classroom.submissions import grade_folder
from bookbinder.errors import BookError
from bookbinder.solutions import read_bound
from d2l_attention.practice import Exercise, audit
from d2l_attention.practice.exercises import find
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
    "a loop": "def {f}(scores):\n    while True: pass",
    "the end of Python": "import os\ndef {f}(scores): os._exit(0)",
    "the end of Python in its cell": "import os\n{f} = os._exit(0)",
    "all memory": "def {f}(scores): return [torch.ones(2**28) for i in range(64)]",
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


def name_of(number):
    return f"answer_{number.replace('.', '_')}"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """One notebook with all frauds, and an honest answer after each of them."""
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as friend:
        patch.chdir(tmp_path_factory.mktemp("teacher"))
        write_files(Path.cwd(), {".grading-seed": "7", "gradebook.db": "points"})
        port = str(friend.getsockname()[1])
        patch.setattr(grading, "CELL", 3)
        patch.setattr(grading, "ANSWER", 3)
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
        assert not list(tmp_path_factory.getbasetemp().rglob("MARKER"))
        return found


EXPECTED = {  # name -> status and part of the remark
    "the reference": ("error", "there is no check for exercise '6.2'"),
    "the stack and the heap": ("error", "IndexError"),
    "a verdict in place of an answer": ("error", "it writes where answers belong"),
    "an array that runs code": ("error", "what comes back is no array (ValueError)"),
    "somebody on the network": ("error", "ConnectionRefusedError"),
    "a loop": ("error", "no answer after 3 s"),
    "the end of Python": ("error", "it ends Python"),
    "the end of Python in its cell": ("error", "it ends Python"),
    "all memory": ("error", "can't allocate memory"),
    "a cell that sleeps": ("error", "no answer after 3 s"),
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
