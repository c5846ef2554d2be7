"""The layers under test, and inputs of few shapes, as JAX compiles operations for each shape."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tests.contract import oracle
from tests.contract.framework import adapter, array

B, N, M, D, V = 2, 3, 4, 3, 2  # examples, queries, keys; dimensions of keys and of values
NAN, INF = float("nan"), float("inf")
LENS = {"no": None, "(b,)": [4, 2], "one empty": [0, 3], "(b, n)": [[1, 2, 3], [4, 0, 2]]}
MASKS = {
    "(n, m)": np.array([[1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 0]], bool),
    "(b, 1, m)": np.array([[[1, 0, 1, 1]], [[0, 1, 1, 0]]], bool),
}


@dataclass(frozen=True)
class Score:
    kind: str
    sizes: dict
    formula: Callable | None  # the oracle's score of one query and one key

    def make(self, **options):
        return adapter.make(self.kind, **self.sizes, **options)

    def score(self, parameters: dict) -> Callable:
        return partial(self.formula, **{name: x.tolist() for name, x in parameters.items()})


SIZES = {"query_size": D, "key_size": D}
COSINE = partial(oracle.cosine_score, temperature=0.75)
ATTENTIONS = {
    "dot": Score("DotProductAttention", {}, oracle.scaled_dot_score),
    "additive": Score("AdditiveAttention", {"num_hiddens": 5, **SIZES}, oracle.additive_score),
    "distance": Score("DistanceAttention", {}, oracle.distance_score),
    "bilinear": Score("BilinearAttention", SIZES, oracle.bilinear_score),
    "bilinear, rank 2": Score("BilinearAttention", {"rank": 2, **SIZES}, oracle.bilinear_score),
    "cosine": Score("CosineAttention", {"temperature": 0.75}, COSINE),
}
HEADS = {"num_hiddens": 6, "num_heads": 3, "value_size": V, **SIZES}
LAYERS = ATTENTIONS | {"heads": Score("MultiHeadAttention", HEADS, None)}


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Return normal numbers that float32 has, as float64."""
    drawn = np.random.default_rng([seed, len(shape)]).normal(size=shape)
    return drawn.astype(np.float32).astype(np.float64)


def batch(b=B, n=N, m=M, v=V, heads=()) -> list[np.ndarray]:
    """Return queries (b, n, D), keys (b, m, D) and values (b, m, v), or with heads."""
    shapes = (b, *heads, n, D), (b, *heads, m, D), (b, *heads, m, v)
    return [normal(*shape, seed=i) for i, shape in enumerate(shapes)]


def array_of(*shape: int, seed: int = 0, dtype: str = "float32"):
    return array(normal(*shape, seed=seed), dtype)


def arrays_of(*sizes, dtype: str = "float32", **named) -> list:
    return [array(x, dtype) for x in batch(*sizes, **named)]


settings.register_profile("book", derandomize=True, deadline=None, database=None, max_examples=40)
settings.load_profile("book")  # which draws the same lengths and masks at every run
INTEGERS = (None, "int64", "int32", "int8", "uint8", "uint16", "uint32", "uint64")


@st.composite
def lengths(draw, b: int, n: int, m: int):  # none, or a list or array of any integers
    if not (shape := draw(st.sampled_from([(), (b,), (b, n)]))):
        return None
    drawn = np.random.default_rng(draw(st.integers(0, 99))).integers(0, m + 1, shape)
    dtype = draw(st.sampled_from(INTEGERS))
    return array(drawn.astype(dtype)) if dtype else drawn.tolist()


@st.composite
def masks(draw, shape: tuple[int, ...]):  # none, or one that broadcasts to the shape
    if not adapter.MASKS_TAKEN or draw(st.booleans()):
        return None
    shape = tuple(1 if draw(st.booleans()) else size for size in shape)
    shape = shape[draw(st.integers(0, len(shape))) :]
    keep = np.random.default_rng(draw(st.integers(0, 99))).random(shape)
    return keep < draw(st.sampled_from([0.2, 0.7, 1.0]))
