"""Grade a notebook: its cells run in a sandbox, its answers are compared here.

A session goes through the notebook from top to bottom, runs the cells that answers need, and asks
at each check; a cell that ends or hangs the process is left out, and the session begins anew.
What no answer depends on, such as a figure or the training of a model, is not run: that makes
seconds of minutes.
"""

import ast
import contextlib
import time
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from nbformat import NotebookNode

from bookbinder.chapters import tags_of
from bookbinder.classroom.inside import LONGEST, error_in, packed, unpacked
from bookbinder.classroom.sandbox import DiedError, Sandbox
from bookbinder.files import BookError
from bookbinder.worksheets import CHECKS, DEFINITIONS, names_in, python_of
from d2l_attention.arrays import is_float_array
from d2l_attention.practice.checking import examine
from d2l_attention.practice.exercises import Exercise, Stream

IMPORTS = (ast.Import, ast.ImportFrom)
START, CELL, ANSWER, ALL = 120, 30, 10, 240  # seconds
NO_START = "the sandbox for students' code does not start"
LATE = ("no answer after", "this notebook has taken more than", NO_START)  # so remarks begin


@dataclass(frozen=True)
class Question:
    """An exercise, and the expression that is its answer in a notebook."""

    exercise: Exercise
    answer: str


@dataclass(frozen=True)
class Grade:
    """What an answer is: "passed", "wrong", "error" or "not attempted", and what is wrong."""

    status: str
    remark: str = ""  # the mistake's name, or the error
    message: str = ""  # for the student

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    @property
    def late(self) -> bool:
        return self.remark.startswith(LATE)

    def may_come_later(self) -> bool:
        return self.status == "not attempted" or self.remark.startswith("NameError")


NOT_ATTEMPTED = Grade("not attempted")
IN_PLACE = "The values are right, but your code writes into its arguments: make a new array."


class NoAnswerError(Exception):
    """The student's code raises an error, ends or hangs."""


def grade(
    notebook: NotebookNode, questions: list[Question], session: "Session"
) -> dict[str, Grade]:
    """Return number -> grade; a submission that ends or hangs loses that answer only."""
    found: dict[str, Grade] = {}
    asked = {}
    try:
        for step in steps(notebook, questions):
            if isinstance(step, Question):
                found[step.exercise.number] = session.graded(step)
                asked[step.exercise.number] = step.answer
            else:
                session.run(step)
        for question in questions:  # some answers stand below their check, or have another name
            number = question.exercise.number
            for answer in dict.fromkeys([asked[number], question.answer]):
                first = found[number]
                if not (first.passed or first.late):
                    again = session.graded(Question(question.exercise, answer))
                    later = first.may_come_later() and not again.may_come_later()
                    found[number] = again if again.passed or later else first
    finally:
        session.end()
    return found


