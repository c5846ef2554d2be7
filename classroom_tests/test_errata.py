"""Worksheets by nbgitpuller: what a teacher mends reaches students, and their answers stay."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

SIX, SEVEN = "06_scaled_dot_product_attention.ipynb", "07_additive_attention.ipynb"
MISTAKE, MENDED = "a vale of dimension", "a value of dimension"


@dataclass
class Course:
    """A teacher's repository, and the folder to which a student's link brings it."""

    teacher: Path
    remote: str
    student: Path

    def publish(self, what: str) -> None:
        for command in (["add", "--all"], ["commit", "-m", what], ["push", "origin", "main"]):
            subprocess.run(["git", *command], cwd=self.teacher, check=True, capture_output=True)

    def follow_the_link(self) -> None:
        pull = [sys.executable, "-m", "nbgitpuller.pull", self.remote, "main", str(self.student)]
        subprocess.run(pull, check=True, capture_output=True)


@pytest.fixture
def course(worksheets, tmp_path, monkeypatch):
    """A course whose worksheet of chapter 6 has a misprint, and a student who has it."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A Teacher")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "teacher@example.org")
    bare, teacher = tmp_path / "course.git", tmp_path / "teacher"
    for command in (["init", "--bare", "-b", "main", bare], ["clone", bare, teacher]):
        subprocess.run(["git", *command], check=True, capture_output=True)
    course = Course(teacher, bare.as_uri(), tmp_path / "student")
    sheet = nbformat.read(worksheets / SIX, as_version=4)
    sheet.cells.insert(2, nbformat.v4.new_markdown_cell(f"Each key has\n{MISTAKE} 4.", id="text"))
    nbformat.write(sheet, teacher / SIX)
    course.publish("session 5")
    course.follow_the_link()
    return course


def cell(folder, which):
    """Return the sheet of chapter 6 in a folder, and of its cells the one with this text or id."""
    sheet = nbformat.read(folder / SIX, as_version=4)
    return sheet, next(c for c in sheet.cells if which in (c.id, *c.source.splitlines()))


def write(folder, which, text, **more):
    sheet, found = cell(folder, which)
    found.source = text
    found.update(more)
    nbformat.write(sheet, folder / SIX)
    return found.id


def answered(course):
    """Let the student answer in code, run it, and answer on paper; return both cells' ids."""
    sheet = nbformat.read(course.student / SIX, as_version=4)
    task = next(c for c in sheet.cells if c.cell_type == "code" and "your turn" in c.source)
    output = nbformat.v4.new_output("stream", text="as I see it: 42\n")
    code = write(course.student, task.id, "print('as I see it:', 42)", outputs=[output])
    paper = next(
        c for c in sheet.cells if c.cell_type == "markdown" and "*Your answer:*" in c.source
    )
    return code, write(course.student, paper.id, f"{paper.source}\nBecause of symmetry.")


def test_an_erratum_and_a_new_chapter_arrive_and_answers_with_outputs_stay(course, worksheets):
    code, paper = answered(course)
    write(course.teacher, "text", f"Each key has\n{MENDED} 4.")
    shutil.copy(worksheets / SEVEN, course.teacher)
    course.publish("an erratum, and session 6")
    course.follow_the_link()
    sheet, mended = cell(course.student, "text")
    nbformat.validate(sheet)
    assert mended.source == f"Each key has\n{MENDED} 4."
    assert cell(course.student, code)[1].source == "print('as I see it:', 42)"
    assert cell(course.student, code)[1].outputs[0].text == "as I see it: 42\n"
    assert cell(course.student, paper)[1].source.endswith("Because of symmetry.")
    assert (course.student / SEVEN).read_bytes() == (worksheets / SEVEN).read_bytes()


def test_a_line_that_both_have_changed_stays_the_students_and_nobody_is_told(course):
    write(course.student, "text", f"Each key has\n{MISTAKE} 4. Or 5?")
    write(course.teacher, "text", f"Every key has\n{MENDED} 4.")
    course.publish("an erratum")
    course.follow_the_link()
    assert cell(course.student, "text")[1].source == f"Each key has\n{MISTAKE} 4. Or 5?"


def test_a_sheet_that_a_student_renames_comes_again_as_the_teacher_has_it(course):
    answered(course)
    (course.student / SIX).rename(course.student / "my six.ipynb")
    course.follow_the_link()
    assert (course.student / SIX).read_bytes() == (course.teacher / SIX).read_bytes()
    assert "as I see it" in (course.student / "my six.ipynb").read_text()
