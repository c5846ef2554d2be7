"""The module under test and its arrays: the one of D2L_FRAMEWORK.

What a framework's module does in its own way is in `tests/<framework>/adapter.py`.
"""

import importlib
import re
from collections.abc import Callable

import numpy as np
import pytest

from d2l_attention import frameworks
from d2l_attention.practice.gradients import central_differences
from tests.contract import random_examples  # noqa: F401  (it takes effect when it is imported)

NAME = frameworks.current()
framework = frameworks.load(NAME)
ours = importlib.import_module(f"d2l_attention.{framework.PACKAGE}")
adapter = importlib.import_module(f"tests.{NAME}.adapter")
largest_array, xp = framework.largest_array, adapter.xp

TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}
DTYPES = adapter.DTYPES
HALF = ("float16", "bfloat16")


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


def dtype_of(value) -> str:
    return str(value.dtype).rpartition(".")[2]


def rounded(value, dtype: str) -> np.ndarray:
    """Return the numbers that are left in this precision."""
    return numpy(array(value, dtype))


def close(got, want, tolerance: float = 1e-5) -> None:
    """Compare numbers of any kind, shapes too."""
    got, want = (x if isinstance(x, np.ndarray | list) else numpy(x) for x in (got, want))
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def gradients(answer: Callable, inputs, direction) -> list[np.ndarray]:
    """Return the gradient of sum(direction * answer) for each of the NumPy arrays."""
    found = framework.gradients(answer, tuple(inputs), np.ravel(direction).astype(np.float32))
    return [found[place] for place in range(len(inputs))]


def differences(function: Callable, inputs, direction) -> list[np.ndarray]:
    """Return the same of a NumPy function, by central differences."""
    inputs, direction = tuple(inputs), np.ravel(direction)
    return [central_differences(function, inputs, i, direction) for i in range(len(inputs))]


def attend(layer, *inputs, dtype: str | None = None, mask=None, lean=True, **options):
    """Return outputs and weights for NumPy arrays; the same output must come without weights."""
    queries, keys, values, *lens = inputs
    arrays = [array(x, dtype) for x in (queries, keys, values)]
    options |= {"mask": array(mask)}
    output, weights = adapter.call(layer, *arrays, *lens, need_weights=True, **options)
    if lean:
        alone, none = adapter.call(layer, *arrays, *lens, need_weights=False, **options)
        assert none is None
        assert alone.dtype == output.dtype
        close(alone, output, 4 * TOLERANCE[dtype_of(output)])
    return output, weights


def refuses(call: Callable, error: type[Exception], message: str, *arguments, **options) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call(*arguments, **options)
