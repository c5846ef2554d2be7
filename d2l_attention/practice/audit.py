"""Look for what is wrong with an exercise itself: tests call this for every chapter."""

import inspect
import itertools
from collections.abc import Callable

import numpy as np

from d2l_attention.frameworks import current, load, to_numpy
from d2l_attention.practice.checking import examine
from d2l_attention.practice.diagnosis import expected, same
from d2l_attention.practice.exercises import Exercise


def audit(exercise: Exercise, framework: str | None = None) -> list[str]:
    """Return what a wrong answer could slip through, one line each.

    Inputs are odd, different and several; the right answer passes and an empty one is not
    attempted; every named mistake is found and named, and looks like no other.
    """
    framework = framework or current()
    found = [f"an input of shape {s}: sizes should differ" for s in square_shapes(exercise)]
    if exercise.inputs is not None and len(exercise.cases()) < 2:
        found.append("there is one input only: a fixed answer would pass")
    found += unlucky_inputs_missing(exercise)
    empty_function = [lambda *inputs: None] if exercise.inputs is not None else []
    for empty in (None, ..., *empty_function):
        if examine(exercise, empty, framework).status != "not attempted":
            found.append(f"{empty} counts as an attempt")
    wrong = {m.name: m.wrong for m in exercise.mistakes if m.wrong is not None}
    outputs = {
        name: [expected(function, case) for case in exercise.cases()]
        for name, function in {**wrong, "the reference": exercise.reference}.items()
    }
    for a, b in itertools.combinations(outputs, 2):
        if all(same(x, y, exercise.tolerance) for x, y in zip(outputs[a], outputs[b], strict=True)):
            found.append(f"{a!r} and {b!r} give the same numbers on all inputs")
    right = outputs["the reference"]
    found += [
        "a target holds one number many times" for t in right if t.size > 1 and np.ptp(t) == 0
    ]
    for name, function in {"": exercise.reference, **wrong}.items():
        if exercise.inputs is None:
            answer = function() if callable(function) else function
        else:
            answer = as_answer(function, framework)
        result = examine(exercise, answer, framework, numbers_only=True)
        if (result.mistake or "") != name:
            found.append(f"{name or 'the reference'!r} is taken for {result.mistake!r}")
    return found


def unlucky_inputs_missing(exercise: Exercise) -> list[str]:
    """Name the inputs on which lazy answers fail, where there are none."""
    if exercise.inputs is None:
        return []
    cases = exercise.cases()
    batches = [np.shape(x)[0] for case in cases for x in case if np.ndim(x) >= 3]
    found = [] if not batches or 1 in batches else ["there is no batch of one"]
    names = inspect.signature(exercise.reference).parameters
    scores = [x for case in cases for name, x in zip(names, case, strict=True) if name == "scores"]
    if scores and not any((np.abs(x) > 100).any() for x in scores):
        found.append("there are no scores above 100: exponentials never overflow")
    return found


def square_shapes(exercise: Exercise) -> list[tuple]:
    shapes = {np.shape(x) for case in exercise.cases() for x in case if np.ndim(x) > 1}
    sizes = {s: [n for n in s if n > 1] for s in shapes}
    return [] if exercise.square else [s for s, n in sizes.items() if len(set(n)) < len(n)]


def as_answer(function: Callable, framework: str) -> Callable:
    """Return a function of NumPy arrays as one of the framework's, as a reader would write it."""

    def answer(*inputs):
        with np.errstate(all="ignore"):
            result = function(*map(as_numpy, inputs))
        return load(framework).make_array(np.asarray(result))

    return answer


def as_numpy(value: object) -> object:
    array = to_numpy(value)
    return np.array(array.tolist()) if isinstance(array, np.ndarray) else value
