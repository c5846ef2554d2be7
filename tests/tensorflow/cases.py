"""Layers under test and their inputs as tensors of TensorFlow."""

import keras
import tensorflow as tf

from tests.contract import samples
from tests.tensorflow.adapter import make

B, N, M, D, V = samples.B, samples.N, samples.M, samples.D, samples.V
SIZES = {"query_size": D, "key_size": D, "value_size": V}
HEADS = samples.Score("MultiHeadAttention", {"num_hiddens": 6, "num_heads": 3, **SIZES}, None)
LAYERS = samples.ATTENTIONS | {"heads": HEADS}


def layer_of(name: str, **options) -> keras.layers.Layer:
    """Return a layer with the same parameters at each call."""
    return make(LAYERS[name].kind, **LAYERS[name].sizes, **options)


def normal(*shape: int, seed: int = 0, dtype: str = "float32") -> tf.Tensor:
    return tf.constant(samples.normal(*shape, seed=seed), dtype)


def batch(*sizes, dtype: str = "float32", **named) -> list[tf.Tensor]:
    return [tf.constant(x, dtype) for x in samples.batch(*sizes, **named)]
