"""Grade for nbgrader, in place of its own step that trusts what runs in the student's process."""

import ast
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade
from traitlets import Unicode

from bookbinder.answers import call_in
from bookbinder.classroom.grading import Grade, Question, Session, grade
from bookbinder.classroom.submissions import private_seed
from d2l_attention.practice.exercises import find


class GradeOutside(NbGraderPreprocessor):
    """Write into each graded check what is right or wrong with its answer.

    nbgrader has restored these cells before, gives full points where nothing is an error, and
    brings their outputs back to students as feedback.
    """

    framework = Unicode(help="whose edition the course uses").tag(config=True)
    folder = Unicode(".", help="of the course; the seed of the inputs stays there").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        seed = private_seed(Path(self.folder))
        graded = [cell for cell in nb.cells if cell.cell_type == "code" and is_grade(cell)]
        questions = []
        for cell in graded:
            number, answer = call_in(cell).args
            questions.append(Question(find(number.value).with_seed(seed), ast.unparse(answer)))
        found = grade(nb, questions, Session(self.framework))
        for cell, question in zip(graded, questions, strict=True):
            number = question.exercise.number
            cell.outputs, cell.execution_count = [shown(number, found[number])], 1
        return nb, resources


def shown(number: str, found: Grade) -> NotebookNode:
    said = " ".join(f"{number} {found.status}. {found.message}".split())
    if found.passed:
        return new_output("stream", name="stdout", text=said)
    return new_output("error", ename=found.status, evalue=found.remark, traceback=[said])
