"""Weights that the script of an explorer computes, where a query is dragged through a plane.

Frames for each place of a query in the plane, at each value of another slider, would be too many.
So the few numbers that make a score are stored, and the script follows `Score`. The function of
the explorer still gives the first picture, and tests compare the script with it.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from d2l_attention.arrays import as_array, dtype_of

SIGNIFICANT = 8  # digits


@dataclass(frozen=True)
class Score:
    """The score of a query q in the plane with key j: sum over i of c[j, i] g(a[i] q + b[j, i]).

    Args:
        c: (m, h), or (1, h) where all keys share it.
        a: (h, 2); by default the identity.
        b: (m, h); by default 0.
        origin: What is subtracted from q before.
        unit: Whether q - origin is then divided by its length, if it has one.
        tanh: Whether g is the tanh, and not the identity.
    """

    c: Sequence
    a: Sequence | None = None
    b: Sequence | None = None
    origin: Sequence = (0.0, 0.0)
    unit: bool = False
    tanh: bool = False

    def held(self) -> list:
        """Return what the script takes."""
        arrays = (self.c, self.a, self.b, self.origin)
        if any(dtype_of(a) == "float32" for a in arrays if a is not None):
            raise TypeError("a Score stores float64: the last digits of float32 depend on the CPU")
        numbers = [None if a is None else short(as_array(a)) for a in arrays]
        return [*numbers, int(self.unit), int(self.tanh)]


def short(array: np.ndarray) -> list:
    if array.ndim > 1:
        return [short(row) for row in array]
    digits = [float(f"{v:.{SIGNIFICANT}g}") for v in array.tolist()]
    return [int(v) if v % 1 == 0 else v for v in digits]


@dataclass(frozen=True)
class Live:
    """Which part of the frames the script computes anew, and from what.

    Args:
        part: A matrix of weights, (scores, m).
        query: The two sliders, last of all, that are the query.
        scores: Is called with the other sliders; returns a `Score` for each row of the matrix.
    """

    part: str
    query: tuple[str, str]
    scores: Callable[..., Sequence[Score]]

    def held(self, sliders: Mapping, places: Mapping[str, int]) -> dict:
        """Return what the script needs: the scores of each frame, and where its results belong."""
        choices = {name: slider.choices for name, slider in sliders.items()}
        others = {name: values for name, values in choices.items() if name not in self.query}
        scores = [
            [score.held() for score in self.scores(**dict(zip(others, values, strict=True)))]
            for values in itertools.product(*(c.values() for c in others.values()))
        ]
        every = math.prod(len(choices[name]) for name in self.query)
        query = [places[name] for name in self.query]
        return {"every": every, "frames": scores, "weights": places[self.part], "query": query}

    def query_among(self, sliders: Mapping) -> tuple[str, ...]:
        """Return the sliders for which no frames are made."""
        if tuple(sliders)[-2:] != tuple(self.query) or len(sliders) < 3:
            raise ValueError(f"live: {' and '.join(self.query)} must be the last of three sliders")
        return tuple(self.query)
