"""Check an answer: show target and answer side by side, then say what is right or wrong."""

import contextlib
import inspect
import math
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from html import escape
from itertools import zip_longest
from pathlib import Path

import numpy as np

from d2l_attention.arrays import as_array, copied, dtype_of, kind_of
from d2l_attention.frameworks import current, load
from d2l_attention.practice import drawing
from d2l_attention.practice.diagnosis import Trial, another_type, diagnose
from d2l_attention.practice.exercises import Exercise, Stream, find
from d2l_attention.practice.gradients import central_differences
from d2l_attention.practice.words import say, worded

NOT_THEIRS = (str(Path(__file__).parent.parent), *map(sysconfig.get_path, ("stdlib", "purelib")))
COLORS = {"passed": "#2da44e", "wrong": "#d1242f", "error": "#d1242f", "not attempted": "#8c959f"}
VERDICTS = {
    "passed": worded("{number} passed."),
    "wrong": worded("{number} wrong."),
    "error": worded("{number} error."),
    "not attempted": worded("{number} not attempted."),
}
MOST_SHOWN = 8  # rows and columns
SHAPES_CLASH = re.compile(
    r"must match|broadcast|shapes? .*(cannot|mismatch|incompatible)|mat1 and mat2|contracting"
    r"|Incompatible shapes"
)
# Of a message, what is meant for the reader: the bold part, without names of operations.
BOLD, NOT_MEANT = re.compile(r"\x1b\[1m(.*?)\x1b", re.DOTALL), re.compile(r"\{\{.*?\}\} ?| \[Op:.*")


@dataclass(frozen=True)
class Result:
    """What a check found; `check` has shown it already, so it shows nothing itself."""

    number: str
    status: str  # "passed", "wrong", "error" or "not attempted"
    message: str
    mistake: str | None = None
    trial: Trial | None = field(default=None, repr=False)  # has the target, which may be secret
    tolerance: float = 1e-4

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def _ipython_display_(self) -> None:
        pass

    @property
    def verdict(self) -> str:
        return say(VERDICTS[self.status]).format(number=self.number)

    def text(self) -> str:
        return "\n".join([*side_by_side(self), f"{self.verdict} {self.message}"])

    def html(self) -> str:
        verdict = (
            f'<p style="border-left:4px solid {COLORS[self.status]};padding-left:10px;'
            f'margin:6px 0"><b>{self.verdict}</b> {escape(self.message)}</p>'
        )
        return f"<style>{drawing.STYLE}</style>\n{tables(self)}{verdict}"


def check(number: str | Exercise, answer: object, *, framework: str | None = None) -> Result:
    """Show target and answer of an exercise side by side, and name the mistake if there is one.

    Args:
        number: Of the exercise, "4.1".
        answer: The function, class or value that the exercise asks for.
        framework: Whose arrays the answer gets; by default that of the edition.
    """
    exercise = number if isinstance(number, Exercise) else find(number)
    result = examine(exercise, answer, framework or current())
    show(result.text(), result.html())
    return result


def show(text: str, html: str) -> None:
    """Display in a notebook, print anywhere else."""
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython():
        from IPython.display import display

        display({"text/plain": text, "text/html": html}, raw=True)
    else:
        print(text)


def examine(
    exercise: Exercise,
    answer: object,
    framework: str,
    *,
    numbers_only: bool = False,
    through: object | None = None,
) -> Result:
    """Return what is right or wrong with an answer, whatever it is and does.

    `through` may make arrays, take gradients and look at a run in place of the framework.
    """
    through = through or load(framework)

    def result(status: str, message: str, mistake: str | None = None, trial: Trial | None = None):
        return Result(exercise.number, status, message, mistake, trial, exercise.tolerance)

    missing = result("not attempted", say("Write your answer, then check it again."))
    if answer is None or answer is Ellipsis:
        return missing
    if misfit := wrong_call(exercise, answer):
        return result("error", misfit, "wrong arguments")
    trials = []
    for inputs in exercise.cases():
        given = [through.make_array(x) for x in inputs]
        try:
            handed = [Stream(given[0])] if exercise.stream else given
            returned = answer(*handed) if given else answer  # a value is itself
        except (Exception, SystemExit) as error:
            if isinstance(error, NotImplementedError) and not trials and raised_by_them(error):
                return missing
            return result("error", complaint(error, exercise, inputs, framework), "exception")
        if returned is None or returned is Ellipsis:
            if is_stub(answer):
                return missing
            nothing = say("Your code returns {nothing}. Is a `return` missing?")
            return result("wrong", nothing.format(nothing=returned), "nothing returned")
        try:
            trials.append(tried(exercise, inputs, given, returned))
        except TypeError:
            other = say("Your code returns no array of real numbers, but a {type}.")
            return result("wrong", other.format(type=type(returned).__name__), "not an array")
    found = diagnose(exercise, trials)
    if found is None and not numbers_only:
        try:
            found = beyond_the_numbers(exercise, answer, through)
        except Exception as error:  # of code that cannot be traced, or calls what it must not
            wrong = complaint(error, exercise, trials[0].inputs, framework)
            return result("error", wrong, "exception")
    if found is None:
        several = say("Your answer is right on {count} inputs.").format(count=len(trials))
        right = several if len(trials) > 1 else say("Your answer is right.")
        remark = another_type(trials, trials[0], exercise.tolerance) or ""
        return result("passed", f"{right} {remark}".strip(), None, trials[0])
    wrong = [t for t in trials if not t.right(exercise.tolerance)]
    also = [say("It also writes into its argument.")] * any(wrong and t.changed for t in trials)
    return result("wrong", " ".join([found[1], *also]), found[0], (wrong or trials)[0])


