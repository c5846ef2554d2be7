"""Takes from d2l 1.0.3 in JAX what tests and benchmarks compare, word for word from its source.

The module itself imports TensorFlow and pandas, and draws a random key, on its first lines.
"""

import ast
import importlib.util
import math
from pathlib import Path
from types import SimpleNamespace

import jax
from flax import linen
from jax import numpy as jnp

NAMES = ("masked_softmax", "DotProductAttention", "AdditiveAttention")


def from_source() -> SimpleNamespace:
    path = Path(importlib.util.find_spec("d2l").origin).with_name("jax.py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [part for part in tree.body if getattr(part, "name", None) in NAMES]
    found = {"jax": jax, "jnp": jnp, "nn": linen, "math": math, "__name__": "d2l.jax"}
    exec(compile(tree, path, "exec"), found)
    return SimpleNamespace(**{name: found[name] for name in NAMES})


d2l = from_source()
masked_softmax = d2l.masked_softmax


def attention(kind: str, arrays: list, lens, parameters: dict) -> tuple:
    """Return outputs and weights of D2L's layer, as tests/contract/test_peer_d2l.py asks."""
    sizes = [parameters["w_v"].shape[1]] if parameters else []
    layer = getattr(d2l, kind)(*sizes, dropout=0)
    variables = {"params": {name: {"kernel": p.T} for name, p in parameters.items()}}
    return layer.apply(variables, *arrays, lens)
