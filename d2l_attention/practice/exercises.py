"""What an author declares about an exercise, and how it is found by its number."""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from zlib import crc32

import numpy as np

from d2l_attention.arrays import single_precision
from d2l_attention.practice.recurring import RECURRING


@dataclass(frozen=True)
class Mistake:
    """A likely wrong answer and what to tell someone who gives it: see `Exercise.mistake`."""

    name: str
    say: str
    wrong: Callable | None = None
    when: Callable[..., bool] | None = None


def one_of(*values: float) -> Callable[..., bool]:
    """Return a `when` that says whether the answer is one of these numbers."""
    return lambda answer, target: answer.ndim == 0 and float(answer) in values


@dataclass
class Exercise:
    """A task whose answer can be checked.

    Args:
        number: As in the text: "4.1".
        reference: The right function, in NumPy; its parameter names are those of the task. For an
            exercise that asks for a number or a shape: that value.
        inputs: Takes a random generator and yields two or more tuples of inputs: the first is
            shown, the others are hidden. Take odd sizes, n != m, a batch of one, wide ranges, and
            values that all differ.
        tolerance: Largest difference, absolute and relative, that counts as equal.
        square: Whether inputs may have equal sizes, as in self-attention.
        gradient: Whether the gradient of an answer is compared, too.
        most_elements: From the inputs, how many elements the largest array that the answer makes
            on its way may have.
    """

    number: str
    reference: object
    inputs: Callable[[np.random.Generator], Iterable[tuple]] | None = None
    mistakes: list[Mistake] = field(default_factory=list, init=False)
    tolerance: float = field(default=1e-4, kw_only=True)
    square: bool = field(default=False, kw_only=True)
    gradient: bool = field(default=False, kw_only=True)
    most_elements: Callable[..., int] | None = field(default=None, kw_only=True)

    def mistake(self, wrong: Callable | None = None, *, when: Callable[..., bool] | None = None):
        """Declare a mistake: a function whose name is its name and whose docstring is what to say.

        Mistakes are looked at in the order of their declaration.

        Args:
            wrong: Makes the wrong answer from the inputs, as `reference` makes the right one;
                without inputs, it returns the wrong value. Without a docstring, the sentence in
                recurring.py of this name.
            when: Says whether (answer, target, *inputs) shows the mistake, too, for one that can
                be made in many ways. It must do so on every input on which the answer is wrong.
        """
        if wrong is None:
            return partial(self.mistake, when=when)
        self.mistakes.append(Mistake(name_of(wrong), sentence_of(wrong), wrong, when))
        return wrong

    def symptom(self, when: Callable[..., bool]) -> Callable[..., bool]:
        """Declare a mistake that is recognised by a look at (answer, target, *inputs) alone."""
        self.mistakes.append(Mistake(name_of(when), sentence_of(when), None, when))
        return when

    def cases(self) -> list[tuple]:
        """Return the same inputs at every call."""
        if self.inputs is None:
            return [()]
        generator = np.random.default_rng(crc32(self.number.encode()))
        return [tuple(map(single_precision, case)) for case in self.inputs(generator)]


def name_of(function: Callable) -> str:
    return function.__name__.replace("_", " ").strip()


def sentence_of(function: Callable) -> str:
    """Return a mistake's docstring in one line, or the sentence that all of this name share.

    Raises:
        ValueError: There is neither.
    """
    if function.__doc__:
        return " ".join(function.__doc__.split())
    if (name := name_of(function)) not in RECURRING:
        raise ValueError(f"the mistake {name!r} has no docstring, nor a sentence in recurring.py")
    return RECURRING[name]


def exercises_in(module: ModuleType) -> list[Exercise]:
    """Return the exercises of a chapter's module in the order of their declaration."""
    return [value for value in vars(module).values() if isinstance(value, Exercise)]


def find(number: object) -> Exercise:
    """Return the exercise with this number from its chapter's module.

    Raises:
        ValueError: There is none.
    """
    chapter = str(number).partition(".")[0]
    name = f"{__package__}.chapter_{chapter.zfill(2)}"
    try:
        exercises = exercises_in(importlib.import_module(name))
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        exercises = []
    for exercise in exercises:
        if exercise.number == str(number):
            return exercise
    known = ", ".join(e.number for e in exercises) or "none"
    raise ValueError(f"there is no check for exercise {number!r}; with a check: {known}")
