"""Grade a notebook: its cells run in a sandbox, its answers are compared here.

What answers need runs from top to bottom, and each is asked for where the notebook checks it; a
cell that ends or hangs the process is left out, and a new one goes on.
What no answer depends on, such as a figure or the training of a model, is not run: that makes
seconds of minutes.
"""

import ast
import re
import time
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from bookbinder.book import BookError
from bookbinder.chapters import tags_of
from bookbinder.grading.inside import LONGEST, error_in, packed, unpacked
from bookbinder.grading.sandbox import NoAnswerError, Sandbox, why_it_ends
from bookbinder.worksheets import MAGIC, check_in, checks_in, code_cells, names_in, parsed
from d2l_attention.arrays import is_float_array
from d2l_attention.practice.checking import Result, examine
from d2l_attention.practice.exercises import Exercise, Stream

START, CELL, ANSWER, ALL = 120, 30, 10, 240  # seconds
IN_PLACE = "The values are right, but your code writes into its arguments: make a new array."
NO_START = "the sandbox for students' code does not start"
LATE = ("no answer after", "this notebook has taken more than", NO_START)  # so remarks begin


class Question(NamedTuple):
    """An exercise, and the expression that is its answer in a notebook."""

    exercise: Exercise
    answer: str


def grade(
    notebook: NotebookNode, questions: list[Question], session: "Session"
) -> dict[str, Result]:
    """Return number -> result; a submission that ends or hangs loses that answer only."""
    code, checks = code_cells(notebook), checks_in(notebook)
    places = [checks.get(q.exercise.number, (q.answer, len(code))) for q in questions]
    checked = [q._replace(answer=answer) for q, (answer, _) in zip(questions, places, strict=True)]
    needed = needed_sources(code, [q.answer for q in checked + questions])
    results: dict[str, Result] = {}

    def ask(question: Question) -> None:
        number, state = question.exercise.number, (question.answer, len(session.ran))
        first = results.get(number)
        if (number, state) in session.seen or (first and (first.passed or is_late(first))):
            return
        session.seen.add((number, state))
        again = session.result(question)
        if not first or again.passed or (lacks_an_answer(first) and not lacks_an_answer(again)):
            results[number] = again

    try:
        for sources in (needed, [cell.source for cell in code]):
            session.begin()
            for at, source in enumerate([*sources, ""]):
                if source:
                    session.run(source)
                for question in (q for q, (_, x) in zip(checked, places, strict=True) if x == at):
                    ask(question)
            for question in checked + questions:  # some stand below a check, or have another name
                ask(question)
            if not any(stands_in(code, session, found) for found in results.values()):
                break
        found = ((results[q.exercise.number], q.answer) for q in checked)
        return {result.number: session.told(result, answer) for result, answer in found}
    finally:
        session.end()


def stands_in(code: list[NotebookNode], session: "Session", result: Result) -> bool:
    """Say whether a name that is missing stands in a cell, which may bind it as we do not see."""
    name = missing_name(result)
    others = [cell for cell in code if not any(map(check_in, parsed(cell) or []))]
    return not session.why(name) and any(name in words_in(cell.source) for cell in others)


def words_in(source: str) -> set[str]:
    return set(re.findall(r"\w+", source))


def is_late(result: Result) -> bool:
    return (result.mistake or "").startswith(LATE)


def lacks_an_answer(result: Result) -> bool:
    return result.status == "not attempted" or missing_name(result) != ""


def missing_name(result: Result) -> str:
    found = re.match(r"NameError: name '(\w+)'", result.mistake or "")
    return found[1] if found else ""


