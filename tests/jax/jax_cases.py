"""What the tests of the JAX module share: the layers under test and inputs for them.

Inputs are drawn by NumPy and have few shapes, as JAX compiles each operation for each shape. A new
score joins the tests of layers, transformations and wrong input by one more entry in ATTENTIONS.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import numpy as np
import oracle
import random_examples  # noqa: F401  (it takes effect when it is imported)
from flax import nnx
from jax import numpy as jnp

from d2l_attention.jax import (
    AdditiveAttention,
    BilinearAttention,
    CosineAttention,
    DistanceAttention,
    DotProductAttention,
)

B, N, M, D, V = 2, 3, 4, 3, 2  # examples, queries, keys; dimensions of keys and of values
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}
SINGLE_OR_LESS = ("float16", "bfloat16", "float32")
NAN = float("nan")

LENS = {
    "no": None,
    "(b,)": [4, 2],
    "(b,), one empty": [0, 3],
    "(b, n)": [[1, 2, 3], [4, 0, 2]],
}
MASKS = {
    "no": None,
    "(n, m)": np.array([[1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 0]], bool),
    "(b, 1, m)": np.array([[[1, 0, 1, 1]], [[0, 1, 1, 0]]], bool),
}


@dataclass(frozen=True)
class Attention:
    """make(dropout=, rngs=) gives a layer for sizes D; score(layer) the oracle's score."""

    make: Callable[..., nnx.Module]
    score: Callable[[nnx.Module], Callable]


def rows_of(linear: nnx.Linear) -> list:
    """The matrix W of a layer x -> W x, as lists: NNX keeps its transpose."""
    return np.asarray(linear.kernel[...], np.float64).T.tolist()


def additive_score(layer: nnx.Module) -> Callable:
    W_q, W_k, (w_v,) = (rows_of(linear) for linear in (layer.W_q, layer.W_k, layer.w_v))
    return partial(oracle.additive_score, W_q=W_q, W_k=W_k, w_v=w_v)


def bilinear_score(layer: nnx.Module) -> Callable:
    W_k = None if layer.W_k is None else rows_of(layer.W_k)
    return partial(oracle.bilinear_score, W_q=rows_of(layer.W_q), W_k=W_k)


def cosine_score(layer: nnx.Module) -> Callable:
    return partial(oracle.cosine_score, temperature=float(layer.temperature))


SIZES = {"query_size": D, "key_size": D}
ATTENTIONS = {
    "dot": Attention(DotProductAttention, lambda layer: oracle.scaled_dot_score),
    "additive": Attention(partial(AdditiveAttention, 5, **SIZES), additive_score),
    "distance": Attention(DistanceAttention, lambda layer: oracle.distance_score),
    "bilinear": Attention(partial(BilinearAttention, **SIZES), bilinear_score),
    "bilinear, rank 2": Attention(partial(BilinearAttention, 2, **SIZES), bilinear_score),
    "cosine": Attention(partial(CosineAttention, temperature=0.7), cosine_score),
}


def layer_of(name: str, **options) -> nnx.Module:
    """Return a layer in evaluation, with the same parameters at each call."""
    layer = ATTENTIONS[name].make(**options, rngs=nnx.Rngs(0))
    layer.eval()
    return layer


def normal(*shape: int, seed: int = 0, dtype: str = "float32") -> jax.Array:
    rng = np.random.default_rng([seed, len(shape)])
    return jnp.asarray(rng.normal(size=shape).astype(jnp.dtype(dtype)))


def batch(b=B, n=N, m=M, v=V, heads=(), dtype="float32") -> list[jax.Array]:
    """Return queries (b, n, D), keys (b, m, D) and values (b, m, v), or with heads."""
    shapes = (b, *heads, n, D), (b, *heads, m, D), (b, *heads, m, v)
    return [normal(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]


def as_lists(array) -> list | None:
    return array if array is None or isinstance(array, list) else np.asarray(array).tolist()


def close(got, want, tolerance: float = 1e-5) -> None:
    """Compare numbers of any kind by NumPy, shapes too."""
    got, want = (np.asarray(x, np.float64) for x in (got, want))
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
