"""Grade a notebook: its cells run in a sandbox, its answers are compared here.

A session goes through the notebook from top to bottom, runs the cells that answers need, and asks
at each check; a cell that ends or hangs the process is left out, and the session begins anew.
What no answer depends on, such as a figure or the training of a model, is not run: that makes
seconds of minutes.
"""

import ast
import contextlib
import re
import time
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from nbformat import NotebookNode

from bookbinder.chapters import tags_of
from bookbinder.classroom.inside import LONGEST, error_in, packed, unpacked
from bookbinder.classroom.sandbox import DiedError, Sandbox, why_it_ends
from bookbinder.files import BookError
from bookbinder.worksheets import DEFINITIONS, check_in, checks_in, code_cells, names_in, parsed
from d2l_attention.arrays import is_float_array
from d2l_attention.practice.checking import Result, examine
from d2l_attention.practice.exercises import Exercise, Stream

IMPORTS = (ast.Import, ast.ImportFrom)
START, CELL, ANSWER, ALL = 120, 30, 10, 240  # seconds
IN_PLACE = "The values are right, but your code writes into its arguments: make a new array."
NO_CHECK = """\
import d2l_attention.practice, types
passed = types.SimpleNamespace(passed=True, status="passed", mistake=None)
d2l_attention.practice.check = lambda *a, passed=passed, **k: passed
del passed, types"""  # the solutions, which it would ask, are not here
NO_START = "the sandbox for students' code does not start"
LATE = ("no answer after", "this notebook has taken more than", NO_START)  # so remarks begin


@dataclass(frozen=True)
class Question:
    """An exercise, and the expression that is its answer in a notebook."""

    exercise: Exercise
    answer: str


class NoAnswerError(Exception):
    """The student's code raises an error, ends or hangs."""


def grade(
    notebook: NotebookNode, questions: list[Question], session: "Session"
) -> dict[str, Result]:
    """Return number -> result; a submission that ends or hangs loses that answer only."""
    results: dict[str, Result] = {}
    asked, seen = {}, set()

    def ask(question: Question) -> None:
        number, state = question.exercise.number, (question.answer, len(session.ran))
        first = results.get(number)
        if (number, state) in seen or (first and (first.passed or is_late(first))):
            return
        seen.add((number, state))
        again = session.result(question)
        if not first or again.passed or (lacks_an_answer(first) and not lacks_an_answer(again)):
            results[number] = again

    try:
        for step in steps(notebook, questions):
            if isinstance(step, Question):
                asked[step.exercise.number] = step.answer
                ask(step)
            else:
                session.run(step)
        for whole in (False, True):
            if whole and any(stands_in(notebook, session, found) for found in results.values()):
                session.end()
                session.ran, session.failed, seen = [], [], set()
                for source in [NO_CHECK, *(cell.source for cell in code_cells(notebook))]:
                    session.run(source)
            for one in questions:  # some answers stand below their check, or have another name
                ask(replace(one, answer=asked[one.exercise.number]))
                ask(one)
        return {number: session.told(found, asked[number]) for number, found in results.items()}
    finally:
        session.end()


def stands_in(notebook: NotebookNode, session: "Session", result: Result) -> bool:
    """Say whether a name that is missing stands in a cell, which may bind it as we do not see."""
    name, cells = missing_name(result), code_cells(notebook)
    code = (cell.source for cell in cells if not any(map(check_in, parsed(cell) or [])))
    return bool(name) and not session.why(name) and any(mentions(x, name) for x in code)


