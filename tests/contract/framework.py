"""The module under test and its arrays: the one of D2L_FRAMEWORK.

What a framework's module does in its own way is in `tests/<framework>/adapter.py`. A new one needs:

    DTYPES             the floating-point types it computes in
    MISSING_NAMES      public names of chapters that the edition leaves out, if there are any
    OWN_NAMES          public names, OWN_ARGUMENTS and OWN_ARGUMENTS_OF (by name) arguments, that no
                       other module has
    FEWER_ARGUMENTS_OF (by name) arguments that only the other modules have, if there are any
    MASKS_TAKEN        kinds of mask that only this module takes, if there are any
    LIKE_FLAX          whether layers of heads take any batch, and weights have the values' type
    CALL               the method that calls a layer
    xp                 functions of arrays, for answers of students
    cast, constant     an array in another type, and without a gradient
    make, call, in_training, parameters, with_parameters
                       a layer, its outputs and weights, its parameters as (outputs, inputs)
    additive_scores    with weights (h,)
    compiled, for_all_sizes
                       a function as one program, and a layer as one for inputs of any sizes
"""

import importlib

import numpy as np

from d2l_attention import arrays, frameworks

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


def dtype_of(value) -> str:
    return arrays.dtype_of(value)


def rounded(value, dtype: str) -> np.ndarray:
    """Return the numbers that are left in this precision."""
    return numpy(array(value, dtype))


def parameters(layer) -> dict[str, np.ndarray]:
    return {name: numpy(value) for name, value in adapter.parameters(layer).items()}
