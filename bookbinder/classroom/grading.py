"""Grade a notebook: its cells run in a sandbox, its answers are compared here.

A session goes through the notebook from top to bottom, runs the cells that answers need, and asks
at each check; a cell that ends or hangs the process is left out, and the session begins anew.
"""

import ast
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from nbformat import NotebookNode

from bookbinder.answers import CHECKS, python_of
from bookbinder.chapters import tags_of
from bookbinder.classroom.inside import packed, unpacked
from bookbinder.classroom.sandbox import Died, Sandbox
from bookbinder.worksheets import names_in
from d2l_attention.frameworks import to_numpy
from d2l_attention.practice.checking import examine
from d2l_attention.practice.exercises import Exercise, Stream

START, CELL, ANSWER, ALL = 120, 30, 10, 240  # seconds


@dataclass(frozen=True)
class Question:
    """An exercise, and the expression that is its answer in a notebook."""

    exercise: Exercise
    answer: str


@dataclass(frozen=True)
class Grade:
    """What an answer is: "passed", "wrong", "error" or "not attempted", and what is wrong."""

    status: str
    remark: str = ""

    @property
    def passed(self) -> bool:
        return self.status == "passed"


NOT_ATTEMPTED = Grade("not attempted")


class NoAnswer(Exception):
    """The student's code raises an error, ends or hangs."""


def grade(notebook: NotebookNode, questions: list[Question], framework: str) -> dict[str, Grade]:
    """Return number -> grade; a submission that ends or hangs loses that answer only."""
    session, found = Session(framework), {}
    try:
        for step in steps(notebook, questions):
            if isinstance(step, Question):
                found[step.exercise.number] = session.graded(step)
            else:
                session.run(step)
    finally:
        session.end()
    return {q.exercise.number: found[q.exercise.number] for q in questions}


def steps(notebook: NotebookNode, questions: list[Question]) -> list[str | Question]:
    """Return the cells that answers need, and each question where the notebook checks it, or last.

    A cell is needed if it binds a name that an answer or a needed cell uses; one that does not
    parse is kept, too, because its error tells why there is no answer.
    """
    cells = [c for c in notebook.cells if c.cell_type == "code"]
    by_number = {q.exercise.number: q for q in questions}
    asked = {n: at for at, cell in enumerate(cells) for n in checks_of(cell) if n in by_number}
    ways = [names_in(without_checks(c), "", may_be_broken=True) for c in cells]
    needed = {name for q in questions for name in names_of(q.answer)}
    kept: set[int] = set()
    while True:
        more = {at for at, (bound, _) in enumerate(ways) if bound & needed} - kept
        if not more:
            break
        kept |= more
        needed |= {name for at in more for name in ways[at][1]}
    made: list[str | Question] = []
    for at, cell in enumerate(cells):
        whole = at in kept or "import *" in cell.source or not parses(cell)
        if whole and "raises-exception" not in tags_of(cell):
            made.append(without_checks(cell).source)
        made += [by_number[n] for n in asked if asked[n] == at]
    return made + [q for n, q in by_number.items() if n not in asked]


def names_of(expression: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}


def parses(cell: NotebookNode) -> bool:
    try:
        ast.parse(python_of(cell))
    except (SyntaxError, ValueError):
        return False
    return True


def checks_of(cell: NotebookNode) -> list[str]:
    """Return the numbers of the exercises that a cell checks, or checked before it was changed."""
    marked = [str(cell.metadata[CHECKS])] if CHECKS in cell.metadata else []
    return list(dict.fromkeys([*marked, *(number for number, _ in check_calls(cell))]))


def check_calls(cell: NotebookNode) -> list[tuple[str, ast.Expr]]:
    """Return number and statement of each `check("6.2", answer)` of a cell."""
    if not parses(cell):
        return []
    return [
        (node.value.args[0].value, node)
        for node in ast.parse(python_of(cell)).body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "check"
        and node.value.args
        and isinstance(node.value.args[0], ast.Constant)
    ]


def without_checks(cell: NotebookNode) -> NotebookNode:
    """Return a cell without its checks, which have nothing to find in the sandbox."""
    lines = cell.source.splitlines()
    for _, node in check_calls(cell):
        lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return NotebookNode(cell_type="code", metadata=cell.metadata, source="\n".join(lines))


