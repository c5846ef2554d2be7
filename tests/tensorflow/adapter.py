"""TensorFlow, as `tests/contract/framework.py` asks for it."""

import inspect
from types import SimpleNamespace

import tensorflow as tf

from d2l_attention import tensorflow as ours

tf.config.experimental.enable_tensor_float_32_execution(False)  # as on a CPU
DTYPES = ("float16", "bfloat16", "float32", "float64")
MASKS_TAKEN = ("bool", "int32")
OTHER_NAMES = {"log": tf.math.log, "flip": tf.reverse, "sum": tf.reduce_sum}
OTHER_NAMES["swapped"] = tf.linalg.matrix_transpose
OTHER_NAMES["vmap"] = lambda f: lambda *arrays: tf.vectorized_map(lambda row: f(*row), arrays)

xp = SimpleNamespace(**vars(tf) | OTHER_NAMES)
cast = tf.cast
constant = tf.stop_gradient
compiled = tf.function


def make(kind: str, *sizes, dtype: str = "float32", **options):
    known = inspect.signature(getattr(ours, kind).__init__).parameters
    taken = {name: value for name, value in options.items() if name in known}
    layer = getattr(ours, kind)(*sizes, dtype=dtype, **taken)
    width = sizes[0] if sizes else options.get("num_hiddens", 1)
    of_inputs = (options.get(name) or width for name in ("query_size", "key_size", "value_size"))
    layer(*(tf.zeros((1, 1, size)) for size in of_inputs))
    for number, weight in enumerate(layer.trainable_weights):
        if weight.name != "log_ratio":  # a bias begins as zeros, which would show no mistake
            drawn = tf.random.stateless_normal(weight.shape, (0, number))
            weight.assign(tf.cast(drawn / len(weight.shape), weight.dtype))
    return layer


def call(layer, queries, keys, values, valid_lens=None, *, need_weights: bool, **options):
    options |= {"valid_lens": valid_lens, "need_weights": need_weights}  # a list goes by name
    result = layer(queries, keys, values, **options)
    return result if need_weights else (result, None)


def in_training(layer):
    return lambda *inputs, **options: layer(*inputs, training=True, **options)


def named(layer) -> dict:
    weights = layer.trainable_weights
    paths = (x.path.replace("/kernel", "").replace("/bias", ".bias") for x in weights)
    return dict(zip((path.rpartition("/")[2] for path in paths), weights, strict=True))


def parameters(layer) -> dict:
    return {name: tf.transpose(value.value) for name, value in named(layer).items()}


def slopes(layer, arrays, lens, **options):
    sources = [*arrays, *(weight.value for weight in named(layer).values())]
    with tf.GradientTape() as tape:
        tape.watch(arrays)
        squares = layer(*arrays, valid_lens=lens, **options) ** 2
    found = tape.gradient(squares, sources, unconnected_gradients="zero")
    return [*found[:3], *map(tf.transpose, found[3:])]


def additive_scores(q, k, w_v, block=0):  # whose blocks are always one query
    return ours.additive_scores(q, k, w_v)


def devices(monkeypatch, gpus: int) -> list:
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind] * gpus)
    return ["/CPU:0", *(f"/GPU:{i}" for i in range(gpus))]
