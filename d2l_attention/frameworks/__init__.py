"""What the book must know of each framework, one file for each; nothing else names one.

A file imports its framework inside functions only, so that it can be read where that is not
installed. It has:

    NAME                as readers know it
    PACKAGE             what is imported; our module has the same name: d2l_attention.<PACKAGE>
    PACKAGES            what our module imports of it, and whose versions a report names
    VARIABLES           what the environment must say before it is imported
    EXACT               the line that asks for products in full precision; empty: the default
    KEEP_AXIS           how a sum is told to keep its axis
    array_type()        the class of its arrays
    make_array(value)   a NumPy array as a new array on the CPU, float64 as float32; lists entry
                        by entry, everything else as it is
    to_numpy(array)     and back, into what NumPy can compute with
    gradients(answer, inputs, direction)
                        of sum(direction * answer), for each input of floating-point numbers: a
                        dict from its place to a NumPy array
    largest_array(answer, inputs)
                        the shape of the largest array that the answer makes on its way;
                        RuntimeError(BY_HAND) where it differentiates automatically
    facts(device)       the device and its free memory, as a report names them
    has_gpu()           whether it sees a GPU
    environment(device, cache)
                        variables of a kernel; it may keep files in the folder `cache`
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

BY_HAND = "call no automatic differentiation here: the task asks for the formula"
# Each variable is obeyed by the library that it names and ignored by CPUs that have less.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
TWO_THREADS = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
NO_AVX512 = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}
NUMPY_PLAIN = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Nehalem",
}


@cache
def known() -> tuple[str, ...]:
    """Return the names of all frameworks: those of the files here."""
    files = Path(__file__).parent.glob("*.py")
    return tuple(sorted(path.stem for path in files if path.stem != "__init__"))


def load(name: str) -> ModuleType:
    """Return what is known of a framework; ValueError where there is no such file."""
    if name not in known():
        raise ValueError(f"no framework {name!r}; known: {', '.join(known())}")
    return importlib.import_module(f"{__name__}.{name}")


def check_installed(name: str) -> None:
    """Raise ModuleNotFoundError, which says what installs them, where packages are missing.

    ImportError: the environment says something else than the framework's edition needs.
    """
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
            raise ImportError(
                f"the edition in {framework.NAME} needs {variable}={value}, got {said!r}"
            )


def current() -> str:
    """Return the framework of this edition: D2L_FRAMEWORK, or that of the module that is loaded."""
    ours = [name for name in known() if f"d2l_attention.{load(name).PACKAGE}" in sys.modules]
    found = [os.environ.get("D2L_FRAMEWORK"), *ours, *loaded()]
    if not any(found):
        raise ValueError(f"set D2L_FRAMEWORK to one of {', '.join(known())}, or import its module")
    name = next(filter(None, found))
    if name not in loaded():
        check_installed(name)
    return name


def loaded() -> list[str]:
    """Return the frameworks that this process has imported."""
    return [name for name in known() if sys.modules.get(load(name).PACKAGE)]


def to_numpy(value: object) -> object:
    """Return an array of any framework, also those in lists, as NumPy's; others as they are."""
    if isinstance(value, list | tuple):
        return [to_numpy(entry) for entry in value]
    of = (load(name) for name in loaded())
    maker = next((framework for framework in of if isinstance(value, framework.array_type())), None)
    return maker.to_numpy(value) if maker else value


def code_of_others(name: str) -> str:
    """Return a pattern of what code in the frameworks other than this one says."""
    return "|".join(load(other).CODE for other in known() if other != name)
