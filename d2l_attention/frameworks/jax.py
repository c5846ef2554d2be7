"""JAX, as the book must know it: `frameworks/__init__.py` says what each name is."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from d2l_attention.arrays import is_float_array, made
from d2l_attention.checks import check_numbers, check_one_type
from d2l_attention.frameworks import BY_HAND, NUMPY_PLAIN, ONE_THREAD, TWO_THREADS

NAME = "JAX"
PACKAGE = "jax"
PACKAGES = ("jax", "flax")
VARIABLES: dict[str, str] = {}
EXACT = 'jax.config.update("jax_default_matmul_precision", "highest")'
KEEP_AXIS = "keepdims"

# XLA takes as many threads as NPROC says, and compiles for the instructions that its flag allows.
# Below AVX2, XLA cannot compile float16 on every CPU.
AVX2 = {"XLA_FLAGS": "--xla_cpu_max_isa=AVX2"}
CPU_SETTINGS = {
    "two-threads": TWO_THREADS | {"NPROC": "2"},
    "one-thread": ONE_THREAD | {"NPROC": "1"},
    "xla-avx2": AVX2,
    "numpy-plain": NUMPY_PLAIN,
    "plainest": TWO_THREADS | NUMPY_PLAIN | AVX2 | {"NPROC": "2"},
}

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


def array_type() -> type:
    from jax import Array

    return Array


def as_known(name: str, value):
    """Return nested lists as NumPy's array, which can be read, or, of arrays, as JAX's."""
    import jax

    if value is None or isinstance(value, jax.Array):
        return value
    check_numbers(name, value)
    inside = any(isinstance(part, jax.Array) for part in jax.tree.leaves(value))
    return (jax.numpy if inside else np).asarray(value)


def as_array(name: str, value):
    """Return nested lists or any array as JAX's; errors say its name."""
    import jax

    if value is None:
        check_numbers(name, value)
    return jax.numpy.asarray(as_known(name, value))


def as_arrays(**named) -> list:
    return [as_array(*item) for item in named.items()]


def check_strict(*arrays, dtype=None) -> None:
    """Raise TypeError if queries, keys, ... differ in type and JAX may not promote them."""
    import jax

    if dtype is None and jax.config.jax_numpy_dtype_promotion == "strict":
        check_one_type(*arrays)


def make_array(value: object) -> object:
    def array(value: np.ndarray):
        import jax

        try:  # a GPU multiplies with fewer digits, unless the notebook asks for all
            return jax.device_put(value, jax.devices("cpu")[0])
        except RuntimeError:  # JAX_PLATFORMS=cuda: JAX may not use the CPU
            return jax.device_put(value)

    return made(value, array)


def to_numpy(array) -> np.ndarray:
    array = np.asarray(array)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def gradients(answer: Callable, inputs: tuple, direction: np.ndarray) -> dict[int, np.ndarray]:
    import jax

    def total(*given):
        return (answer(*given).ravel() * direction).sum()

    places = tuple(i for i, x in enumerate(inputs) if is_float_array(x))
    found = jax.grad(total, argnums=places)(*map(make_array, inputs))
    return {place: to_numpy(gradient) for place, gradient in zip(places, found, strict=True)}


def largest_array(answer: Callable, inputs: tuple) -> tuple[int, ...]:
    import jax

    def lines_of(program):  # and of the programs inside, such as what is compiled
        for line in program.eqns:
            yield line
            parts = jax.tree.leaves(line.params, is_leaf=lambda part: hasattr(part, "eqns"))
            for part in filter(lambda part: hasattr(part, "eqns"), parts):
                yield from lines_of(part)

    lines = list(lines_of(jax.make_jaxpr(answer)(*map(make_array, inputs))))
    if any("jvp(" in str(line.source_info.name_stack) for line in lines):
        raise RuntimeError(BY_HAND)
    return max(
        (out.aval.shape for line in lines for out in line.outvars), key=math.prod, default=()
    )


def facts(device) -> dict[str, str]:
    from d2l_attention.machine import free_main_memory, in_gib

    memory = device.memory_stats() or {}  # None on the CPU
    free = free_main_memory()
    if "bytes_limit" in memory:
        free = in_gib(memory["bytes_limit"] - memory["bytes_in_use"])
    return {"device": f"{device} ({device.device_kind})", "free memory": free}


def has_gpu() -> bool:
    import jax

    return any(device.platform != "cpu" for device in jax.devices())


def environment(device: str, cache: Path) -> dict[str, str]:
    """Let it keep every program that it compiles: it compiles one for each small operation."""
    doing = ("reading", "writing")
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
        "PYTHONWARNINGS": ",".join(f"ignore:Error {at} persistent" for at in doing),
        "TF_CPP_MIN_LOG_LEVEL": "3",  # XLA's own log, which complains of slow machines
    }
