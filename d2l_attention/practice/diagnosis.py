"""Say what is wrong with an answer: an author's named mistakes first, then those of every task."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from d2l_attention.arrays import as_array, copied, kind_of
from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.words import say, worded


@dataclass(frozen=True)
class Trial:
    """One input, the right answer and the given one."""

    inputs: tuple
    target: np.ndarray
    target_kind: str
    answer: np.ndarray
    answer_dtype: str
    wanted_dtype: str | None = None
    changed: tuple[str, ...] = ()  # inputs that the answer wrote into
    is_list: bool = False
    is_numpy: bool = False

    def right(self, tolerance: float) -> bool:
        return same(self.answer, self.target, tolerance)


KINDS = {
    "boolean": worded("The answer must be boolean, and yours is {dtype}."),
    "integer": worded("The answer must be integer, and yours is {dtype}."),
    "floating point": worded("The answer must be floating point, and yours is {dtype}."),
}

Look = Callable[[list[Trial], Trial, float], str | None]  # what to say, if there is this mistake


def same(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    return a.shape == b.shape and np.allclose(a, b, tolerance, tolerance, equal_nan=True)


@np.errstate(all="ignore")
def diagnose(exercise: Exercise, trials: list[Trial]) -> tuple[str, str] | None:
    """Return the name of the mistake and what to say about it; None if there is none."""
    tolerance = exercise.tolerance
    wrong = [trial for trial in trials if not trial.right(tolerance)]
    if not wrong:
        is_strict = exercise.gradient or exercise.most_elements or exercise.stream
        kinds = WHEN_RIGHT | ({"another type": another_type} if is_strict else {})
        return next(found(kinds, trials, trials[0], tolerance), None)
    for mistake in exercise.mistakes:
        made = mistake.wrong is not None and all(
            same(t.answer, expected(mistake.wrong, t.inputs), tolerance) for t in trials
        )
        if made or (mistake.when and all(holds(mistake.when, t) for t in wrong)):
            return mistake.name, say(mistake.say)
    looks = WHEN_WRONG if exercise.inputs else WHEN_A_WRONG_VALUE
    return next(found(looks, trials, wrong[0], tolerance))


def holds(when: Callable[..., bool], trial: Trial) -> bool:
    """Ask an author's question about an answer of any shape; one that cannot be asked is no."""
    try:
        return bool(when(trial.answer, trial.target, *trial.inputs))
    except (ValueError, IndexError):
        return False


@np.errstate(all="ignore")
def expected(function: object, inputs: tuple) -> np.ndarray:
    """Return what a wrong or right function gives, or a value that is none."""
    return as_array(function(*map(copied, inputs)) if callable(function) else function)


def found(
    kinds: dict[str, Look], trials: list[Trial], trial: Trial, tolerance: float
) -> Iterator[tuple[str, str]]:
    """Yield name and message of each kind of mistake that is there; `trial` is the first wrong."""
    for name, look in kinds.items():
        if message := look(trials, trial, tolerance):
            yield name, message


