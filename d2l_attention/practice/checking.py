"""Check an answer: show target and answer side by side, then say what is right or wrong."""

import contextlib
import inspect
import math
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from html import escape
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from d2l_attention.arrays import as_array, copied
from d2l_attention.frameworks import current, load
from d2l_attention.practice import drawing
from d2l_attention.practice.diagnosis import Finding, Trial, another_type, diagnose, expected, same
from d2l_attention.practice.exercises import Exercise, Stream, find
from d2l_attention.practice.words import composed, say, worded

NOT_THEIRS = (str(Path(__file__).parent.parent), *map(sysconfig.get_path, ("stdlib", "purelib")))
NOT_THEIRS += ("<string>",)  # what a library generates
STATUSES = {
    "passed": ("#2da44e", worded("{number} passed.")),
    "wrong": ("#d1242f", worded("{number} wrong.")),
    "error": ("#d1242f", worded("{number} error.")),
    "not attempted": ("#8c959f", worded("{number} not attempted.")),
}
# Findings after which there is nothing to compare, and their status.
FAILURES = {"": "not attempted", "wrong arguments": "error", "exception": "error"}
FAILURES |= {"nothing returned": "wrong", "not an array": "wrong"}
MOST_SHOWN = 8  # rows and columns
SHAPES_CLASH = re.compile(
    r"must match|broadcast|shapes? .*(cannot|mismatch|incompatible)|mat1 and mat2|contracting"
    r"|Incompatible shapes|Shape inconsistent"
)
# Of a message, what is meant for the reader: the bold part, without operations, lines of a library.
BOLD = re.compile(r"\x1b\[1m(.*?)\x1b", re.DOTALL)
NOT_MEANT = re.compile(r"\{\{.*?\}\} ?| \[Op:.*|^(Traceback .*\n(  .*\n)+)?\w+Error: ")


@dataclass(frozen=True)
class Result:
    """What a check found; `check` has shown it already, so it shows nothing itself."""

    number: str
    status: str  # one of STATUSES
    message: str
    mistake: str | None = None
    trial: Trial | None = field(default=None, repr=False)  # has the target, which may be secret

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def _ipython_display_(self) -> None:
        pass

    @property
    def verdict(self) -> str:
        return say(STATUSES[self.status][1]).format(number=self.number)

    def text(self) -> str:
        note, tables = side_by_side(self.trial)
        columns = [[title, *drawing.text_rows(rows)] for title, rows in tables]
        width = max((len(line) + 4 for column in columns[:1] for line in column), default=0)
        beside = zip_longest(*columns, fillvalue="")
        lines = ["".join(f"{part:{width}}" for part in line).rstrip() for line in beside]
        return "\n".join([*filter(None, [note]), *lines, f"{self.verdict} {self.message}"])

    def html(self) -> str:
        note, tables = side_by_side(self.trial)
        pair = "\n".join(drawing.table(rows, title=title) for title, rows in tables)
        flex = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:4px 28px"
        return (
            f"<style>{drawing.STYLE}</style>\n"
            + f"<p>{escape(note)}</p>" * bool(note)
            + f'<div style="{flex}">{pair}</div>\n' * bool(tables)
            + f'<p style="border-left:4px solid {STATUSES[self.status][0]};padding-left:10px;'
            f'margin:6px 0"><b>{self.verdict}</b> {escape(self.message)}</p>'
        )


def check(number: str | Exercise, answer: object) -> Result:
    """Show target and answer of an exercise side by side, and name the mistake if there is one.

    Args:
        number: Of the exercise, "4.1".
        answer: The function, class or value that the exercise asks for.
    """
    exercise = number if isinstance(number, Exercise) else find(number)
    result = examine(exercise, answer, current())
    data = {"text/plain": result.text(), "text/html": result.html()}
    record = composed()
    if (ipython := sys.modules.get("IPython")) and ipython.get_ipython():
        ipython.display.display(data, raw=True, metadata={"composed": record})
    else:
        print(data["text/plain"])
    return result


