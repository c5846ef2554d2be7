"""How the cases run in TensorFlow."""

import keras
import tensorflow as tf

from d2l_attention import tensorflow as ours
from tools.benchmarks import d2l_of

d2l = d2l_of("tensorflow.py", tf=tf, Module=keras.Model)
COMPILED, MEMORY, memory = "graph", "temporary MiB, with XLA", ours.temporary_bytes
array, compiled = tf.constant, tf.function


def functions(kind: str, inputs: tuple) -> dict:
    if kind == "masked softmax":
        of = {"d2l": d2l.masked_softmax, "ours": ours.masked_softmax}
        return of | {"no mask": lambda x, _: tf.nn.softmax(x)}
    if kind == "dot product":
        own = ours.DotProductAttention()
        of = {"d2l": d2l.DotProductAttention(0.0), "ours": own}
        of["ours, with weights"] = lambda *x: own(*x, need_weights=True)[0]
        return of | {"keras.layers.Attention": built_in}
    theirs = d2l.AdditiveAttention(128, 128, 128, 0.0)
    return {"d2l": theirs, "ours": ours.AdditiveAttention(128)}


def built_in(queries, keys, values, lens):
    keep, root = tf.sequence_mask(lens, keys.shape[1]), queries.shape[-1] ** 0.5
    return keras.layers.Attention()([queries / root, values, keys], mask=[None, keep])


def gradient(function, *inputs):
    with tf.GradientTape() as tape:
        tape.watch(inputs[:-1])
        total = tf.reduce_sum(function(*inputs))
    return tape.gradient(total, inputs[:-1])


def finish(result) -> None:
    tf.test.experimental.sync_devices()
