"""nbgrader takes the assignments as they are, and its configuration knows its own list."""

import copy
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader import nbgraderformat
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from traitlets.config import PyFileConfigLoader

from bookbinder.answers import YOURS
from bookbinder.chapters import tags_of
from bookbinder.classroom.sandbox import bubblewrap_works
from bookbinder.config import read_book
from bookbinder.solutions import read_bound

ROOT = Path(__file__).resolve().parent.parent
BOOK = read_book(ROOT)
SIX, FIFTEEN = "06_scaled_dot_product_attention", "15_coming_from_d2l"
POINTS = {SIX: (2, 6), FIFTEEN: (0, 4)}  # of its checks, and on paper


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The folder of a course, with two assignments released."""
    command = [sys.executable, "-m", "bookbinder", "worksheets", "--nbgrader"]
    subprocess.run(command, cwd=ROOT, check=True)
    folder = tmp_path_factory.mktemp("course") / "attention"
    shutil.copytree(ROOT / "_build/nbgrader/pytorch", folder)
    for name in POINTS:
        nbgrader(folder, "generate_assignment", name)
    return folder


def nbgrader(course, *arguments):
    """Run a command of nbgrader, which looks for its helpers on the path, as in a shell."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        env=os.environ | {"PATH": path, "HOME": str(course.parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("name", POINTS)
def test_a_released_assignment_is_valid_and_shows_its_pictures(course, name):
    source = nbgraderformat.read(course / f"source/{name}/{name}.ipynb", as_version=4)
    released = nbgraderformat.read(course / f"release/{name}/{name}.ipynb", as_version=4)
    assert [cell.source for cell in released.cells] == [cell.source for cell in source.cells]
    for folder in ("source", "release"):
        shown = {f"figures/{path.name}" for path in (course / folder / name).glob("figures/*")}
        assert shown == {
            word.split(")")[0]
            for cell in source.cells
            for word in cell.source.split("](")
            if word.startswith("figures/")
        }


@pytest.mark.parametrize("name", POINTS)
def test_the_gradebook_has_the_points(course, name):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        found = book.find_assignment(name)
        assert (found.max_code_score, found.max_written_score) == POINTS[name]


def test_the_configuration_replaces_the_execution_and_nothing_else(course):
    loaded = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    steps = loaded.Autograde.autograde_preprocessors
    usual = [step.__name__ for step in Autograde().autograde_preprocessors]
    usual[usual.index("Execute")] = "GradeOutside"
    assert [step.rpartition(".")[2] for step in steps] == usual


SAID = re.compile(r"6\.\d (?:passed|wrong|error|not attempted)\.")
FRAUD = """
from d2l_attention.practice import checking
checking.examine = lambda *a, **k: None
def check(number, answer): print(number, "passed.")
"""


@pytest.fixture(scope="module")
def graded(course):
    """Three students: all right, a fraud, and nothing done; graded, with feedback."""
    right = nbformat.read(course / f"release/{SIX}/{SIX}.ipynb", as_version=4)
    fraud, nothing = copy.deepcopy(right), copy.deepcopy(right)
    solved = read_bound(BOOK.editions[0].notebooks / f"{SIX}.ipynb").cells
    for number, name in (("6.1", "three_weights"), ("6.2", "gradient_of_queries")):
        (task,) = [c for c in right.cells if YOURS in c.source and name in c.source]
        at = [bool("solution" in tags_of(c) and name in c.source) for c in solved].index(True)
        task.source = solved[at].source
        (check,) = [c for c in fraud.cells if c.source.startswith(f'check("{number}"')]
        check.source = f"{FRAUD}check({number!r}, print)"
    for student, notebook in {"ann": right, "ben": fraud, "cat": nothing}.items():
        path = course / f"submitted/{student}/{SIX}/{SIX}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
    nbgrader(course, "autograde", SIX)
    nbgrader(course, "generate_feedback", SIX)
    return course


@pytest.mark.skipif(not bubblewrap_works(), reason="there is no bubblewrap, or it is not allowed")
def test_students_get_the_points_of_their_answers_and_are_told_why(graded):
    said = {}
    with Gradebook(f"sqlite:///{graded / 'gradebook.db'}") as book:
        for student in ("ann", "ben", "cat"):
            found = book.find_submission(SIX, student)
            page = (graded / f"feedback/{student}/{SIX}/{SIX}.html").read_text(encoding="utf-8")
            said[student] = (
                found.code_score,
                set(re.findall(r"6\.\d (?:passed|wrong|error|not attempted)\.", page)),
            )
    assert said["ann"] == (1, {"6.1 passed.", "6.2 passed.", "6.3 not attempted."})
    nothing = {f"6.{n} not attempted." for n in (1, 2, 3)}
    assert said["ben"] == said["cat"] == (0, nothing)
    assert (graded / ".grading-seed").exists()