class Session:
    """A notebook in its sandbox, which is started where it is needed and again when it died."""

    def __init__(self, framework: str) -> None:
        self.framework, self.sandbox = framework, None
        self.ran: list[str] = []
        self.trouble = ""  # what the cells of this answer raised
        self.until = time.monotonic() + ALL

    def ask(self, request: dict, seconds: float) -> dict:
        """Return the reply to a request.

        Raises:
            NoAnswer: It is an error, or there is none.
        """
        try:
            if self.sandbox is None:
                self.sandbox = Sandbox(self.framework)
                self.sandbox.said({"cell": ""}, START)
                for source in self.ran:
                    self.sandbox.said({"cell": source}, self.at_most(CELL))
            reply = self.sandbox.said(request, self.at_most(seconds))
        except Died as died:
            self.sandbox = None
            raise NoAnswer(str(died)) from None
        if error := reply.get("error"):
            raise NoAnswer(str(error))
        return reply

    def at_most(self, seconds: float) -> float:
        left = self.until - time.monotonic()
        if left <= 0:
            self.end()
            raise NoAnswer(f"this notebook has taken more than {ALL} s")
        return min(seconds, left)

    def run(self, source: str) -> None:
        try:
            self.ask({"cell": source}, CELL)
        except NoAnswer as error:
            self.trouble = self.trouble or str(error)
        if self.sandbox:  # an error keeps what stands above it
            self.ran.append(source)

    def end(self) -> None:
        if self.sandbox:
            self.sandbox.stop()
        self.sandbox = None

    def graded(self, question: Question) -> Grade:
        trouble, self.trouble = self.trouble, ""
        found = Asked(self, question).grade()
        unknown = found.status == "error" and found.remark.startswith("NameError")
        return Grade("error", trouble) if trouble and unknown else found


class Asked:
    """One question to a session: as a function of arrays, and as what measures it."""

    def __init__(self, session: Session, question: Question) -> None:
        self.session, self.question = session, question
        self.failed = ""
        self.changed = False

    def grade(self) -> Grade:
        exercise, answer = self.question.exercise, self.as_function()
        try:
            answer = answer if exercise.inputs else answer()
            result = examine(exercise, answer, self.session.framework, measure=self)
        except NoAnswer:
            result = None
        if self.failed.startswith("NotImplementedError"):
            return NOT_ATTEMPTED
        if self.failed or result is None:
            return Grade("error", self.failed)
        if result.passed and self.changed:
            return Grade("wrong", "argument changed in place")
        return Grade(result.status, result.mistake or "")

    def as_function(self) -> Callable:
        def answer(*inputs):
            reply = self.reply([as_numbers(x) for x in inputs])
            self.changed = self.changed or any(reply["changed"])
            return reply["returned"]

        return answer

    def reply(self, inputs: list, **more: object) -> dict:
        """Return what the sandbox says, with arrays in place of text."""
        given = list(map(packed, inputs))
        request = {"of": self.question.answer, "inputs": given, **more}
        request["stream"] = self.question.exercise.stream
        try:
            reply = self.session.ask(request, ANSWER)
            if "kind" in reply:
                reply["returned"] = received(reply)
                reply.setdefault("changed", [])
            return reply
        except NoAnswer as error:
            self.failed = self.failed or str(error)
            raise
        except Exception as error:  # whatever a forged reply holds
            self.failed = self.failed or f"no array comes back ({type(error).__name__})"
            raise NoAnswer(self.failed) from None

    def gradients(self, answer: Callable, inputs: tuple, direction: np.ndarray) -> dict:
        reply = self.reply(list(inputs), direction=packed(direction))
        return {int(i): unpacked(gradient) for i, gradient in reply["gradients"].items()}

    def largest_array(self, answer: Callable, inputs: tuple) -> tuple[int, ...]:
        return tuple(map(int, self.reply(list(inputs), largest=True)["largest"]))


@dataclass(frozen=True)
class Received:
    """An array that came out of the sandbox, with the data type that it had there."""

    array: np.ndarray
    dtype: str

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self.array


def received(reply: dict) -> object:
    """Return the value of a reply as `examine` is to see it."""
    if reply["kind"] == "nothing":
        return None
    array = np.asarray(unpacked(reply["array"]), np.float64)
    if reply["kind"] == "list":
        return array.tolist()
    return array if reply["kind"] == "NumPy array" else Received(array, str(reply["dtype"]))


def as_numbers(value: object) -> object:
    """Return an input of an answer as it goes to the sandbox."""
    return np.stack(list(map(to_numpy, value))) if isinstance(value, Stream) else to_numpy(value)
