"""TensorFlow, as `tests/contract/framework.py` asks for it."""

import functools
import inspect
from types import SimpleNamespace

import keras
import tensorflow as tf

from d2l_attention import tensorflow as ours

tf.config.experimental.enable_tensor_float_32_execution(False)  # as on a CPU
DTYPES = ("float16", "bfloat16", "float32", "float64")
MASKS_TAKEN = ("int32",)  # of 0 and 1, as Keras's own
SIZES = {"queries_shape": "query_size", "keys_shape": "key_size", "values_shape": "value_size"}
OTHER_NAMES = {"log": tf.math.log, "flip": tf.reverse, "sum": tf.reduce_sum}
OTHER_NAMES["swapped"] = tf.linalg.matrix_transpose
OTHER_NAMES["vmap"] = lambda f: lambda *arrays: tf.vectorized_map(lambda row: f(*row), arrays)


def grad(function):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = function(x)
        return tape.gradient(result, x)

    return slope


xp = SimpleNamespace(**vars(tf) | OTHER_NAMES, grad=grad)
cast = tf.cast
constant = tf.stop_gradient


def make(kind: str, *sizes, dtype: str = "float32", **options):
    known = inspect.signature(getattr(ours, kind).__init__).parameters
    taken = {name: value for name, value in options.items() if name in known}
    layer = getattr(ours, kind)(*sizes, dtype=dtype, **taken)
    width = sizes[0] if sizes else options.get("num_hiddens")
    wanted = [SIZES[name] for name in inspect.signature(layer.build).parameters if name in SIZES]
    if wanted:
        layer.build(*((None, None, options.get(name) or width) for name in wanted))
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
    return functools.partial(layer, training=True)


def named(layer) -> dict:
    """Return the trainable weights as W_q, W_q.bias, log_ratio."""
    found = {}
    for weight in layer.trainable_weights:
        *_, owner, name = weight.path.split("/")
        found[{"kernel": owner, "bias": f"{owner}.bias"}.get(name, name)] = weight
    return found


def parameters(layer) -> dict:
    return {name: tf.transpose(value.value) for name, value in named(layer).items()}


def with_parameters(layer, values: dict):
    def called(queries, keys, inputs, valid_lens=None, **options):
        mapping = [(own, tf.transpose(values[name])) for name, own in named(layer).items()]
        with keras.StatelessScope(state_mapping=mapping):
            return layer(queries, keys, inputs, valid_lens=valid_lens, **options)

    return called


def compiled(function):
    traced = []

    @tf.function
    def program(*arguments):
        traced.append(None)
        return function(*arguments)

    return program, traced


def additive_scores(q, k, w_v, block=0):  # whose blocks are always one query
    return ours.additive_scores(q, k, w_v)


def devices(monkeypatch, gpus: int) -> list:
    """Return the CPU and the GPUs of a machine that seems to have so many."""
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind] * gpus)
    return ["/CPU:0", *(f"/GPU:{i}" for i in range(gpus))]
