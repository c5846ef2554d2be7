"""Grade a notebook: its cells run in a sandbox, its answers are compared here.

What answers need runs from top to bottom, and each is asked for where the notebook checks it. A
cell that ends or hangs the process is left out, and a new one goes on. What no answer depends on,
such as the training of a model, is not run: that makes seconds of minutes.
"""

import ast
import contextlib
import re
from collections.abc import Callable, Iterable
from copy import copy
from typing import NamedTuple

import numpy as np
from nbformat import NotebookNode

from bookbinder.book import BookError
from bookbinder.code import checks_in, code_cells, read_code
from bookbinder.grading.inside import error_in, packed, unpacked
from bookbinder.grading.sandbox import LATE, NoAnswerError, Sandbox
from d2l_attention.arrays import is_float_array
from d2l_attention.practice.checking import Result, examine
from d2l_attention.practice.exercises import Exercise

ANSWER = 10  # seconds
# A line may change what has a name: `y[0] = 0`, `rows.append(1)`, `init.ones_(y)`, `@to(Layer)`.
CHANGES = re.compile(r"^[ \t]*(?:@.*|.*\w_\(.*|\w+(?=[.\[]))", re.MULTILINE)
MISSING = re.compile(r"NameError: name '(\w+)'")


class Question(NamedTuple):
    """An exercise, and the expression that is its answer in a notebook."""

    exercise: Exercise
    answer: str


def grade(notebook: NotebookNode, questions: list[Question], sandbox: Sandbox) -> dict[str, Result]:
    """Return number -> result; a submission that ends or hangs loses that answer only."""
    code, checks = code_cells(notebook), checks_in(notebook)
    checked: list[tuple[int, Question]] = []  # and in which cell
    for question in questions:
        answer, at = checks.get(question.exercise.number, (question.answer, len(code)))
        checked.append((at, question._replace(answer=answer)))
    at_last = [question for _, question in checked] + questions  # which may have other names
    sources = needed_sources(code, [question.answer for question in at_last])
    results: dict[str, Result] = {}

    def ask(question: Question) -> None:
        first = results.get(question.exercise.number)
        if not first or not (first.passed or is_late(first)):
            again = result_of(question, sandbox)
            if not first or again.passed or first.status == "not attempted":
                results[question.exercise.number] = again

    with contextlib.closing(sandbox):
        for at, source in enumerate(sources):
            if source:
                sandbox.run(source)
            for question in (question for place, question in checked if place == at):
                ask(question)
        for question in at_last:
            ask(question)
    return {question.exercise.number: results[question.exercise.number] for question in questions}


def is_late(result: Result) -> bool:
    return (result.mistake or "").startswith(LATE)


def needed_sources(code: list[NotebookNode], answers: list[str]) -> list[str]:
    """Return of each cell the statements that bind or change what answers, expressions, need."""
    bodies = [(cell.source, read_code(cell.source).body) for cell in code]
    statements = ([*map(ast.unparse, body)] or [whole] for whole, body in bodies)  # magics: whole
    parts = [(at, part) for at, cell in enumerate(statements) for part in cell]
    read = [read_code(part) for _, part in parts]
    imported = set().union(*(statement.imported for statement in read))
    left = [
        s.bound | (s.used & {*re.findall(r"\w+", " ".join(CHANGES.findall(part)))} - imported)
        for s, (_, part) in zip(read, parts, strict=True)
    ]
    names = {"*", "annotations"}.union(*(read_code(answer).used for answer in answers))
    needed: set[int] = set()
    while more := {n for n, of_it in enumerate(left) if of_it & names} - needed:
        needed |= more
        names = names.union(*(read[n].used for n in more))
    sources = [""] * len(code)
    for n in sorted(needed):
        at, part = parts[n]
        sources[at] += f"{part}\n"
    return sources