def beyond_the_numbers(
    exercise: Exercise, answer: Callable, through: object
) -> tuple[str, str] | None:
    """Look at what right numbers do not show: gradients, and arrays that are too large."""
    asked = (
        (lambda array: answer(array[i] for i in range(array.shape[0])))
        if exercise.stream
        else answer
    )
    for inputs in exercise.cases():
        see = getattr(through, "calls", partial(calls, through))
        run = " ".join(see(answer, inputs)) if exercise.without else ""
        if ready := [name for name in exercise.without if name in run]:
            said = say("The values are right, but the task asks you to do without {name}.")
            return "a ready-made function", said.format(name=f"`{ready[0]}`")
        if exercise.most_elements:
            most = exercise.most_elements(*inputs)
            made = through.largest_array(asked, inputs)
            if math.prod(made) > most:
                return "an array too large", say(
                    "The values are right, but on its way your code makes an array of shape "
                    "{shape}: the task allows {most} elements for these inputs."
                ).format(shape=made, most=most)
        if exercise.gradient and (wrong := wrong_gradient(exercise, answer, inputs, through)):
            return "gradient", wrong
    return None


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


def wrong_gradient(
    exercise: Exercise, answer: Callable, inputs: tuple, through: object
) -> str | None:
    """Compare the gradient of an answer with central differences of the reference."""
    names = list(inspect.signature(exercise.reference).parameters)
    direction = np.cos(np.arange(np.size(exercise.reference(*map(copied, inputs)))))
    got = through.gradients(answer, inputs, direction)
    for at, gradient in got.items():
        wanted = central_differences(exercise.reference, inputs, at, direction)
        if not np.isfinite(gradient).all():
            wrong = say(
                "The values are right, but their gradient with respect to {argument} is not "
                "finite. Gradients flow through the values that where() discards as well."
            )
        elif not np.allclose(gradient, wanted, rtol=1e-2, atol=1e-2):
            wrong = say(
                "The values are right, but their gradient with respect to {argument} is wrong. "
                "Gradients flow through the values that where() discards as well."
            )
        else:
            continue
        return wrong.format(argument=names[at])
    return None


def wrong_call(exercise: Exercise, answer: object) -> str | None:
    """Say why an answer cannot be called as the task says, before it is."""
    if exercise.inputs is None:
        return None
    wanted = ", ".join(inspect.signature(exercise.reference).parameters)
    if not callable(answer):
        kind = type(answer).__name__
        wrong = say("The answer is to be a function of ({arguments}), not of type {type}.")
        return wrong.format(arguments=wanted, type=kind)
    with contextlib.suppress(ValueError):  # some built-in functions do not say
        signature = inspect.signature(answer)
        try:
            signature.bind(*exercise.cases()[0])
        except TypeError:
            wrong = say(
                "Your function takes {signature}, and the task calls it with ({arguments})."
            )
            return wrong.format(signature=signature, arguments=wanted)
    return None


def is_stub(answer: object) -> bool:
    """Say whether a function does nothing yet: it uses no name and keeps no value."""
    code = getattr(answer, "__code__", None)
    if code is None:
        return True
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    arguments = code.co_argcount + code.co_kwonlyargcount + stars
    return not code.co_names and code.co_nlocals == arguments


def tried(exercise: Exercise, inputs: tuple, given: list, returned: object) -> Trial:
    """Return the right answer and the given one as arrays, to be compared."""
    with np.errstate(all="ignore"):
        target = exercise.reference
        if exercise.inputs is not None:
            target = target(*map(copied, inputs))
    dtypes = [dtype_of(x) for x in given if hasattr(x, "dtype")]
    floats = [dtype for dtype in dtypes if kind_of(dtype) == "floating point"]
    names = list(inspect.signature(exercise.reference).parameters) if inputs else []
    return Trial(
        inputs=inputs,
        target=as_array(target),
        target_kind=kind_of(dtype_of(target)),
        answer=as_array(returned),
        answer_dtype=dtype_of(returned),
        wanted_dtype=floats[0] if floats and np.asarray(target).dtype.kind == "f" else None,
        changed=tuple(n for n, x, y in zip(names, inputs, given, strict=True) if changed(x, y)),
        is_list=isinstance(returned, list | tuple) and exercise.inputs is not None,
        is_numpy=isinstance(returned, np.ndarray) and exercise.inputs is not None,
    )


def changed(before: object, after: object) -> bool:
    return isinstance(before, np.ndarray) and not np.array_equal(
        as_array(before), as_array(after), equal_nan=True
    )