def steps(notebook: NotebookNode, questions: list[Question]) -> list[str | Question]:
    """Return what to run and, where the notebook checks it or else last, each question."""
    checks = checks_in(notebook)
    made: list[str | Question] = []
    own = []
    for question in questions:
        place, answer = checks.get(question.exercise.number, (None, ""))
        own.append((place, Question(question.exercise, answer or question.answer)))
    names = [q.answer for q in (*questions, *(q for _, q in own))]
    for at, source in enumerate(needed_sources(notebook, names)):
        made += [source] if source else []
        made += [q for place, q in own if place == at]
    return made + [q for place, q in own if place is None]


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
            NoAnswerError: It is an error, or there is none.
        """
        reply = self.replied(request, seconds)
        if error := reply.get("error"):
            raise NoAnswerError(str(error)[:LONGEST])
        return reply

    def replied(self, request: dict, seconds: float) -> dict:
        """Return the reply; after a trap that an earlier answer has left, that of a new process."""
        fresh = self.sandbox is None
        try:
            if fresh:
                self.at_most(START)
                self.sandbox = started(self.framework)
                for source in self.ran:
                    self.sandbox.said({"cell": source}, self.at_most(CELL))
            return self.sandbox.said(request, self.at_most(seconds))
        except DiedError as died:
            self.sandbox = None
            if fresh or died.late:
                raise NoAnswerError(str(died)) from None
            return self.replied(request, seconds)

    def at_most(self, seconds: float) -> float:
        left = self.until - time.monotonic()
        if left <= 0:
            raise NoAnswerError(f"this notebook has taken more than {ALL} s")
        return min(seconds, left)

    def run(self, source: str) -> None:
        try:
            self.ask({"cell": source}, CELL)
        except NoAnswerError as error:
            self.trouble = self.trouble or str(error)
        if self.sandbox:  # an error keeps what stands above it
            self.ran.append(source)

    def give_up(self) -> None:
        """Let another thread end what is running."""
        self.until = 0
        self.end()

    def end(self) -> None:
        sandbox, self.sandbox = self.sandbox, None
        if sandbox:
            sandbox.stop()

    def graded(self, question: Question) -> Grade:
        trouble, self.trouble = self.trouble, ""
        found = Asked(self, question).grade()
        unknown = found.status == "error" and found.remark.startswith("NameError")
        if trouble and unknown:
            return Grade("error", trouble, trouble)
        missing = found.remark == f"NameError: name {question.answer!r} is not defined"
        return Grade(NOT_ATTEMPTED.status, message=found.remark) if missing else found


def started(framework: str) -> Sandbox:
    sandbox = Sandbox(framework)
    try:
        sandbox.said({"cell": ""}, START)
    except DiedError as died:
        raise BookError(f"{NO_START}: {died}") from None
    return sandbox


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
            result = examine(exercise, answer, self.session.framework, through=self)
        except Exception as error:  # there is no answer, or it is so odd that a check fails
            result, self.failed = None, self.failed or error_in(error)
        if self.failed.startswith("NotImplementedError"):
            return NOT_ATTEMPTED
        if self.failed or result is None:
            return Grade("error", self.failed, self.failed)
        if result.passed and self.changed:
            return Grade("wrong", "argument changed in place", IN_PLACE)
        return Grade(result.status, result.mistake or "", result.message)

    def as_function(self) -> Callable:
        def answer(*inputs):
            given = [as_numbers(x) for x in inputs]
            returned, changed = self.asked(given, lambda r: (received(r), any(r["changed"])))
            self.changed = self.changed or changed
            return returned

        return answer

    def make_array(self, value: object) -> object:
        return copy(value)  # the sandbox makes one of the framework's

    def gradients(self, answer: Callable, inputs: tuple, direction: np.ndarray) -> dict:
        def read(reply: dict) -> dict:
            floats = {i: x.shape for i, x in enumerate(inputs) if is_float_array(x)}
            found = {i: unpacked(reply["gradients"][str(i)]) for i in floats}
            return {i: found[i].astype(np.float64).reshape(floats[i]) for i in floats}

        return self.asked(inputs, read, direction=packed(direction))

    def largest_array(self, answer: Callable, inputs: tuple) -> tuple[int, ...]:
        def read(reply: dict) -> tuple[int, ...]:
            shape = np.empty(reply["largest"], np.dtype([])).shape  # what no array can have, raises
            return tuple(map(int, shape))

        return self.asked(inputs, read, largest=True)

    def asked(self, inputs: Iterable, read: Callable, **more: object) -> object:
        """Return what `read` makes of the sandbox's reply, in which anything may stand."""
        request = {"of": self.question.answer, "inputs": list(map(packed, inputs)), **more}
        request["stream"] = self.question.exercise.stream
        try:
            return read(self.session.ask(request, ANSWER))
        except (NoAnswerError, BookError) as error:
            self.failed = self.failed or str(error)
        except Exception as error:  # whatever a forged reply is
            self.failed = self.failed or f"what comes back is no array ({type(error).__name__})"
        raise NoAnswerError(self.failed)


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
    if isinstance(value, Stream):  # which does not let one keep its parts
        return np.stack([np.array(part) for part in value])
    return value


