"""Measures d2l, this book's functions and Keras's own in TensorFlow, eagerly and as graphs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import keras
import numpy as np
import tensorflow as tf

from benchmarks.d2l_source import d2l_of
from benchmarks.measure import Measured, measure
from d2l_attention import tensorflow as ours

d2l = d2l_of("tensorflow.py", tf=tf, Module=keras.Model)
PACKAGES = ("tensorflow", "keras", "d2l")


@dataclass
class Case:
    """Functions of the same inputs; the first one is what the others are compared with."""

    title: str
    functions: dict[str, Callable]  # from the inputs to the output
    inputs: tuple
    gradients: bool = False

    def measured(self, functions: dict[str, Callable]) -> dict[str, Measured]:
        calls = {name: partial(f, *self.inputs) for name, f in functions.items()}
        return measure(calls, not gpu_name())


def gpu_name() -> str:
    """Return the name of the GPU that computes, or nothing."""
    gpus = tf.config.list_physical_devices("GPU")
    details = tf.config.experimental.get_device_details
    return details(gpus[0]).get("device_name", "GPU") if gpus else ""


def rows() -> Iterator[dict]:
    """Measure every case eagerly and as a graph."""
    for case in cases():
        passes = {"forward": case.functions}
        if case.gradients:
            passes["gradient"] = {name: slopes(f) for name, f in case.functions.items()}
        for name, functions in passes.items():
            graphs = {each: tf.function(function) for each, function in functions.items()}
            for way, these in ((f"{name}, eager", functions), (f"{name}, graph", graphs)):
                for each, measured in case.measured(these).items():
                    more = {"temporary MiB": ""}
                    if these is graphs:
                        size = ours.temporary_bytes(functions[each], *case.inputs)
                        more = {"temporary MiB": f"{size / 2**20:.3g}"}
                    yield {"titles": (case.title, way, each), "measured": measured, "more": more}


def slopes(function: Callable) -> Callable:
    """Return the function that gives the gradient of all floating-point inputs."""

    def gradient(*inputs):
        sources = [x for x in inputs if x.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            total = tf.reduce_sum(function(*inputs))
        return tape.gradient(total, sources)

    return gradient


def cases() -> Iterator[Case]:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> tf.Tensor:
        return tf.constant(rng.normal(size=shape), tf.float32)

    def lengths(m: int, *shape: int) -> tf.Tensor:
        return tf.constant(rng.integers(1, m + 1, shape), tf.int32)

    b, n, m, d = 8, 512, 512, 64
    scores = normal(b, n, m)
    softmaxes = {
        "d2l": d2l.masked_softmax,
        "ours": ours.masked_softmax,
        "no mask": lambda scores, lens: tf.nn.softmax(scores),
    }
    yield Case(f"masked softmax {scores.shape}, lengths (b,)", softmaxes, (scores, lengths(m, b)))
    yield dot_product_case(normal(b, n, d), normal(b, m, d), normal(b, m, d), lengths(m, b))
    b, n, m, h = 4, 256, 512, 128
    yield additive_case(normal(b, n, h), normal(b, m, h), normal(b, m, h), lengths(m, b))


def dot_product_case(*inputs: tf.Tensor) -> Case:
    """Return the case of these queries, keys, values and lengths."""
    theirs, own = d2l.DotProductAttention(0.0), ours.DotProductAttention()
    of_keras = keras.layers.Attention()
    b, n, d = inputs[0].shape
    m = inputs[1].shape[1]

    def builtin(queries, keys, values, lens):
        keep = tf.sequence_mask(lens, m)
        return of_keras([queries / d**0.5, values, keys], mask=[None, keep])

    return Case(
        f"dot product {(b, n, m)}, d={d}",
        {
            "d2l": theirs,
            "ours": own,
            "ours, with weights": partial(own, need_weights=True),
            "keras.layers.Attention": builtin,
        },
        inputs,
    )


def additive_case(*inputs: tf.Tensor) -> Case:
    b, n, h = inputs[0].shape
    theirs, own = d2l.AdditiveAttention(h, h, h, 0.0), ours.AdditiveAttention(h)
    return Case(
        f"additive {(b, n, inputs[1].shape[1])}, h={h}",
        {"d2l": theirs, "ours": own},
        inputs,
        gradients=True,
    )