def frames_of(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the lines of a traceback that are the reader's own."""
    lines = traceback.extract_tb(error.__traceback__)
    return [line for line in lines if not line.filename.startswith(NOT_THEIRS)]


def raised_by_them(error: BaseException) -> bool:
    """Say whether the reader's own line raises, and not something that it calls."""
    own = frames_of(error)
    return bool(own) and own[-1] == traceback.extract_tb(error.__traceback__)[-1]


def complaint(error: BaseException, exercise: Exercise, inputs: tuple, framework: str) -> str:
    """Return an exception of the reader's code in one line, with their line."""
    raised = type(error).__name__
    with contextlib.suppress(Exception):  # a message that cannot be made is none
        said = NOT_MEANT.sub("", (BOLD.search(str(error)) or [0, str(error)])[1]).strip()
        raised += f": {said.splitlines()[0][:200]}" if said else ""
    if own := frames_of(error):
        place = say("(line {number}: {code})")
        raised += " " + place.format(number=own[-1].lineno, code=own[-1].line[:80])
    if SHAPES_CLASH.search(str(error)):
        with np.errstate(all="ignore"):
            shape = np.shape(exercise.reference(*map(copied, inputs)))
        return say(
            "Your code raises {error}. Did an axis get lost on the way? A sum or a maximum keeps "
            "its axis with {option}=True. The result has shape {shape}."
        ).format(error=raised, option=load(framework).KEEP_AXIS, shape=shape)
    return say("Your code raises {error}").format(error=raised)


def pictured(trial: Trial, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Return target, answer and where the answer is wrong as matrices, and which part they are."""
    target, answer, note = trial.target, trial.answer, ""
    fits = answer.shape == target.shape
    wrong = ~np.isclose(answer, target, tolerance, tolerance, equal_nan=True) if fits else None
    if fits and target.ndim > 2:
        first = np.argwhere(wrong)[0] if wrong.any() else np.zeros(target.ndim, int)
        at = tuple(int(i) for i in first[:-2])
        note = say("part {part} of shape {shape}").format(part=list(at), shape=target.shape)
        target, answer, wrong = target[at], answer[at], wrong[at]
    target, answer = as_matrix(target), as_matrix(answer)
    wrong = as_matrix(wrong) if fits else np.zeros(answer.shape, bool)
    return target, answer, wrong, note


def as_matrix(array: np.ndarray) -> np.ndarray:
    """Return the first matrix of an array, cut to a size that can be read."""
    array = array[None, None] if array.ndim == 0 else np.atleast_2d(array)
    while array.ndim > 2:
        array = array[0] if len(array) else array.reshape(0, array.shape[-1])
    return array[:MOST_SHOWN, :MOST_SHOWN]


def headings(trial: Trial) -> tuple[str, str]:
    if trial.target.shape == trial.answer.shape:
        return say("target"), say("your answer")
    return (
        say("target, shape {shape}").format(shape=trial.target.shape),
        say("your answer, shape {shape}").format(shape=trial.answer.shape),
    )


def digits_of(trial: Trial) -> int:
    """Return 0 where target and answer are whole numbers."""
    whole = all(np.array_equal(a, np.round(a)) for a in (trial.target, trial.answer))
    return 0 if whole and trial.target_kind != "floating point" else drawing.DIGITS


def side_by_side(result: Result) -> list[str]:
    """Return target and answer as lines of text; a star marks what is wrong."""
    if result.trial is None:
        return []
    target, answer, wrong, note = pictured(result.trial, result.tolerance)
    titles = headings(result.trial)
    digits = digits_of(result.trial)
    right = [titles[1], *drawing.text_rows(answer, wrong, digits=digits)]
    if is_secret(result.trial):
        return right
    left = [titles[0], *drawing.text_rows(target, digits=digits)]
    width = max(map(len, left)) + 4
    pairs = zip_longest(left, right, fillvalue="")
    return [*([note] if note else []), *(f"{a:{width}}{b}".rstrip() for a, b in pairs)]


def is_secret(trial: Trial) -> bool:
    """Say whether the target would give the answer away: a value that is asked for."""
    return not trial.inputs and not trial.right(1e-12)


def tables(result: Result) -> str:
    """Return target and answer as two tables; a red outline marks what is wrong."""
    if result.trial is None:
        return ""
    target, answer, wrong, note = pictured(result.trial, result.tolerance)
    weights = ((target >= 0) & (target <= 1)).all() and target.size > 1
    digits = digits_of(result.trial)
    titles = headings(result.trial)
    none = np.zeros(target.shape, bool)
    both = (target, titles[0], none), (answer, titles[1], wrong)
    pair = "\n".join(
        drawing.table(
            [
                drawing.Row(row, digits=digits, colored=weights, outlined=marked)
                for row, marked in zip(matrix, marks, strict=True)
            ],
            title=title,
        )
        for matrix, title, marks in both[is_secret(result.trial) :]
    )
    note = f"<p>{escape(note)}</p>" if note else ""
    style = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:4px 28px"
    return f'{note}<div style="{style}">{pair}</div>\n'
