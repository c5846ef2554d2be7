"""The module under test and its arrays: the one of D2L_FRAMEWORK.

Its `tests/<framework>/adapter.py` makes, calls and trains layers, maps functions (xp.vmap), and
tells their parameters apart: W_q is a matrix (outputs, inputs), W_q.bias its bias.
"""

import importlib

import numpy as np

from d2l_attention import frameworks
from d2l_attention.arrays import dtype_of as dtype_of

NAME = frameworks.current()
framework = frameworks.load(NAME)
ours = importlib.import_module(f"d2l_attention.{framework.PACKAGE}")
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