# Which statements of a notebook its answers need, and where it checks each of them


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a cell."""

    node: ast.stmt

    @cached_property
    def source(self) -> str:
        return ast.unparse(self.node)

    @cached_property
    def names(self) -> tuple[set[str], set[str]]:
        """The names that it binds, and those that it uses."""
        cell = NotebookNode(cell_type="code", metadata={}, source=self.source)
        return names_in(cell)

    @cached_property
    def changes(self) -> set[str]:
        """The names whose values it may change: `rows.append(1)`, `scores[0] = 0`, `@to(Layer)`."""
        if isinstance(self.node, IMPORTS):
            return set()
        if isinstance(self.node, DEFINITIONS):
            inner = [n for decorator in self.node.decorator_list for n in ast.walk(decorator)]
            return {node.id for node in inner if isinstance(node, ast.Name)}
        inner = list(ast.walk(self.node))
        calls = [node.value for node in inner if isinstance(node, ast.Expr)]
        of = [c.func for c in calls if isinstance(c, ast.Call) and not isinstance(c.func, ast.Name)]
        of += [n for n in inner if isinstance(getattr(n, "ctx", None), ast.Store | ast.Del)]
        return {root.id for root in map(root_of, of) if isinstance(root, ast.Name)}

    @property
    def always(self) -> bool:
        """Whether it does something for all that follow: a star import, one from `__future__`."""
        node = self.node
        whole = isinstance(node, ast.ImportFrom)
        return whole and (node.names[0].name == "*" or node.module == "__future__")

    @property
    def check(self) -> tuple[str, str] | None:
        """Number and answer of an exercise that it checks: `check("6.2", f)`, also in an assert."""
        simple = isinstance(self.node, ast.Expr | ast.Assign | ast.Assert)
        for call in ast.walk(self.node) if simple else ():
            if isinstance(call, ast.Call) and call.args and ast.unparse(call.func) == "check":
                number, *answer = call.args
                answer += [k.value for k in call.keywords if k.arg == "answer"]
                if isinstance(number, ast.Constant):
                    return str(number.value), "".join(map(ast.unparse, answer[:1]))
        return None


def root_of(node: ast.expr) -> ast.expr:
    """Return `rows` of `rows[0].append(1)`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def statements_of(cell: NotebookNode) -> list[Statement] | None:
    """Return the statements of a code cell; None where it does not parse."""
    if cell.source.startswith("%%writefile"):
        return None
    for read in (lambda: cell.source, lambda: python_of(cell), lambda: transformed(cell.source)):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return [Statement(node) for node in ast.parse(read()).body]
    return None


def transformed(source: str) -> str:
    """Return Python in which IPython's own, `softmax?`, is calls."""
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


def checks_in(notebook: NotebookNode) -> dict[str, tuple[int, str]]:
    """Return number -> where the last code cell is that checks this exercise, and which answer."""
    checks: dict[str, tuple[int, str]] = {}
    for at, cell in enumerate(code_cells(notebook)):
        marked = [(str(cell.metadata[CHECKS]), "")] if CHECKS in cell.metadata else []
        called = [s.check for s in statements_of(cell) or [] if s.check]
        for number, answer in [*marked, *called]:
            checks[number] = at, answer or checks.get(number, (0, ""))[1]
    return checks


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def needed_sources(notebook: NotebookNode, answers: list[str]) -> list[str]:
    """Return of each code cell what the answers, expressions, need of it.

    A cell that does not parse is needed: its error tells why there is no answer. So is a file.
    """
    code = code_cells(notebook)
    cells = [[] if "raises-exception" in tags_of(cell) else statements_of(cell) for cell in code]
    every = [statement for cell in cells for statement in cell or [] if not statement.check]
    imported = {n for s in every if isinstance(s.node, IMPORTS) for n in s.names[0]}
    needed = {name for text in answers for name in Statement(ast.parse(text).body[0]).names[1]}
    kept = {s for s in every if s.always}
    while more := {s for s in every if s.names[0] & needed or s.changes & needed - imported} - kept:
        kept |= more
        needed |= {name for statement in more for name in statement.names[1]}
    return [
        cell.source if statements is None else "\n".join(s.source for s in statements if s in kept)
        for cell, statements in zip(code, cells, strict=True)
    ]
