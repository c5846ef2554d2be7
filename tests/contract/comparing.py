"""How results of the framework are compared with those of loops, and errors with their words."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from d2l_attention.practice.checking import central_differences
from tests.contract.framework import adapter, array, dtype_of, framework, numpy

TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}
TOLERANCE = {dtype: TOLERANCE[dtype] for dtype in adapter.DTYPES}
HALF = [dtype for dtype in TOLERANCE if dtype.endswith("float16")]


def close(got, want, tolerance: float = 1e-5) -> None:
    got, want = (np.asarray(numpy(x), np.float64) for x in (got, want))
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


def attend(layer, queries, keys, values, *lens, dtype: str | None = None, mask=None, **options):
    """Return outputs and weights for NumPy arrays; the same output must come without weights."""
    inputs = *(array(x, dtype) for x in (queries, keys, values)), *lens
    options["mask"] = array(mask)
    output, weights = adapter.call(layer, *inputs, need_weights=True, **options)
    alone, none = adapter.call(layer, *inputs, need_weights=False, **options)
    assert none is None
    assert alone.dtype == output.dtype
    close(alone, output, 4 * TOLERANCE[dtype_of(output)])
    return output, weights


def refuses(call: Callable, error: type[Exception], message: str, *arguments, **options) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call(*arguments, **options)
