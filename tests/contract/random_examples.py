"""Lengths and masks that hypothesis draws: the same ones at every run."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tests.contract.framework import array

settings.register_profile("book", derandomize=True, deadline=None, database=None, max_examples=40)
settings.load_profile("book")

INTEGERS = ("int64", "int32", "int8", "uint8", "uint16", "uint32", "uint64")


@st.composite
def lengths(draw, b: int, n: int, m: int):
    """Valid lengths of shape (b,), (b, n), or none: a list, or an array of any integers."""
    shape = draw(st.sampled_from([None, (b,), (b, n)]))
    if shape is None:
        return None
    drawn = draw(st.lists(st.integers(0, m), min_size=(size := int(np.prod(shape))), max_size=size))
    dtype = draw(st.sampled_from([None, *INTEGERS]))
    numbers = np.reshape(drawn, shape).astype(dtype or int)
    return numbers.tolist() if dtype is None else array(numbers)


@st.composite
def masks(draw, shape: tuple[int, ...]):
    """A boolean mask of a shape that broadcasts to `shape`, or none."""
    if draw(st.booleans()):
        return None
    shape = tuple(1 if draw(st.booleans()) else size for size in shape)
    shape = shape[draw(st.integers(0, len(shape))) :]
    keep = np.random.default_rng(draw(st.integers(0, 99))).random(shape)
    return keep < draw(st.sampled_from([0.2, 0.7, 1.0]))
