"""What the book must know of each framework, one file for each; nothing else names one.

NAME                as readers know it
PACKAGE             what is imported; our module has the same name: d2l_attention.<PACKAGE>
PACKAGES            what our module imports of it, and whose versions a report names
VARIABLES           what the environment must say before it is imported
EXACT               the line that asks for products in full precision; empty: the default
KEEP_AXIS           how a sum is told to keep its axis
make_array(value)   a NumPy array as a new one on the CPU, as `entrywise` takes and leaves it
gradients(answer, inputs, direction)  of sum(direction * answer), as NumPy arrays: a dict by the
                    places of floating-point inputs
largest_array(answer, inputs)  the shape of the largest array that the answer makes on its way;
                    RuntimeError(BY_HAND) where it differentiates automatically
facts(device)       the model of a device, and how many bytes are free on it if it is a GPU
has_gpu()           whether it sees a GPU
environment(device, cache)  variables of a kernel, which may keep files in the folder `cache`
CPU_SETTINGS        variables under which it computes as another CPU would
CODE                a pattern: what its code says, and no other framework's
FOREIGN             terms that its edition does not use -> what it says instead
EXCUSE              a pattern: a sentence that has it may use them after all
"""

import importlib
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np

BY_HAND = "call no automatic differentiation here: the task asks for the formula"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def cpu_settings(avx2: dict, plain: dict, *threads: str) -> dict[str, dict[str, str]]:
    """Return variables under which a framework computes as on a CPU with less, or other threads.

    Each is obeyed by the library that it names. The plainest has two threads, as tests have one.
    """
    one, two = (dict.fromkeys((*THREADS, *threads), count) for count in "12")
    avx2 = avx2 | {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}
    numpy = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}
    plain = plain | two | numpy | {"OPENBLAS_CORETYPE": "Nehalem"}
    return {"one-thread": one, "two-threads": two, "avx2": avx2, "plainest": plain}


class Lazy:
    """A framework that is imported when it is first used: its file is read without it, too."""

    def __init__(self, package: str) -> None:
        self.package = package

    def __getattr__(self, name: str) -> object:
        return getattr(importlib.import_module(self.package), name)


@cache
def known() -> tuple[str, ...]:
    """Return the names of all frameworks: those of the files here."""
    return tuple(sorted({path.stem for path in Path(__file__).parent.glob("*.py")} - {"__init__"}))


def load(name: str) -> ModuleType:
    """Return what is known of a framework; ValueError where there is no such file."""
    if name not in known():
        raise ValueError(f"no framework {name!r}; known: {', '.join(known())}")
    return importlib.import_module(f"{__name__}.{name}")


def check_installed(name: str) -> None:
    """Raise ImportError, with what helps, where packages are missing or a variable is wrong."""
    framework = load(name)
    if missing := [package for package in framework.PACKAGES if find_spec(package) is None]:
        raise ModuleNotFoundError(
            f"the edition in {framework.NAME} needs {' and '.join(missing)}: install what is "
            f'missing with `pip install "d2l-attention[{name}]"`, or in the folder of the book '
            f"with `make setup FRAMEWORK={name}`",
            name=missing[0],
        )
    for variable, value in framework.VARIABLES.items():
        if (said := os.environ.setdefault(variable, value)) != value:
            needs = f"{variable}={value}, got {said!r}"
            raise ImportError(f"the edition in {framework.NAME} needs {needs}")
    getattr(framework, "prepare", lambda: None)()  # what must be done before it is imported


def current() -> str:
    """Return the framework of this edition: D2L_FRAMEWORK, or that of the module that is loaded."""
    ours = [name for name in known() if f"d2l_attention.{load(name).PACKAGE}" in sys.modules]
    imported = [name for name in known() if sys.modules.get(load(name).PACKAGE)]
    name = next(filter(None, [os.environ.get("D2L_FRAMEWORK"), *ours, *imported]), None)
    if name is None:
        raise ValueError(f"set D2L_FRAMEWORK to one of {', '.join(known())}, or import its module")
    if name not in imported:
        check_installed(name)
    return name


def to_numpy(value: object) -> object:
    """Return an array of any framework, also those in lists, as NumPy's; others as they are."""
    if isinstance(value, list | tuple):
        return [to_numpy(entry) for entry in value]
    if hasattr(value, "asnumpy"):  # an array that hands out its elements one by one, slowly
        return value.asnumpy()
    if hasattr(value, "detach"):  # a tensor with a gradient, or on a GPU, has to be asked
        value = value.detach().cpu()
        value = value.float() if "bfloat16" in str(value.dtype) else value
    if not hasattr(value, "__array__"):
        return value
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def code_of_others(name: str) -> str:
    """Return a pattern of what code in the frameworks other than this one says."""
    return "|".join(load(other).CODE for other in known() if other != name)