def result_of(question: Question, sandbox: Sandbox) -> Result:
    """Return what is right or wrong with an answer, or why there is none."""
    answer, exercise = Answer(sandbox, question), question.exercise
    try:
        function = answer.returned if exercise.inputs else answer.returned()
        result = examine(exercise, function, sandbox.framework, through=answer)
    except Exception as error:  # it is so odd that a check fails
        answer.wrong = answer.wrong or error_in(error)
    if missing := MISSING.match(answer.wrong):
        broken = (e for text, e in sandbox.failed if missing[1] in re.findall(r"\w+", text))
        absent = "NotImplementedError" if missing[1] == question.answer else answer.wrong
        answer.wrong = next(broken, absent)
    if answer.wrong and not answer.wrong.startswith("NotImplementedError"):
        return Result(exercise.number, "error", answer.wrong, answer.wrong)
    if answer.wrong or result.status == "not attempted":
        return Result(exercise.number, "not attempted", "")
    return result


class Answer:
    """An answer in the sandbox; for `examine`, it is the framework that runs it, too."""

    def __init__(self, sandbox: Sandbox, question: Question) -> None:
        self.sandbox, self.question, self.wrong = sandbox, question, ""

    def asked(self, inputs: Iterable, read: Callable, **more: object) -> object:
        """Return what `read` makes of the sandbox's reply, in which anything may stand."""
        request = {"of": self.question.answer, "stream": self.question.exercise.stream, **more}
        try:
            return read(self.sandbox.ask(request | {"inputs": list(map(packed, inputs))}, ANSWER))
        except (NoAnswerError, BookError) as error:
            self.wrong = self.wrong or str(error)
        except Exception as error:  # whatever a forged reply is
            self.wrong = self.wrong or f"what comes back is no array ({type(error).__name__})"
        raise NoAnswerError(self.wrong)

    def returned(self, *inputs: object) -> object:
        """Return what the answer does, and change the inputs that it has changed."""
        if self.question.exercise.stream:  # of which one cannot keep the parts, but copies
            inputs = [np.stack([np.array(part) for part in inputs[0]])]
        value, changed = self.asked(inputs, lambda r: (received(r), list(r["changed"])))
        for array, is_changed in zip(inputs, changed, strict=False):
            if is_changed and isinstance(array, np.ndarray):
                np.copyto(array, array == 0, casting="unsafe")
        return value

    def make_array(self, value: object) -> object:
        return copy(value)  # the sandbox makes one of the framework's

    def gradients(self, answer: Callable, inputs: tuple, direction: np.ndarray) -> dict:
        def read(reply: dict) -> dict:
            shapes = {i: x.shape for i, x in enumerate(inputs) if is_float_array(x)}
            found = {i: unpacked(reply["gradients"][str(i)]) for i in shapes}
            return {i: found[i].astype(np.float64).reshape(shapes[i]) for i in shapes}

        return self.asked(inputs, read, direction=packed(direction))

    def largest_array(self, answer: Callable, inputs: tuple) -> tuple[int, ...]:
        def read(reply: dict) -> tuple[int, ...]:
            shape = np.empty(reply["largest"], np.dtype([])).shape  # what no array can have, raises
            return tuple(map(int, shape))

        return self.asked(inputs, read, largest=True)

    def calls(self, answer: Callable, inputs: Iterable) -> set[str]:
        return self.asked(inputs, lambda reply: set(map(str, reply["calls"])), calls=True)


class Received:
    """An array of a framework, as it came out of the sandbox."""

    def __init__(self, reply: dict) -> None:
        self.array = np.asarray(unpacked(reply["array"]), np.float64)
        self.dtype = str(reply["dtype"])

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self.array


def received(reply: dict) -> object:
    """Return the value of a reply as `examine` is to see it."""
    if reply["kind"] == "nothing":
        return None
    value = Received(reply)
    return {"list": value.array.tolist(), "NumPy array": value.array}.get(reply["kind"], value)
