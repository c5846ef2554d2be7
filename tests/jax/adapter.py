"""What the contract must know of JAX: how layers are made, called, and given parameters."""

import inspect
from types import SimpleNamespace

import jax
from flax import nnx
from jax import export
from jax import numpy as jnp

from d2l_attention import jax as ours

DTYPES = ("float16", "bfloat16", "float32")
OWN_NAMES = {"temporary_bytes"}  # beside those that every module has
MASKS_TAKEN = {"floats", "integers"}  # of 0 and 1, as Flax makes them
LIKE_FLAX = True  # any axes before the last two; weights have the type of the values
CALL = "__call__"
OWN_ARGUMENTS = {"rngs", "query_size", "key_size", "value_size", "dtype", "param_dtype"}
OWN_ARGUMENTS |= {"deterministic", "array", "arrays"}
OWN_ARGUMENTS_OF = {
    "fused_attention": {"implementation"},
    "KeyValueCache": {"b", "num_heads", "m", "d"},  # it has a fixed size
}
NAMES = ("where", "exp", "log", "tanh", "flip", "einsum", "nansum")
NAMES += ("amax", "asarray", "concatenate", "maximum", "sum")
xp = SimpleNamespace(
    vmap=jax.vmap,
    swapped=jnp.matrix_transpose,
    **{name: getattr(jnp, name) for name in NAMES},
)


def cast(array, dtype: str):
    return array.astype(dtype)


def constant(array):
    """Return the same numbers without a gradient."""
    return jax.lax.stop_gradient(array)


def make(kind: str, *sizes, dtype: str = "float32", computes_in=None, **options):
    """Return a layer in evaluation, with the same parameters at each call; dtype is theirs."""
    known = inspect.signature(getattr(ours, kind).__init__).parameters
    if "param_dtype" in known:
        options["param_dtype"] = jnp.dtype(dtype)
    options["dtype"] = computes_in
    given = {name: value for name, value in options.items() if name in known}
    layer = getattr(ours, kind)(*sizes, **given, rngs=nnx.Rngs(0))
    for number, (name, value) in enumerate(named(layer).items()):
        if name.endswith("bias"):  # they begin as zeros, which would show no mistake
            value[...] = jax.random.normal(jax.random.key(number), value.shape, value.dtype)
    layer.eval()
    return layer


def call(layer, *inputs, need_weights: bool, **options):
    """Return outputs and weights, None where they were not asked for."""
    result = layer(*inputs, need_weights=need_weights, **options)
    return result if need_weights else (result, None)


def named(layer) -> dict[str, nnx.Param]:
    state = nnx.to_flat_state(nnx.state(layer, nnx.Param))
    return {".".join(path).removesuffix(".kernel"): value for path, value in state}


def parameters(layer) -> dict:
    """Return the parameters: W_q is a matrix (outputs, inputs), W_q.bias its bias."""
    return {name: value[...].T for name, value in named(layer).items()}


def with_parameters(layer, values: dict):
    """Return a function that calls the layer with other parameters, named as above."""
    other = nnx.clone(layer)
    for name, value in named(other).items():
        value[...] = values[name].T
    return other


def in_training(layer):
    layer.train()
    return layer


def compiled(function):
    """Return a function as one program, and a list with an entry for each time it was traced."""
    traced = []

    @nnx.jit
    def program(*arguments):
        traced.append(None)
        return function(*arguments)

    return program, traced


def for_all_sizes(layer, *example):
    """Return a program of (queries, keys, values, lens) for any number of each."""
    b, n, m = export.symbolic_shape("b, n, m")
    rows = (b, n), (b, m), (b, m), (b,)
    given = [
        jax.ShapeDtypeStruct((*row, *x.shape[len(row) :]), x.dtype)
        for row, x in zip(rows, example, strict=True)
    ]
    return export.export(jax.jit(layer))(*given).call


additive_scores = ours.additive_scores