def mentions(source: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", source) is not None


def is_late(result: Result) -> bool:
    return (result.mistake or "").startswith(LATE)


def lacks_an_answer(result: Result) -> bool:
    return result.status == "not attempted" or missing_name(result) != ""


def missing_name(result: Result) -> str:
    found = re.match(r"NameError: name '(\w+)'", result.mistake or "")
    return found[1] if found else ""


def steps(notebook: NotebookNode, questions: list[Question]) -> list[str | Question]:
    """Return what to run and, where the notebook checks it or else last, each question."""
    checks, last = checks_in(notebook), len(code_cells(notebook))
    places = [checks.get(q.exercise.number, (q.answer, last)) for q in questions]
    names = [q.answer for q in questions] + [answer for answer, _ in places]
    made: list[str | Question] = []
    for at, source in enumerate([*needed_sources(notebook, names), ""]):
        made += [source] if source else []
        pairs = zip(questions, places, strict=True)
        made += [Question(q.exercise, answer) for q, (answer, place) in pairs if place == at]
    return made


class Session:
    """A notebook in its sandbox, which is started where it is needed and again when it died."""

    def __init__(self, framework: str) -> None:
        self.framework, self.sandbox = framework, None
        self.ran: list[str] = []
        self.failed: list[tuple[str, str]] = []  # cells, and what they raised
        self.until = time.monotonic() + ALL

    def ask(self, request: dict, seconds: float) -> dict:
        """Return the reply to a request; raise NoAnswerError where it is an error, or none."""
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
            self.failed.append((source, str(error)))
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

    def result(self, question: Question) -> Result:
        return Asked(self, question).result()

    def why(self, name: str) -> str:
        """Return what the first cell raised in which a name stands that is missing."""
        return next((error for source, error in self.failed if mentions(source, name)), "")

    def told(self, result: Result, answer: str) -> Result:
        """Return a result as its student reads it."""
        if (name := missing_name(result)) and (why := self.why(name)):
            return replace(result, mistake=why, message=why)
        if result.status == "not attempted" or name == answer:
            return replace(result, status="not attempted", mistake=None, message="")
        return result


def started(framework: str) -> Sandbox:
    sandbox = Sandbox(framework)
    try:
        sandbox.said({"cell": ""}, START)
    except DiedError as died:
        raise BookError(f"{NO_START}: {died}{why_it_ends(framework)}") from None
    return sandbox


class Asked:
    """One question to a session: as a function of arrays, and as what measures it."""

    def __init__(self, session: Session, question: Question) -> None:
        self.session, self.question = session, question
        self.failed = ""
        self.changed = False

    def result(self) -> Result:
        exercise = self.question.exercise
        try:
            answer = (lambda *inputs: self.returned(inputs)) if exercise.inputs else self.returned()
            result = examine(exercise, answer, self.session.framework, through=self)
        except Exception as error:  # there is no answer, or it is so odd that a check fails
            self.failed = self.failed or error_in(error)
        if self.failed.startswith("NotImplementedError"):
            return Result(exercise.number, "not attempted", "")
        if self.failed:
            return Result(exercise.number, "error", self.failed, self.failed)
        if result.passed and self.changed:
            mistake = "argument changed in place"
            return replace(result, status="wrong", mistake=mistake, message=IN_PLACE)
        return result

    def returned(self, inputs: Iterable = ()) -> object:
        given = [  # a stream does not let one keep its parts, but copies of them
            np.stack([np.array(part) for part in x]) if isinstance(x, Stream) else x for x in inputs
        ]
        returned, changed = self.asked(given, lambda r: (received(r), any(r["changed"])))
        self.changed = self.changed or changed
        return returned

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


# Which statements of a notebook its answers need


def needed_sources(notebook: NotebookNode, answers: list[str]) -> list[str]:
    """Return of each code cell what the answers, expressions, need of it.

    A cell that does not parse is needed: its error tells why there is no answer. So is a file.
    """
    code = code_cells(notebook)
    cells = [{} if "raises-exception" in tags_of(cell) else read(cell) for cell in code]
    of = {node: found for cell in cells for node, found in (cell or {}).items()}
    imported = {name for node in of if isinstance(node, IMPORTS) for name in of[node][1]}
    needed = names_in([x for a in answers for x in parsed(NotebookNode(source=a)) or []])[1]
    stars = (node for node in of if isinstance(node, ast.ImportFrom))  # and what all depends on
    kept = {node for node in stars if node.names[0].name == "*" or node.module == "__future__"}
    while more := {
        node
        for node, (_, bound, _, changed) in of.items()
        if needed & (bound | changed - imported) and node not in kept
    }:
        kept |= more
        needed |= {name for node in more for name in of[node][2]}
    return [
        cell.source if nodes is None else "\n".join(of[x][0] for x in nodes if x in kept)
        for cell, nodes in zip(code, cells, strict=True)
    ]


def read(cell: NotebookNode) -> dict[ast.stmt, tuple] | None:
    """Return of the statements of a cell but for checks the text and three sets of names, those
    that it binds, uses and may change; None where the cell must be run as it stands."""
    with contextlib.suppress(Exception):
        nodes = [node for node in parsed(cell) if not check_in(node)]
        return {x: (ast.unparse(x), *names_in([x]), changes(x)) for x in nodes}
    return None


def changes(node: ast.stmt) -> set[str]:
    """Return names whose values it may change: `rows.append(1)`, `scores[0] = 0`, `@to(Layer)`."""
    if isinstance(node, IMPORTS):
        return set()
    if isinstance(node, DEFINITIONS):
        inner = [part for decorator in node.decorator_list for part in ast.walk(decorator)]
        return {part.id for part in inner if isinstance(part, ast.Name)}
    inner = list(ast.walk(node))
    calls = [part.value for part in inner if isinstance(part, ast.Expr)]
    of = [c.func for c in calls if isinstance(c, ast.Call) and not isinstance(c.func, ast.Name)]
    of += [x for x in inner if isinstance(getattr(x, "ctx", None), ast.Store | ast.Del)]
    return {root.id for root in map(root_of, of) if isinstance(root, ast.Name)}


def root_of(node: ast.expr) -> ast.expr:
    """Return `rows` of `rows[0].append(1)`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node
