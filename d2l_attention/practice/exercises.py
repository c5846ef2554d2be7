"""What an author declares about an exercise, and how it is found by its number."""

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from importlib.util import find_spec
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
    wrong: Callable | None
    when: Callable[..., bool] | None


def when(shows: Callable[..., bool]) -> Callable[[Callable], tuple]:
    """Let a mistake that can be made in many ways be recognised by (answer, target, *inputs), too.

    `shows` must say so on every input on which the answer is wrong.
    """
    return lambda wrong: (wrong, shows)


def symptom(shows: Callable[..., bool]) -> tuple:
    """Declare a mistake that is recognised by a look at (answer, target, *inputs) alone."""
    return None, shows


@dataclass
class Exercise:
    """A task whose answer can be checked: its number in the text, and the right answer.

    `reference` is the right function, in NumPy, with the task's names of parameters; where the task
    asks for a number or a shape, it is that value. `inputs` takes a random generator and yields two
    or more tuples of inputs: the first is shown, the others are hidden. Take odd sizes, n != m, a
    batch of one, wide ranges, and values that all differ.
    """

    number: str
    reference: object
    inputs: Callable[[np.random.Generator], Iterable[tuple]] | None = None
    _: KW_ONLY
    tolerance: float = 1e-4  # the largest difference, absolute and relative, that counts as equal
    square: bool = False  # whether inputs may have equal sizes, as in self-attention
    gradient: bool = False  # whether the gradient of an answer is compared, too
    most_elements: Callable[..., int] | None = None  # of the largest array on the way; from inputs
    stream: bool = False  # whether the answer gets a `Stream` of the input's parts, and no array
    without: tuple[str, ...] = ()  # parts of names of library functions that may not run
    seed: int | None = None  # of inputs other than those of the book
    mistakes: list[Mistake] = field(default_factory=list)

    @property
    def parameters(self) -> list[str]:
        return list(inspect.signature(self.reference).parameters) if self.inputs else []

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
                told = (wrong or shows).__doc__ or RECURRING[name]
                self.mistakes.append(Mistake(name, " ".join(told.split()), wrong, shows))
        return mistakes

    def cases(self) -> list[tuple]:
        """Return the same inputs at every call."""
        if self.inputs is None:
            return [()]
        of_the_book = crc32(self.number.encode())
        seed = of_the_book if self.seed is None else [self.seed, of_the_book]
        cases = self.inputs(np.random.default_rng(seed))
        return [tuple(map(single_precision, case)) for case in cases]

    def with_seed(self, seed: int) -> "Exercise":
        """Return the same exercise with other inputs, which nobody knows who has only the book."""
        return replace(self, seed=seed)


class Stream(Iterator):
    """The parts of an array, one after another and only once; an answer must let go of them."""

    def __init__(self, array: object) -> None:
        self.array = array
        self.given: list[ref] = []
        self.over = False

    def __next__(self) -> object:
        if self.over:
            raise RuntimeError(say("the stream is over: it can be read only once"))
        if sum(part() is not None for part in self.given) > 2:
            kept = say("you keep what has gone by: let go of a part before the next comes")
            raise RuntimeError(kept)
        self.over = len(self.given) == len(self.array)
        if self.over:
            raise StopIteration
        part = self.array[len(self.given)]
        self.given.append(ref(part))
        return part


def exercises_in(module: ModuleType) -> list[Exercise]:
    """Return the exercises of a chapter's module in the order of their declaration."""
    return [value for value in vars(module).values() if isinstance(value, Exercise)]


def find(number: object) -> Exercise:
    """Return the exercise with this number from its chapter's module; ValueError if none has it."""
    name = f"{__package__}.chapter_{str(number).partition('.')[0].zfill(2)}"
    exercises = exercises_in(importlib.import_module(name)) if find_spec(name) else []
    for exercise in exercises:
        if exercise.number == str(number):
            return exercise
    known = ", ".join(exercise.number for exercise in exercises) or say("none")
    missing = say("there is no check for exercise {number}; with a check: {known}")
    raise ValueError(missing.format(number=repr(number), known=known))
