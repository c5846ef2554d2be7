"""Look for what is wrong with an exercise itself: tests call this for every chapter."""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from d2l_attention.arrays import copied
from d2l_attention.frameworks import current, load, to_numpy
from d2l_attention.practice.checking import examine
from d2l_attention.practice.diagnosis import expected, same
from d2l_attention.practice.exercises import Exercise


def audit(exercise: Exercise) -> list[str]:
    """Return what a wrong answer could slip through, one line each.

    Inputs are odd, different and several; the right answer passes; every named mistake is found and
    named, and looks like no other.
    """
    return [*weak_inputs(exercise), *mistaken_mistakes(exercise)]


def weak_inputs(exercise: Exercise) -> Iterator[str]:
    """Name the inputs on which lazy answers fail, where there are none."""
    cases = exercise.cases()
    shapes = {np.shape(x) for case in cases for x in case}
    for shape in shapes:
        sizes = [size for size in shape if size > 1]
        if not exercise.square and len(set(sizes)) < len(sizes):
            yield f"an input of shape {shape}: sizes should differ"
    if exercise.inputs and len(cases) < 2:
        yield "there is one input only: a fixed answer would pass"
    batches = {shape[0] for shape in shapes if len(shape) >= 3}
    if batches and 1 not in batches:
        yield "there is no batch of one"
    if "scores" in exercise.parameters:
        at = exercise.parameters.index("scores")
        if not any((np.abs(case[at]) > 100).any() for case in cases):
            yield "there are no scores above 100: exponentials never overflow"


def mistaken_mistakes(exercise: Exercise) -> Iterator[str]:
    """Name the mistakes that look like others, or like the right answer, which has no name."""
    answers = {"": exercise.reference} | {m.name: m.wrong for m in exercise.mistakes if m.wrong}
    cases = exercise.cases()
    outputs = {name: [expected(f, case) for case in cases] for name, f in answers.items()}
    for a, b in itertools.combinations(outputs, 2):
        if all(same(x, y, exercise.tolerance) for x, y in zip(outputs[a], outputs[b], strict=True)):
            yield f"{a!r} and {b!r} give the same numbers on all inputs"
    if any(target.size > 1 and np.ptp(target) == 0 for target in outputs[""]):
        yield "a target holds one number many times"
    for name, function in answers.items():
        answer = as_answer(function) if exercise.inputs else expected(function, ())
        found = examine(exercise, answer, current(), numbers_only=True).mistake
        if (found or "") != name:
            yield f"{name!r} is taken for {found!r}"


def as_answer(function: Callable) -> Callable:
    """Return a function of NumPy arrays as one of the framework's, as a reader would write it."""

    def answer(*inputs):
        with np.errstate(all="ignore"):
            result = function(*(copied(to_numpy(x)) for x in inputs))
        return load(current()).make_array(np.asarray(result))

    return answer