def examine(
    exercise: Exercise, answer: object, framework: str, *, numbers_only: bool = False, through=None
) -> Result:
    """Return what is right or wrong with an answer, whatever it is and does.

    `through` runs answers in place of the framework: it has the framework's `make_array`,
    `gradients` and `largest_array`, and `calls`, which names what an answer runs of libraries.
    """
    itself = SimpleNamespace(**vars(load(framework)), calls=partial(calls, load(framework)))
    attempt = Attempt(exercise, answer, load(framework).KEEP_AXIS, through or itself)
    mistake, message = next(attempt.findings(numbers_only), (None, say("Your answer is right.")))
    if mistake in FAILURES:
        return Result(exercise.number, FAILURES[mistake], message, mistake or None)
    trials = attempt.trials
    wrong = [trial for trial in trials if not trial.right]
    if mistake is None:
        if len(trials) > 1:
            message = say("Your answer is right on {count} inputs.").format(count=len(trials))
        message = " ".join([message, *(remark for _, remark in another_type(trials[0]))])
    elif wrong and any(trial.changed for trial in trials):
        message += " " + say("It also writes into its argument.")
    status = "wrong" if mistake else "passed"
    return Result(exercise.number, status, message, mistake, (wrong or trials)[0])


@dataclass
class Attempt:
    """An answer to an exercise, what runs it, and its trials once it has run."""

    exercise: Exercise
    answer: object
    keep_axis: str  # how a sum is told to keep its axis
    through: object
    trials: list[Trial] = field(default_factory=list)

    def findings(self, numbers_only: bool) -> Iterator[Finding]:
        """Yield what is wrong; take the first only, as each relies on there being none before."""
        yield from self.misfits()
        yield from self.failures()
        with np.errstate(all="ignore"):
            yield from diagnose(self.exercise, self.trials)
        if not numbers_only:
            yield from self.beyond_the_numbers()

    def misfits(self) -> Iterator[Finding]:
        """Say why an answer cannot be called as the task says, before it is."""
        if self.answer is None or self.answer is Ellipsis:
            yield unattempted()
        if self.exercise.inputs is None:
            return
        wanted = ", ".join(self.exercise.parameters)
        if not callable(self.answer):
            wrong = say("The answer is to be a function of ({arguments}), not of type {type}.")
            kind = type(self.answer).__name__
            yield "wrong arguments", wrong.format(arguments=wanted, type=kind)
        with contextlib.suppress(ValueError):  # some built-in functions do not say
            signature = inspect.signature(self.answer)
            try:
                signature.bind(*self.exercise.cases()[0])
            except TypeError:
                wrong = say(
                    "Your function takes {signature}, and the task calls it with ({arguments})."
                )
                yield "wrong arguments", wrong.format(signature=signature, arguments=wanted)

    def failures(self) -> Iterator[Finding]:
        """Run an answer on all inputs, and say why it returns nothing that can be compared."""
        for inputs in self.exercise.cases():
            given = [self.through.make_array(x) for x in inputs]
            try:
                handed = [Stream(given[0])] if self.exercise.stream else given
                returned = self.answer(*handed) if given else self.answer  # a value is itself
                getattr(returned, "wait_to_read", lambda: None)()  # errors may come late
            except (Exception, SystemExit) as error:
                lines, own = frames_of(error)  # theirs raises, and not something that it calls
                empty = isinstance(error, NotImplementedError) and own[-1:] == lines[-1:]
                first = empty and not self.trials
                yield unattempted() if first else self.raised(error, inputs)
            if returned is None or returned is Ellipsis:
                nothing = say("Your code returns {nothing}. Is a `return` missing?")
                missing = "nothing returned", nothing.format(nothing=returned)
                yield unattempted() if is_stub(self.answer) else missing
            pairs = zip(self.exercise.parameters, inputs, given, strict=True)
            written = [name for name, before, after in pairs if changed(before, after)]
            try:
                self.trials.append(Trial(self.exercise, inputs, returned, written))
            except TypeError:
                other = say("Your code returns no array of real numbers, but a {type}.")
                yield "not an array", other.format(type=type(returned).__name__)

    def beyond_the_numbers(self) -> Iterator[Finding]:
        """Say what right numbers do not show: ready-made functions, large arrays, gradients."""
        for inputs in self.exercise.cases():
            try:
                if self.exercise.without:
                    yield from self.ready_made(inputs)
                if self.exercise.most_elements:
                    yield from self.too_large(inputs)
                if self.exercise.gradient:
                    yield from self.wrong_gradients(inputs)
            except Exception as error:  # of code that cannot be traced, or calls what it must not
                yield self.raised(error, inputs)

    def ready_made(self, inputs: tuple) -> Iterator[Finding]:
        run = " ".join(self.through.calls(self.answer, inputs))
        for name in self.exercise.without:
            if name in run:
                text = say("The values are right, but the task asks you to do without {name}.")
                yield "a ready-made function", text.format(name=f"`{name}`")

    def too_large(self, inputs: tuple) -> Iterator[Finding]:
        most, answer = self.exercise.most_elements(*inputs), self.answer
        if self.exercise.stream:
            answer = lambda array: self.answer(array[i] for i in range(array.shape[0]))  # noqa: E731
        shape = self.through.largest_array(answer, inputs)
        if math.prod(shape) > most:
            text = say(
                "The values are right, but on its way your code makes an array of shape "
                "{shape}: the task allows {most} elements for these inputs."
            )
            yield "an array too large", text.format(shape=shape, most=most)

    def wrong_gradients(self, inputs: tuple) -> Iterator[Finding]:
        """Compare the gradients of an answer with central differences of the reference."""
        reference = self.exercise.reference
        direction = np.cos(np.arange(expected(reference, inputs).size))
        gradients = self.through.gradients(self.answer, inputs, direction)
        for at, gradient in gradients.items():
            wanted = central_differences(reference, inputs, at, direction)
            text = say(
                "The values are right, but their gradient with respect to {argument} is wrong. "
                "Gradients flow through the values that where() discards as well."
            )
            if not np.isfinite(gradient).all():
                text = say(
                    "The values are right, but their gradient with respect to {argument} is not "
                    "finite. Gradients flow through the values that where() discards as well."
                )
            if not np.allclose(gradient, wanted, rtol=1e-2, atol=1e-2):
                yield "gradient", text.format(argument=self.exercise.parameters[at])

    def raised(self, error: BaseException, inputs: tuple) -> Finding:
        """Return an exception of the reader's code in one line, with their line."""
        raised = type(error).__name__
        with contextlib.suppress(Exception):  # a message that cannot be made is none
            said = NOT_MEANT.sub("", (BOLD.search(str(error)) or [0, str(error)])[1]).strip()
            raised += f": {said.splitlines()[0][:200]}" if said else ""
        if own := frames_of(error)[1]:
            place = say("(line {number}: {code})")
            raised += " " + place.format(number=own[-1].lineno, code=own[-1].line[:80])
        text = say("Your code raises {error}")
        if SHAPES_CLASH.search(NOT_MEANT.sub("", str(error))):
            text = say(
                "Your code raises {error}. Did an axis get lost on the way? A sum or a maximum "
                "keeps its axis with {option}=True. The result has shape {shape}."
            )
        shape = expected(self.exercise.reference, inputs).shape
        return "exception", text.format(error=raised, option=self.keep_axis, shape=shape)


