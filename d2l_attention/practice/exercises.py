"""What an author declares about an exercise, and how it is found by its number."""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from d2l_attention.practice.arrays import single_precision


@dataclass(frozen=True)
class Mistake:
    """A likely wrong answer, and what to tell someone who gives it.

    Args:
        name: A few words: "softmax over the queries".
        say: One or two sentences that explain it and point at the way out.
        wrong: Makes the wrong answer from the inputs, as `reference` makes the right one; for an
            exercise without inputs, the wrong value itself.
        when: Says whether (answer, target, *inputs) shows the mistake, for one that can be made in
            many ways. It must do so on every input on which the answer is wrong. Give `wrong`,
            `when` or both.
    """

    name: str
    say: str
    wrong: object = None
    when: Callable[..., bool] | None = None


def one_of(*values: float) -> Callable[..., bool]:
    """Return a `when` that says whether the answer is one of these numbers."""
    return lambda answer, target: answer.ndim == 0 and float(answer) in values


@dataclass(frozen=True)
class Exercise:
    """A task whose answer can be checked.

    Args:
        number: As in the text: "4.1".
        reference: The right function, in NumPy; its parameter names are those of the task. For an
            exercise that asks for a number or a shape: that value.
        inputs: Takes a random generator and yields two or more tuples of inputs: the first is
            shown, the others are hidden. Take odd sizes, n != m, and values that all differ.
        mistakes: Looked at in this order.
        hints: One step each; the last one nearly gives the answer away.
        tolerance: Largest difference, absolute and relative, that counts as equal.
        square: Whether inputs may have equal sizes, as in self-attention.
    """

    number: str
    reference: object
    inputs: Callable[[np.random.Generator], Iterable[tuple]] | None = None
    mistakes: tuple[Mistake, ...] = ()
    hints: tuple[str, ...] = ()
    tolerance: float = field(default=1e-4, kw_only=True)
    square: bool = field(default=False, kw_only=True)

    def cases(self) -> list[tuple]:
        """Return the same inputs at every call."""
        if self.inputs is None:
            return [()]
        generator = np.random.default_rng(crc32(self.number.encode()))
        return [tuple(map(single_precision, case)) for case in self.inputs(generator)]


def find(number: object) -> Exercise:
    """Return the exercise with this number from its chapter's module.

    Raises:
        ValueError: There is none.
    """
    chapter = str(number).partition(".")[0]
    name = f"{__package__}.chapter_{chapter.zfill(2)}"
    try:
        exercises = importlib.import_module(name).EXERCISES
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ValueError(f"there is no exercise {number}: chapter {chapter} has none") from None
    for exercise in exercises:
        if exercise.number == str(number):
            return exercise
    known = ", ".join(exercise.number for exercise in exercises)
    raise ValueError(f"there is no exercise {number}; chapter {chapter} has {known}")