def in_place(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    if any(t.changed for t in trials):
        names = say(" and ").join(next(t.changed for t in trials if t.changed))
        return say(
            "The values are right, but your code writes into its argument {argument}: the "
            "caller finds other values there afterwards. Make a new array."
        ).format(argument=names)


def wrong_kind(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    kind = kind_of(trial.answer_dtype)
    if trial.inputs and trial.target_kind != kind and trial.target.ndim:
        return say(KINDS[trial.target_kind]).format(dtype=trial.answer_dtype)


def another_type(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    """Say what holds right numbers: a mistake where a gradient, sizes or a stream count."""
    if trial.is_numpy:
        return say("Your code returns a NumPy array: stay in the arrays that it is given.")
    if trial.is_list and trial.target.ndim:
        return say("The values are right, but in a list: return an array, which has a shape.")
    if trial.target.ndim and trial.wanted_dtype not in (None, trial.answer_dtype):
        return say(
            "The values are right, but the data type changes: the input is {wanted} and your "
            "answer {dtype}."
        ).format(wanted=trial.wanted_dtype, dtype=trial.answer_dtype)


def wrong_shape(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    answer, target = trial.answer, trial.target
    if answer.shape == target.shape:
        return None
    text = say("The answer must have shape {wanted}, and yours has {shape}.")
    text = text.format(wanted=target.shape, shape=answer.shape)
    if answer.ndim == target.ndim and same(
        answer.swapaxes(-1, -2) if answer.ndim > 1 else answer, target, tolerance
    ):
        return text + " " + say("It is transposed: the last two axes are swapped.")
    if same(answer.squeeze(), target.squeeze(), tolerance):
        return text + " " + say("The values are right; an axis of size 1 is missing or too many.")
    if trial.is_list:
        several = say("Your code returns a tuple or list of {count}: the task asks for one array.")
        return f"{text} {several.format(count=len(answer))}"
    axes = max(map(np.ndim, trial.inputs), default=answer.ndim)
    if answer.squeeze().ndim > axes and len({*answer.shape}) < answer.ndim:  # two are one axis
        larger = say(
            "It is larger than it should be, and no error has stopped you: two arrays were "
            "broadcast whose axes do not mean the same. Compare the shapes of what you combine."
        )
        return f"{text} {larger}"
    return text


def not_finite(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    if not (~np.isfinite(trial.answer) & np.isfinite(trial.target)).any():
        return None
    what = "NaN" if np.isnan(trial.answer).any() else say("infinite")
    return say(
        "Some entries are {what}. Look for 0/0, for inf - inf, for 0 times inf or the log "
        "of 0: rows where nothing is left, or exponentials that overflow."
    ).format(what=what)


def hard_coded(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    first = trials[0]
    repeated = all(same(t.answer, first.answer, tolerance) for t in trials[1:])
    if len(trials) > 1 and repeated and np.isfinite(first.answer).all():
        return say(
            "Your code gives the same values for every input: compute them from the arguments."
        )
    others = wrong_shape(trials, trial, tolerance) or not_finite(trials, trial, tolerance)
    if first.right(tolerance) and not others:
        shapes = ", ".join(str(np.shape(x)) for x in trial.inputs)
        return say(
            "It is right on the first input and wrong on another one, shown here "
            "(shapes {shapes}). Does your code rely on a size or value of the first?"
        ).format(shapes=shapes)


def not_normalized(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    if trial.target.ndim < 1 or trial.target.size < 2:
        return None
    wanted, got = trial.target.sum(-1), trial.answer.sum(-1)
    if (
        (trial.target >= 0).all()
        and np.allclose(wanted * (1 - wanted), 0, atol=1e-6)
        and wanted.any()
        and not np.allclose(got, wanted, atol=1e-3)
    ):
        return say(
            "These are weights: each row must sum to {wanted}, and yours sum to {sums}."
        ).format(wanted=set_text(wanted), sums=set_text(got))


def set_text(values: np.ndarray) -> str:
    texts = list(dict.fromkeys(f"{v:.4g}" for v in values.ravel()))
    return ", ".join(texts[:4]) + (", ..." if len(texts) > 4 else "")


def a_factor(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    there = np.abs(trial.target) > 1e-3
    if there.sum() < 2:
        return None
    factor = float(np.median(trial.answer[there] / trial.target[there]))
    if np.isfinite(factor) and factor and same(trial.answer, factor * trial.target, tolerance):
        return say(
            "All entries are {factor} times the right ones: a scale is missing or "
            "too many, a mean in place of a sum, or a wrong sign."
        ).format(factor=f"{factor:.4g}")


def an_offset(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    offset = float(np.median(trial.answer - trial.target))
    if trial.target.size > 1 and same(trial.answer, trial.target + offset, tolerance):
        differ = say("All entries differ from the right ones by the same {offset}.")
        return differ.format(offset=f"{offset:.4g}")


def another_order(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    if trial.target.size > 1 and same(
        np.sort(trial.answer, None), np.sort(trial.target, None), tolerance
    ):
        return say(
            "The values are right, but in another order: an axis is transposed, or a "
            "reshape or repeat took them in the wrong order (repeat, repeat_interleave)."
        )


def some_differ(trials: list[Trial], trial: Trial, tolerance: float) -> str | None:
    off = ~np.isclose(trial.answer, trial.target, tolerance, tolerance, equal_nan=True)
    at = tuple(int(i) for i in np.argwhere(off)[0])
    differ = say(
        "{count} of {all} entries differ; the first at {place} should be {wanted} and is {value}."
    )
    if not at:
        differ = say(
            "{count} of {all} entries differ; the first should be {wanted} and is {value}."
        )
    return differ.format(
        count=off.sum(),
        all=off.size,
        place=list(at),
        wanted=short(trial.target[at]),
        value=short(trial.answer[at]),
    )


def not_the_value(trials: list[Trial], trial: Trial, tolerance: float) -> str:
    """Say how much is wrong and not what would be right: the value is the answer."""
    if not trial.target.ndim:
        return say("This is not the value that the task asks for.")
    off = ~np.isclose(trial.answer, trial.target, tolerance, tolerance, equal_nan=True)
    differ = say("{count} of {all} numbers differ from what the task asks for.")
    return differ.format(count=off.sum(), all=off.size)


def short(value: float) -> str:
    return f"{value:.4f}" if value % 1 else f"{value:.0f}"


WHEN_RIGHT: dict[str, Look] = {
    "argument changed in place": in_place,
    "wrong data type": wrong_kind,
}
WHEN_WRONG: dict[str, Look] = {
    "hard-coded": hard_coded,
    "wrong shape": wrong_shape,
    "not a finite number": not_finite,
    "rows that do not sum to 1": not_normalized,
    "a constant factor": a_factor,
    "a constant offset": an_offset,
    "another order": another_order,
    "different numbers": some_differ,
}
# A factor, an offset or the first wrong entry would tell a value that is asked for.
WHEN_A_WRONG_VALUE: dict[str, Look] = {
    "wrong shape": wrong_shape,
    "not a finite number": not_finite,
    "different numbers": not_the_value,
}
