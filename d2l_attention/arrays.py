"""Arrays of any framework, in and out: nothing here imports a framework before it is needed."""

import importlib
import os
import sys

import numpy as np

MAKERS = {  # framework -> where it makes an array from NumPy's
    "pytorch": ("torch", "tensor"),
    "jax": ("jax.numpy", "asarray"),
    "tensorflow": ("tensorflow", "convert_to_tensor"),
    "mxnet": ("mxnet.np", "array"),
    "numpy": ("numpy", "array"),
}


def current_framework() -> str:
    """Return the framework of this edition: D2L_FRAMEWORK, or that of the module that is loaded."""
    modules = {name: module.partition(".")[0] for name, (module, _) in MAKERS.items()}
    ours = [name for name, module in modules.items() if f"d2l_attention.{module}" in sys.modules]
    loaded = [name for name, module in modules.items() if module in sys.modules]
    return os.environ.get("D2L_FRAMEWORK") or [*ours, *loaded][0]


def in_framework(value: object, framework: str) -> object:
    """Return a NumPy array as a new array of `framework`, float64 as float32; else a copy."""
    if isinstance(value, list):
        return [in_framework(entry, framework) for entry in value]
    if not isinstance(value, np.ndarray):
        return value
    module, maker = MAKERS[framework]
    return getattr(importlib.import_module(module), maker)(single_precision(value))


def single_precision(value: object) -> object:
    """Return a float64 array as float32, the precision in which answers get their inputs."""
    wide = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.float32) if wide else value


def copied(value: object) -> object:
    """Return a copy to compute with: floating-point arrays as float64, others as they are."""
    if not isinstance(value, np.ndarray):
        return value
    return value.astype(np.float64 if value.dtype.kind == "f" else value.dtype)


def as_array(value: object) -> np.ndarray:
    """Return numbers of any kind (tensor on any device, list, scalar) as a float64 array.

    Raises:
        TypeError: The value holds something else than real numbers of one shape.
    """
    try:
        array = np.asarray(without_framework(value))
        if array.dtype.kind in "OUScmM":
            raise TypeError
        return array.astype(np.float64)
    except Exception:  # whatever an object does when it is asked for numbers
        raise TypeError(f"no array of real numbers, but a {type(value).__name__}") from None


def without_framework(value: object) -> object:
    """Return tensors, also those in lists, as something that NumPy can read."""
    if isinstance(value, list | tuple):
        return [without_framework(entry) for entry in value]
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        return value.float() if "bfloat16" in str(value.dtype) else value
    return value


def dtype_of(value: object) -> str:
    """Return the name of a data type, without its framework: float32, bool, bfloat16."""
    dtype = getattr(value, "dtype", None)
    dtype = np.asarray(without_framework(value)).dtype if dtype is None else dtype
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.")


def kind_of(dtype: str) -> str:
    """Return what a data type is for: booleans, integers or floating-point numbers."""
    if dtype.startswith("bool"):
        return "boolean"
    return "integer" if dtype.startswith(("int", "uint")) else "floating point"
