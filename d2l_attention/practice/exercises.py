"""What an author declares about an exercise, and how it is found by its number."""

import importlib
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from types import ModuleType
from weakref import ref
from zlib import crc32

import numpy as np

from d2l_attention.arrays import single_precision
from d2l_attention.practice.recurring_mistakes import RECURRING
from d2l_attention.practice.words import say


@dataclass(frozen=True)
class Mistake:
    """A likely wrong answer and what to tell someone who gives it: see `Exercise.expects`."""

    name: str
    say: str
    wrong: Callable | None = None
    when: Callable[..., bool] | None = None


def when(shows: Callable[..., bool]) -> Callable[[Callable], tuple]:
    """Let a mistake that can be made in many ways be recognised by (answer, target, *inputs), too.

    `shows` must say so on every input on which the answer is wrong.
    """
    return lambda wrong: (wrong, shows)


def symptom(shows: Callable[..., bool]) -> tuple:
    """Declare a mistake that is recognised by a look at (answer, target, *inputs) alone."""
    return None, shows


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
        stream: Whether the answer gets, in place of its one input, a `Stream` of the parts along
            the first axis.
        without: Parts of names of library functions that the answer may not run.
        seed: Of inputs other than those of the book: see `with_seed`.
    """

    number: str
    reference: object
    inputs: Callable[[np.random.Generator], Iterable[tuple]] | None = None
    mistakes: list[Mistake] = field(default_factory=list, init=False)
    tolerance: float = field(default=1e-4, kw_only=True)
    square: bool = field(default=False, kw_only=True)
    gradient: bool = field(default=False, kw_only=True)
    most_elements: Callable[..., int] | None = field(default=None, kw_only=True)
    stream: bool = field(default=False, kw_only=True)
    without: tuple[str, ...] = field(default=(), kw_only=True)
    seed: int | None = field(default=None, kw_only=True)

    def expects(self, mistakes: type) -> type:
        """Declare the mistakes of a class, which are looked at in their order.

        A function's name is that of the mistake, its docstring is what to say; without one, it is
        the sentence of this name in recurring_mistakes.py. The function makes the wrong answer from
        the inputs, as `reference` makes the right one; without inputs, it returns the wrong value.
        """
        for key, value in vars(mistakes).items():
            if not key.startswith("__"):
                wrong, shows = value if isinstance(value, tuple) else (value, None)
                name = key.replace("_", " ").strip()
                say = sentence_of(name, wrong or shows)
                self.mistakes.append(Mistake(name, say, wrong, shows))
        return mistakes

    def cases(self) -> list[tuple]:
        """Return the same inputs at every call."""
        if self.inputs is None:
            return [()]
        of_the_book = crc32(self.number.encode())
        seed = of_the_book if self.seed is None else [self.seed, of_the_book]
        generator = np.random.default_rng(seed)
        return [tuple(map(single_precision, case)) for case in self.inputs(generator)]

    def with_seed(self, seed: int) -> "Exercise":
        """Return the same exercise with other inputs, which nobody knows who has only the book."""
        other = copy(self)
        other.seed = seed
        return other


class Stream:
    """The parts of an array, one after another and only once; an answer must let go of them."""

    def __init__(self, array: object) -> None:
        self.parts = (array[i] for i in range(len(array)))
        self.given: list[ref] = []
        self.over = False

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> object:
        if self.over:
            raise RuntimeError(say("the stream is over: it can be read only once"))
        if sum(part() is not None for part in self.given) > 2:
            raise RuntimeError(
                say("you keep what has gone by: let go of a part before the next comes")
            )
        part = next(self.parts, None)
        if part is None:
            self.over = True
            raise StopIteration
        self.given.append(ref(part))
        return part


def sentence_of(name: str, function: Callable) -> str:
    """Return a mistake's docstring in one line, or the sentence that all of this name share.

    Raises:
        ValueError: There is neither.
    """
    if function.__doc__:
        return " ".join(function.__doc__.split())
    if name not in RECURRING:
        shared = "a sentence in recurring_mistakes.py"
        raise ValueError(f"the mistake {name!r} has no docstring, nor {shared}")
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
    known = ", ".join(e.number for e in exercises) or say("none")
    missing = say("there is no check for exercise {number}; with a check: {known}")
    raise ValueError(missing.format(number=repr(number), known=known))
