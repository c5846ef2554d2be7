"""Say what is wrong with an answer: an author's named mistakes first, then those of every task."""

import contextlib
from collections.abc import Iterator

import numpy as np

from d2l_attention.arrays import as_array, copied, dtype_of, is_float_array, kind_of
from d2l_attention.practice.exercises import Exercise, Mistake
from d2l_attention.practice.words import say, worded

KINDS = {
    "boolean": worded("The answer must be boolean, and yours is {dtype}."),
    "integer": worded("The answer must be integer, and yours is {dtype}."),
    "floating point": worded("The answer must be floating point, and yours is {dtype}."),
}
Finding = tuple[str, str]  # a mistake's name, and what to say about it


def same(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    return a.shape == b.shape and np.allclose(a, b, tolerance, tolerance, equal_nan=True)


@np.errstate(all="ignore")
def expected(function: object, inputs: tuple) -> np.ndarray:
    """Return what a function makes of inputs, in float64, or a value that is none."""
    return as_array(function(*map(copied, inputs)) if callable(function) else function)


class Trial:
    """One input, the right answer and the returned one; TypeError where this is no array."""

    def __init__(self, exercise: Exercise, inputs: tuple, returned: object, changed: list[str]):
        with np.errstate(all="ignore"):
            target = exercise.reference(*map(copied, inputs)) if inputs else exercise.reference
        self.inputs, self.tolerance = inputs, exercise.tolerance
        self.target, self.target_kind = as_array(target), kind_of(dtype_of(target))
        self.answer, self.dtype = as_array(returned), dtype_of(returned)
        self.changed = changed  # names of the inputs that the answer wrote into
        self.is_list = bool(inputs) and isinstance(returned, list | tuple)
        self.is_numpy = bool(inputs) and isinstance(returned, np.ndarray)
        self.right = self.equals(self.target)

    def equals(self, other: np.ndarray) -> bool:
        return same(self.answer, other, self.tolerance)

    def off(self) -> np.ndarray:
        """Return where an answer of the right shape is wrong."""
        return ~np.isclose(self.answer, self.target, *[self.tolerance] * 2, equal_nan=True)


def diagnose(exercise: Exercise, trials: list[Trial]) -> Iterator[Finding]:
    """Yield the mistakes of an answer, the likeliest first."""
    wrong = [trial for trial in trials if not trial.right]
    if wrong:
        yield from named(exercise.mistakes, trials, wrong)
        symptoms = wrong_numbers if exercise.inputs else wrong_value
        yield from symptoms(wrong[0], trials)
        return
    if changed := [trial.changed for trial in trials if trial.changed]:
        text = say(
            "The values are right, but your code writes into its argument {argument}: the "
            "caller finds other values there afterwards. Make a new array."
        )
        yield "argument changed in place", text.format(argument=say(" and ").join(changed[0]))
    first = trials[0]
    if first.inputs and first.target.ndim and first.target_kind != kind_of(first.dtype):
        yield "wrong data type", say(KINDS[first.target_kind]).format(dtype=first.dtype)
    if exercise.gradient or exercise.most_elements or exercise.stream:
        yield from another_type(first)


def named(mistakes: list[Mistake], trials: list[Trial], wrong: list[Trial]) -> Iterator[Finding]:
    """Yield an author's mistakes that give the answer, or show on all inputs where it is wrong."""
    for mistake in mistakes:
        made = mistake.wrong and all(t.equals(expected(mistake.wrong, t.inputs)) for t in trials)
        if mistake.when and not made:
            with contextlib.suppress(ValueError, IndexError):  # it cannot be asked of any shape
                made = all(mistake.when(t.answer, t.target, *t.inputs) for t in wrong)
        if made:
            yield mistake.name, say(mistake.say)


def another_type(trial: Trial) -> Iterator[Finding]:
    """Say what holds right numbers: a mistake where a gradient, sizes or a stream count."""
    floats = [x for x in trial.inputs if is_float_array(x)]
    wanted = dtype_of(floats[0]) if floats and trial.target_kind == "floating point" else None
    if trial.is_numpy:
        text = say("Your code returns a NumPy array: stay in the arrays that it is given.")
    elif trial.target.ndim and trial.is_list:
        text = say("The values are right, but in a list: return an array, which has a shape.")
    elif trial.target.ndim and wanted not in (None, trial.dtype):
        text = say(
            "The values are right, but the data type changes: the input is {wanted} and your "
            "answer {dtype}."
        ).format(wanted=wanted, dtype=trial.dtype)
    else:
        return
    yield "another type", text


def wrong_shape(trial: Trial) -> Iterator[Finding]:
    answer, target = trial.answer, trial.target
    if answer.shape == target.shape:
        return
    text = say("The answer must have shape {wanted}, and yours has {shape}.")
    text = text.format(wanted=target.shape, shape=answer.shape)
    axes = max(map(np.ndim, trial.inputs), default=answer.ndim)
    if answer.ndim == target.ndim > 1 and trial.equals(target.swapaxes(-1, -2)):
        text += " " + say("It is transposed: the last two axes are swapped.")
    elif same(answer.squeeze(), target.squeeze(), trial.tolerance):
        text += " " + say("The values are right; an axis of size 1 is missing or too many.")
    elif trial.is_list:
        several = say("Your code returns a tuple or list of {count}: the task asks for one array.")
        text += " " + several.format(count=len(answer))
    elif answer.squeeze().ndim > axes and len({*answer.shape}) < answer.ndim:  # two are one axis
        text += " " + say(
            "It is larger than it should be, and no error has stopped you: two arrays were "
            "broadcast whose axes do not mean the same. Compare the shapes of what you combine."
        )
    yield "wrong shape", text


def not_finite(trial: Trial) -> Iterator[Finding]:
    if (~np.isfinite(trial.answer) & np.isfinite(trial.target)).any():
        text = say(
            "Some entries are {what}. Look for 0/0, for inf - inf, for 0 times inf or the log "
            "of 0: rows where nothing is left, or exponentials that overflow."
        )
        what = "NaN" if np.isnan(trial.answer).any() else say("infinite")
        yield "not a finite number", text.format(what=what)


def wrong_value(trial: Trial, trials: list[Trial]) -> Iterator[Finding]:
    """Say how much is wrong of a value that is asked for, and nothing that would tell it."""
    yield from wrong_shape(trial)
    yield from not_finite(trial)
    text = say("This is not the value that the task asks for.")
    if trial.target.ndim:
        text = say("{count} of {all} numbers differ from what the task asks for.")
        text = text.format(count=trial.off().sum(), all=trial.target.size)
    yield "different numbers", text


def wrong_numbers(trial: Trial, trials: list[Trial]) -> Iterator[Finding]:
    """Say what the first wrong answer and the answers to other inputs have in common."""
    first, *others = trials
    repeated = others and all(other.equals(first.answer) for other in others)
    if repeated and np.isfinite(first.answer).all():
        text = say(
            "Your code gives the same values for every input: compute them from the arguments."
        )
        yield "hard-coded", text
    yield from wrong_shape(trial)
    yield from not_finite(trial)
    if first.right:
        text = say(
            "It is right on the first input and wrong on another one, shown here "
            "(shapes {shapes}). Does your code rely on a size or value of the first?"
        )
        yield "hard-coded", text.format(shapes=", ".join(str(np.shape(x)) for x in trial.inputs))
    if trial.target.size > 1:
        yield from related(trial)
    off = np.argwhere(trial.off())
    at = tuple(off[0].tolist())
    text = say("{count} of {all} entries differ; the first should be {wanted} and is {value}.")
    if at:
        text = say(
            "{count} of {all} entries differ; the first at {place} should be {wanted} and is "
            "{value}."
        )
    pair = trial.target[at], trial.answer[at]
    wanted, value = (f"{x:.4f}" if x % 1 else f"{x:.0f}" for x in pair)
    counts = {"count": len(off), "all": trial.target.size, "place": list(at)}
    yield "different numbers", text.format(**counts, wanted=wanted, value=value)


def related(trial: Trial) -> Iterator[Finding]:
    """Say how wrong numbers are related to the right ones, which have the same shape."""
    answer, target = trial.answer, trial.target
    wanted, sums = target.sum(-1), answer.sum(-1)
    are_weights = (target >= 0).all() and np.allclose(wanted * (1 - wanted), 0, atol=1e-6)
    if are_weights and wanted.any() and not np.allclose(sums, wanted, atol=1e-3):
        text = say("These are weights: each row must sum to {wanted}, and yours sum to {sums}.")
        yield "rows that do not sum to 1", text.format(wanted=some_of(wanted), sums=some_of(sums))
    there = np.abs(target) > 1e-3
    factor = np.median(answer[there] / target[there]) if there.sum() > 1 else 0
    if np.isfinite(factor) and factor and trial.equals(factor * target):
        text = say(
            "All entries are {factor} times the right ones: a scale is missing or "
            "too many, a mean in place of a sum, or a wrong sign."
        )
        yield "a constant factor", text.format(factor=f"{factor:.4g}")
    offset = np.median(answer - target)
    if trial.equals(target + offset):
        text = say("All entries differ from the right ones by the same {offset}.")
        yield "a constant offset", text.format(offset=f"{offset:.4g}")
    if same(np.sort(answer, None), np.sort(target, None), trial.tolerance):
        text = say(
            "The values are right, but in another order: an axis is transposed, or a "
            "reshape or repeat took them in the wrong order (repeat, repeat_interleave)."
        )
        yield "another order", text


def some_of(values: np.ndarray) -> str:
    texts = list(dict.fromkeys(f"{v:.4g}" for v in values.ravel()))
    return ", ".join(texts[:4]) + (", ..." if len(texts) > 4 else "")
