"""Arrays of any framework as NumPy's: nothing here imports a framework."""

from collections.abc import Callable
from functools import wraps

import numpy as np

from d2l_attention.checks import kind
from d2l_attention.frameworks import to_numpy


def entrywise(make: Callable[[np.ndarray], object]) -> Callable[[object], object]:
    """Let `make` take lists of NumPy arrays, too, and leave as it is what is neither."""

    @wraps(make)
    def of(value: object) -> object:
        if isinstance(value, list):
            return [of(entry) for entry in value]
        return make(single_precision(value)) if isinstance(value, np.ndarray) else value

    return of


def single_precision(value: object) -> object:
    """Return a float64 array as float32, the precision in which answers get their inputs."""
    wide = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.float32) if wide else value


def is_float_array(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def copied(value: object) -> object:
    """Return a copy to compute with: floating-point arrays as float64, others as they are."""
    if not isinstance(value, np.ndarray):
        return value
    return value.astype(np.float64) if is_float_array(value) else value.copy()


def as_array(value: object) -> np.ndarray:
    """Return real numbers (tensor on any device, list, scalar) as float64; else raise TypeError."""
    try:
        array = np.asarray(to_numpy(value))
        if array.dtype.kind in "OUScmM":
            raise TypeError
        return array.astype(np.float64)
    except Exception:  # whatever an object does when it is asked for numbers
        raise TypeError(f"no array of real numbers, but a {type(value).__name__}") from None


def dtype_of(value: object) -> str:
    """Return the name of a data type, without its framework: float32, bool, bfloat16."""
    value = value if getattr(value, "dtype", None) else np.asarray(to_numpy(value))
    return kind(value).rpartition(".")[2]


def kind_of(dtype: str) -> str:
    """Return what a data type is for: booleans, integers or floating-point numbers."""
    if dtype.startswith("bool"):
        return "boolean"
    return "integer" if dtype.startswith(("int", "uint")) else "floating point"
