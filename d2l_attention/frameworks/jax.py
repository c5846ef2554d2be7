"""JAX, as the book must know it: `frameworks/__init__.py` says what each name is."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from d2l_attention.arrays import entrywise, is_float_array
from d2l_attention.checks import check_numbers, check_one_type
from d2l_attention.frameworks import BY_HAND, Lazy, cpu_settings, to_numpy

jax = Lazy("jax")
NAME = "JAX"
PACKAGE = "jax"
PACKAGES = ("jax", "flax")
VARIABLES: dict[str, str] = {}
EXACT = 'jax.config.update("jax_default_matmul_precision", "highest")'
KEEP_AXIS = "keepdims"

XLA = {"XLA_FLAGS": "--xla_cpu_max_isa=AVX2"}  # with less, it cannot compile float16 on every CPU
CPU_SETTINGS = cpu_settings(XLA, XLA, "NPROC")

CODE = r"\bjax\b|\bjnp\.|\bnnx\."
FOREIGN = {
    r"\btensors?\b": "array",
    r"\bautograd\b": "grad, differentiation",
    r"\bin[- ]place\b(?! of)": "a new array",
    r"(?<!Python )(?<!'s )(?<!the )(?<!their )(?<!empty )\bmodules?\b(?! (of|named) )": "layer",
    r"\bbackward\b(?! pass| as well)": "gradient, backward pass",
    r"\bstate_dict\b|\brequires_grad\b": "state, argnums",
    r"`forward`": "`__call__`",
    r"\blazy\b": "sizes are given",
}
# Beside the other framework: a Python module, and the direction of a pass.
EXCUSE = r"PyTorch|torch|d2l_attention|Linen|(?<!`)forward|forward(?!`)"


def as_known(name: str, value):
    """Return nested lists as NumPy's array, which can be read, or, of arrays, as JAX's."""
    if value is None or isinstance(value, jax.Array):
        return value
    check_numbers(name, value)
    inside = any(isinstance(part, jax.Array) for part in jax.tree.leaves(value))
    return (jax.numpy if inside else np).asarray(value)


def as_array(name: str, value):
    """Return nested lists or any array as JAX's; errors say its name."""
    if value is None:
        check_numbers(name, value)
    return jax.numpy.asarray(as_known(name, value))


def as_arrays(**named) -> list:
    return [as_array(*item) for item in named.items()]


def check_strict(*arrays, dtype=None) -> None:
    """Raise TypeError if queries, keys, ... differ in type and JAX may not promote them."""
    if dtype is None and jax.config.jax_numpy_dtype_promotion == "strict":
        check_one_type(*arrays)


@entrywise
def make_array(value: np.ndarray) -> object:
    try:  # a GPU multiplies with fewer digits, unless the notebook asks for all
        return jax.device_put(value, jax.devices("cpu")[0])
    except RuntimeError:  # JAX_PLATFORMS=cuda: JAX may not use the CPU
        return jax.device_put(value)


def gradients(answer: Callable, inputs: tuple, direction: np.ndarray) -> dict[int, np.ndarray]:
    def total(*given):
        return (answer(*given).ravel() * direction).sum()

    places = tuple(i for i, x in enumerate(inputs) if is_float_array(x))
    found = jax.grad(total, argnums=places)(*map(make_array, inputs))
    return dict(zip(places, map(to_numpy, found), strict=True))


def largest_array(answer: Callable, inputs: tuple) -> tuple[int, ...]:
    def lines_of(part):  # and of the programs inside, such as what is compiled
        for line in getattr(part, "eqns", ()):
            yield line
            for inner in jax.tree.leaves(line.params, is_leaf=lambda x: hasattr(x, "eqns")):
                yield from lines_of(inner)

    lines = list(lines_of(jax.make_jaxpr(answer)(*map(make_array, inputs))))
    if any("jvp(" in str(line.source_info.name_stack) for line in lines):
        raise RuntimeError(BY_HAND)
    shapes = (out.aval.shape for line in lines for out in line.outvars)
    return max(shapes, key=math.prod, default=())


def facts(device) -> tuple[str, int | None]:
    memory = device.memory_stats() or {}  # None on the CPU
    free = memory["bytes_limit"] - memory["bytes_in_use"] if "bytes_limit" in memory else None
    return device.device_kind, free


def has_gpu() -> bool:
    return any(device.platform != "cpu" for device in jax.devices())


def environment(device: str, cache: Path) -> dict[str, str]:
    """Let it keep every program that it compiles: it compiles one for each small operation."""
    on_gpu = {
        "JAX_DEFAULT_MATMUL_PRECISION": "highest",  # else it multiplies float32 with three digits
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # else one process takes its memory from another
    }
    return ({} if device == "cpu" else on_gpu) | {
        "JAX_PLATFORMS": "cpu" if device == "cpu" else "",  # empty: it takes what it finds
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        # Another process may be writing the same program: then this one compiles it itself.
        "PYTHONWARNINGS": "ignore:Error reading persistent,ignore:Error writing persistent",
        "TF_CPP_MIN_LOG_LEVEL": "3",  # XLA's own log, which complains of slow machines
    }
