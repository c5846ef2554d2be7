"""The module under test and its arrays: the one of D2L_FRAMEWORK.

Its `tests/<framework>/adapter.py` makes, calls and trains layers, maps functions (xp.vmap), and
tells their parameters apart: W_q is a matrix (outputs, inputs), W_q.bias its bias. Where the module
of a book by itself lacks a name, tests that use it are skipped.
"""

import importlib
import os
from types import SimpleNamespace

import numpy as np
import pytest

from d2l_attention import frameworks
from d2l_attention.arrays import dtype_of as dtype_of
from tests.this_book import BOOK

NAME = frameworks.current()
COMPLETE = NAME in [edition.framework for edition in BOOK.editions]  # so are its names
framework = frameworks.load(NAME)


class Part(SimpleNamespace):
    """A module, a name that it lacks, and what is made of that: a test that uses it is skipped."""

    def __call__(self, *arguments, **options):
        if "PYTEST_CURRENT_TEST" in os.environ:  # nothing is skipped while tests are collected
            pytest.skip(f"{framework.NAME}'s edition has no {self.name}")
        return self

    def __getattr__(self, attribute: str):
        if "name" not in vars(self):  # the module
            return Part(name=attribute)
        if attribute.startswith("__") and self():  # what may be asked of any object
            raise AttributeError(attribute)
        return self()


ours = importlib.import_module(f"d2l_attention.{framework.PACKAGE}")
if not COMPLETE:
    ours = Part(**{name: vars(ours)[name] for name in ("__file__", "__all__", *ours.__all__)})
adapter = importlib.import_module(f"tests.{NAME}.adapter")
xp = adapter.xp


def array(value, dtype: str | None = None):
    """Return a NumPy array or a list as an array of the framework; None stays None."""
    if value is None:
        return None
    made = framework.make_array(np.asarray(value))
    return made if dtype is None else adapter.cast(made, dtype)


def numpy(value) -> np.ndarray:
    """Return floating-point arrays as float64."""
    found = np.asarray(frameworks.to_numpy(value))
    return found.astype(np.float64) if found.dtype.kind == "f" else found


def rounded(value, dtype: str) -> np.ndarray:
    return numpy(array(value, dtype))


def parameters(layer) -> dict[str, np.ndarray]:
    return {name: numpy(value) for name, value in adapter.parameters(layer).items()}
