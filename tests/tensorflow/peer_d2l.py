"""Takes from d2l 1.0.3 in TensorFlow what tests and benchmarks compare, word for word.

The module itself imports packages that the book does not need on its first lines.
"""

import ast
import importlib.util
from pathlib import Path
from types import SimpleNamespace

import tensorflow as tf

NAMES = ("masked_softmax", "DotProductAttention", "AdditiveAttention")


def from_source() -> SimpleNamespace:
    path = Path(importlib.util.find_spec("d2l").origin).with_name("tensorflow.py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [part for part in tree.body if getattr(part, "name", None) in NAMES]
    found = {"tf": tf, "__name__": "d2l.tensorflow"}
    exec(compile(tree, path, "exec"), found)
    return SimpleNamespace(**{name: found[name] for name in NAMES})


d2l = from_source()
masked_softmax = d2l.masked_softmax


def attention(kind: str, arrays: list, lens, parameters: dict) -> tuple:
    """Return outputs and weights of D2L's layer, as tests/contract/test_peer_d2l.py asks."""
    sizes = [None, None, parameters["w_v"].shape[1]] if parameters else []
    layer = getattr(d2l, kind)(*sizes, dropout=0)
    if parameters:
        for name, matrix in parameters.items():
            linear = getattr(layer, name)
            linear.build((None, matrix.shape[1]))
            linear.kernel.assign(tf.transpose(matrix))
    output = layer(*arrays, lens)
    return output, layer.attention_weights