def frames_of(error: BaseException) -> tuple[list, list]:
    """Return the lines of a traceback, and those of them that are the reader's own."""
    lines = list(traceback.extract_tb(error.__traceback__))
    return lines, [line for line in lines if not line.filename.startswith(NOT_THEIRS)]


def unattempted() -> Finding:
    return "", say("Write your answer, then check it again.")


def calls(framework: object, answer: Callable, inputs: tuple) -> set[str]:
    """Return what runs of libraries, by name, but what compiled code hides."""
    names, given = set(), [framework.make_array(x) for x in inputs]
    package = sys.modules[framework.PACKAGE]
    beside_it = str(Path(package.__file__).parent.parent)  # elsewhere than Python's own, in grading

    def note(frame, event, function):
        if event == "c_call":
            names.add(function.__name__)
        elif frame.f_code.co_filename.startswith((beside_it, *NOT_THEIRS)):
            names.add(frame.f_code.co_name)

    line_by_line = getattr(package, "disable_jit", contextlib.nullcontext)
    with line_by_line(), contextlib.ExitStack() as last:
        last.callback(sys.setprofile, sys.getprofile())
        sys.setprofile(note)
        inspect.unwrap(answer)(*given)
    return names


def is_stub(answer: object) -> bool:
    """Say whether a function does nothing yet: it uses no name and keeps no value."""
    code = getattr(answer, "__code__", None)
    arguments = inspect.signature(answer).parameters if code else ()
    return not (code and (code.co_names or code.co_nlocals > len(arguments)))


