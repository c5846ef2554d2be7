"""JAX, as `tests/contract/framework.py` asks for it."""

import inspect
from types import SimpleNamespace

import jax
from flax import nnx
from jax import numpy as jnp

from d2l_attention import jax as ours

DTYPES = ("float16", "bfloat16", "float32")
MASKS_TAKEN = ("bool", "float32", "int32")
OTHER_NAMES = {"vmap": jax.vmap, "swapped": jnp.matrix_transpose}
xp = SimpleNamespace(**vars(jnp) | OTHER_NAMES)
cast = jnp.astype
compiled = nnx.jit
constant = jax.lax.stop_gradient
additive_scores = ours.additive_scores


def make(kind: str, *sizes, dtype: str = "float32", computes_in=None, **options):
    options |= {"param_dtype": jnp.dtype(dtype), "dtype": computes_in, "rngs": nnx.Rngs(0)}
    known = inspect.signature(getattr(ours, kind).__init__).parameters
    taken = {name: value for name, value in options.items() if name in known}
    layer = getattr(ours, kind)(*sizes, **taken)
    for number, (name, value) in enumerate(named(layer).items()):
        if name.endswith("bias"):  # they begin as zeros, which would show no mistake
            value[...] = jax.random.normal(jax.random.key(number), value.shape, value.dtype)
    layer.eval()
    return layer


def call(layer, *inputs, need_weights: bool, **options):
    result = layer(*inputs, need_weights=need_weights, **options)
    return result if need_weights else (result, None)


def in_training(layer):
    layer.train()
    return layer


def named(layer) -> dict[str, nnx.Param]:
    state = nnx.to_flat_state(nnx.state(layer, nnx.Param))
    return {".".join(path).removesuffix(".kernel"): value for path, value in state}


def parameters(layer) -> dict:
    return {name: value[...].T for name, value in named(layer).items()}


def slopes(layer, arrays, *lens, **options):
    def squares(layer, *arrays):
        return (layer(*arrays, *lens, **options) ** 2).sum()

    of_layer, *found = nnx.grad(squares, argnums=(0, 1, 2, 3))(layer, *arrays)
    return [*found, *(value[...].T for _, value in nnx.to_flat_state(of_layer))]


def devices(monkeypatch, gpus: int) -> list:
    found = [SimpleNamespace(platform=platform) for platform in ["cpu", *["gpu"] * gpus]]
    named = {None: found[1:] or found, "cpu": found[:1], "cuda": found[1:]}
    monkeypatch.setattr(jax, "devices", lambda name=None: named[name])
    return found