class Session:
    """A notebook in its sandbox, which is started where it is needed and again when it died.

    For `examine`, it is the function that answers a question, and what measures that function.
    """

    def __init__(self, framework: str) -> None:
        self.framework, self.sandbox = framework, None
        self.until = time.monotonic() + ALL
        self.begin()

    def begin(self) -> None:
        self.end()
        self.ran, self.seen = [], set()  # cells; questions, and after how many cells
        self.failed: list[tuple[str, str]] = []  # cells, and what they raised

    def ask(self, request: dict, seconds: float) -> dict:
        """Return the reply; after a trap that an earlier answer has left, that of a new process."""
        fresh = self.sandbox is None
        try:
            if fresh:
                self.at_most(START)
                self.sandbox = started(self.framework)
                for source in self.ran:
                    self.sandbox.said({"cell": source}, self.at_most(CELL))
            reply = self.sandbox.said(request, self.at_most(seconds))
        except NoAnswerError as died:
            self.end()
            if fresh or str(died).startswith(LATE):
                raise
            return self.ask(request, seconds)
        if error := reply.get("error"):
            raise NoAnswerError(str(error)[:LONGEST])
        return reply

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

    def end(self) -> None:
        sandbox, self.sandbox = self.sandbox, None
        if sandbox:
            sandbox.stop()

    def why(self, name: str) -> str:
        """Return what the first cell raised in which a name stands that is missing."""
        return next((error for source, error in self.failed if name in words_in(source)), "")

    def told(self, result: Result, answer: str) -> Result:
        """Return a result as its student reads it."""
        if (name := missing_name(result)) and (why := self.why(name)):
            return replace(result, mistake=why, message=why)
        if result.status == "not attempted" or name == answer:
            return replace(result, status="not attempted", mistake=None, message="")
        return result

    def result(self, question: Question) -> Result:
        exercise, self.question = question.exercise, question
        self.wrong, self.changed = "", False
        try:
            answer = (lambda *inputs: self.returned(inputs)) if exercise.inputs else self.returned()
            result = examine(exercise, answer, self.framework, through=self)
        except Exception as error:  # there is no answer, or it is so odd that a check fails
            self.wrong = self.wrong or error_in(error)
        if self.wrong.startswith("NotImplementedError"):
            return Result(exercise.number, "not attempted", "")
        if self.wrong:
            return Result(exercise.number, "error", self.wrong, self.wrong)
        if result.passed and self.changed:
            mistake = "argument changed in place"
            return replace(result, status="wrong", mistake=mistake, message=IN_PLACE)
        return result

    def returned(self, inputs: Iterable = ()) -> object:
        given = [  # a stream does not let one keep its parts, but copies of them
            np.stack([np.array(part) for part in x]) if isinstance(x, Stream) else x for x in inputs
        ]
        returned, changed = self.replied(given, lambda r: (received(r), any(r["changed"])))
        self.changed = self.changed or changed
        return returned

    def make_array(self, value: object) -> object:
        return copy(value)  # the sandbox makes one of the framework's

    def gradients(self, answer: Callable, inputs: tuple, direction: np.ndarray) -> dict:
        def read(reply: dict) -> dict:
            shapes = {i: x.shape for i, x in enumerate(inputs) if is_float_array(x)}
            found = {i: unpacked(reply["gradients"][str(i)]) for i in shapes}
            return {i: found[i].astype(np.float64).reshape(shapes[i]) for i in shapes}

        return self.replied(inputs, read, direction=packed(direction))

    def largest_array(self, answer: Callable, inputs: tuple) -> tuple[int, ...]:
        def read(reply: dict) -> tuple[int, ...]:
            shape = np.empty(reply["largest"], np.dtype([])).shape  # what no array can have, raises
            return tuple(map(int, shape))

        return self.replied(inputs, read, largest=True)

    def calls(self, answer: Callable, inputs: Iterable) -> set[str]:
        return self.replied(inputs, lambda reply: set(map(str, reply["calls"])), calls=True)

    def replied(self, inputs: Iterable, read: Callable, **more: object) -> object:
        """Return what `read` makes of the sandbox's reply, in which anything may stand."""
        request = {"of": self.question.answer, "inputs": list(map(packed, inputs)), **more}
        request["stream"] = self.question.exercise.stream
        try:
            return read(self.ask(request, ANSWER))
        except (NoAnswerError, BookError) as error:
            self.wrong = self.wrong or str(error)
        except Exception as error:  # whatever a forged reply is
            self.wrong = self.wrong or f"what comes back is no array ({type(error).__name__})"
        raise NoAnswerError(self.wrong)


def started(framework: str) -> Sandbox:
    sandbox = Sandbox(framework)
    try:
        sandbox.said({"cell": ""}, START)
    except NoAnswerError as died:
        sandbox.stop()
        raise BookError(f"{NO_START}: {died}{why_it_ends(framework)}") from None
    return sandbox


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


def needed_sources(code: list[NotebookNode], answers: list[str]) -> list[str]:
    """Return of each code cell what the answers, expressions, need of it."""
    parts = {(at, n): part for at, cell in enumerate(code) for n, part in enumerate(parts_of(cell))}
    imported = {name for *_, names in parts.values() for name in names}
    uses = [part[2] for answer in answers for part in parts_of(new_code_cell(answer))]
    needed = {"*", "annotations"}.union(*uses)  # two imports that all below depends on
    kept: set[tuple[int, int]] = set()
    while more := {
        key
        for key, (_, bound, _, changed, _) in parts.items()
        if needed & (bound | changed - imported) and key not in kept
    }:
        kept |= more
        needed = needed.union(*(parts[key][2] for key in more))
    return [
        "\n".join(part[0] for (place, n), part in parts.items() if place == at and (at, n) in kept)
        for at in range(len(code))
    ]


def parts_of(cell: NotebookNode) -> Iterator[tuple[str, set[str], set[str], set[str], set[str]]]:
    """Yield statements but for checks, and names that each binds, uses, may change, and imports.

    `scores[0] = 0`, `rows.append(1)`, `init.ones_(scores)` change, and `@to(Layer)`. A cell with
    magics is one part. What Python refuses is needed, as its error tells why there is no answer.
    """
    body = parsed(cell) if "raises-exception" not in tags_of(cell) else []
    if body is None:
        words = words_in(cell.source)
        yield cell.source, words | {"*"}, words, set(), set()
        return
    is_one = bool(MAGIC.search(cell.source))
    for nodes in [body] if is_one else [[node] for node in body if not check_in(node)]:
        inner = [part for node in nodes for part in ast.walk(node)]
        parts = [x for part in inner for x in getattr(part, "decorator_list", [])]
        parts += [x for x in inner if isinstance(getattr(x, "ctx", None), ast.Store | ast.Del)]
        for part in inner:
            match part:
                case ast.Expr(ast.Call(ast.Attribute() as method, args)):
                    parts += [method, *(x for x in args if isinstance(x, ast.Name))]
        changed = {x.id for part in parts for x in ast.walk(part) if isinstance(x, ast.Name)}
        imported = {x.asname or x.name.split(".")[0] for x in inner if isinstance(x, ast.alias)}
        bound, used = names_in(nodes)
        source = cell.source if is_one else ast.unparse(nodes)
        yield source, bound | imported, used, changed & used, imported