def changed(before: object, after: object) -> bool:
    return isinstance(before, np.ndarray) and not np.array_equal(
        as_array(before), as_array(after), equal_nan=True
    )


@np.errstate(all="ignore")
def central_differences(
    function: Callable, inputs: tuple, place: int, direction: np.ndarray, step: float = 1e-6
) -> np.ndarray:
    """Return the gradient of sum(direction * function) for one input, by NumPy in float64."""
    inputs = list(map(copied, inputs))
    point = inputs[place]
    gradient = np.empty_like(point)
    for at in np.ndindex(point.shape):
        middle, ends = point[at], []
        for moved in (middle + step, middle - step):
            point[at] = moved
            ends.append((np.ravel(function(*map(copied, inputs))) * direction).sum())
        point[at] = middle
        gradient[at] = (ends[0] - ends[1]) / (2 * step)
    return gradient


def side_by_side(trial: Trial | None) -> tuple[str, list[tuple[str, list[drawing.Row]]]]:
    """Return which part is shown of large arrays, and target and answer as tables with titles.

    A value that is asked for is shown to those only who have it.
    """
    if trial is None:
        return "", []
    target, answer, note = trial.target, trial.answer, ""
    if answer.shape == target.shape:
        titles, wrong = (say("target"), say("your answer")), trial.off()
        at = tuple(map(int, np.unravel_index(wrong.argmax(), wrong.shape)[:-2]))  # the first
        if at:
            note = say("part {part} of shape {shape}").format(part=list(at), shape=target.shape)
            target, answer, wrong = target[at], answer[at], wrong[at]
    else:
        texts = say("target, shape {shape}"), say("your answer, shape {shape}")
        titles = [texts[0].format(shape=target.shape), texts[1].format(shape=answer.shape)]
        wrong = np.zeros(answer.shape, bool)
    whole = all(np.array_equal(x, x.round()) for x in (trial.target, trial.answer))
    digits = 0 if whole and trial.target_kind != "floating point" else drawing.DIGITS
    seen = as_matrix(target)
    colored = seen.size > 1 and bool(((seen >= 0) & (seen <= 1)).all())
    tables = []
    for array, off in ((target, np.zeros(target.shape, bool)), (answer, wrong)):
        rows = zip(as_matrix(array), as_matrix(off), strict=True)
        tables.append([drawing.Row(x, "", digits, colored, outlined=y) for x, y in rows])
    is_secret = not trial.inputs and not same(trial.answer, trial.target, 1e-12)
    return note, list(zip(titles, tables, strict=True))[is_secret:]


def as_matrix(array: np.ndarray) -> np.ndarray:
    """Return the first matrix of an array, cut to a size that can be read."""
    array = np.atleast_2d(array)
    while array.ndim > 2:
        array = array[0] if len(array) else array.reshape(0, array.shape[-1])
    return array[:MOST_SHOWN, :MOST_SHOWN]
