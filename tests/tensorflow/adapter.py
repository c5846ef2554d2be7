"""What the contract must know of TensorFlow: how layers are made, called, and given parameters."""

import functools
import inspect
from types import SimpleNamespace

import keras
import tensorflow as tf

from d2l_attention import tensorflow as ours

tf.config.experimental.enable_tensor_float_32_execution(False)  # as on a CPU
DTYPES = ("float16", "bfloat16", "float32", "float64")
OWN_NAMES = {"temporary_bytes"}  # beside those that every module has
CALL = "call"
OWN_ARGUMENTS = {"tensor", "tensors", "seed", "options", "training", "keys_mask", "shared"}
OWN_ARGUMENTS |= {"query_size", "key_size"}  # the first call takes them
OWN_ARGUMENTS_OF = {"KeyValueCache": {"b", "num_heads", "m", "d", "dtype"}}  # its size is fixed
FEWER_ARGUMENTS_OF = {"additive_scores": {"block"}}
MASKS_TAKEN = {"integers"}  # of 0 and 1, as Keras's own


def nansum(array, axis):
    return tf.reduce_sum(tf.where(tf.math.is_nan(array), 0.0, array), axis)


xp = SimpleNamespace(
    vmap=lambda f: lambda *arrays: tf.vectorized_map(lambda row: f(*row), arrays),
    where=tf.where,
    exp=tf.exp,
    log=tf.math.log,
    tanh=tf.tanh,
    flip=tf.reverse,
    einsum=tf.einsum,
    nansum=nansum,
    amax=tf.reduce_max,
    sum=tf.reduce_sum,
    asarray=tf.convert_to_tensor,
    concatenate=tf.concat,
    maximum=tf.maximum,
    swapped=tf.linalg.matrix_transpose,
)


def cast(array, dtype: str):
    return tf.cast(array, dtype)


def constant(array):
    """Return the same numbers without a gradient."""
    return tf.stop_gradient(array)


def make(kind: str, *sizes, dtype: str = "float32", **options):
    """Return a layer with the same parameters at each call; sizes of inputs build it."""
    public = getattr(ours, kind)
    known = inspect.signature(public.__init__).parameters
    given = {name: value for name, value in options.items() if name in known}
    layer = public(*sizes, dtype=dtype, **given)
    default = sizes[0] if sizes else given.get("num_hiddens")
    inputs = {"queries_shape": "query_size", "keys_shape": "key_size", "values_shape": "value_size"}
    wanted = [name for name in inputs if name in inspect.signature(layer.build).parameters]
    if wanted:
        layer.build(*((None, None, options.get(inputs[name]) or default) for name in wanted))
    for number, weight in enumerate(layer.trainable_weights):
        if weight.name != "log_ratio":  # a bias begins as zeros, which would show no mistake
            drawn = tf.random.stateless_normal(weight.shape, (0, number))
            weight.assign(tf.cast(drawn / len(weight.shape), weight.dtype))
    return layer


def call(layer, *inputs, need_weights: bool, **options):
    """Return outputs and weights, None where they were not asked for; lists go by name."""
    result = by_name(layer)(*inputs, need_weights=need_weights, **options)
    return result if need_weights else (result, None)


def by_name(layer):
    """Return a function that gives the layer its lengths by name, so that they may be a list."""

    def called(queries, keys, values, valid_lens=None, mask=None, **options):
        return layer(queries, keys, values, valid_lens=valid_lens, mask=mask, **options)

    return called


def named(layer) -> dict:
    """Return the trainable weights as W_q, W_q.bias, log_ratio."""
    found = {}
    for weight in layer.trainable_weights:
        *_, owner, name = weight.path.split("/")
        found[{"kernel": owner, "bias": f"{owner}.bias"}.get(name, name)] = weight
    return found


def parameters(layer) -> dict:
    """Return the parameters: W_q is a matrix (outputs, inputs), W_q.bias its bias."""
    return {name: tf.transpose(value.value) for name, value in named(layer).items()}


def with_parameters(layer, values: dict):
    """Return a function that calls the layer with other parameters, named as above."""
    own = named(layer)

    def called(queries, keys, inputs, valid_lens=None, **options):
        mapping = [(own[name], tf.transpose(values[name])) for name in own]  # a vector stays
        with keras.StatelessScope(state_mapping=mapping):
            return layer(queries, keys, inputs, valid_lens=valid_lens, **options)

    return called


def in_training(layer):
    return functools.partial(layer, training=True)


def compiled(function):
    """Return a function as one program, and a list with an entry for each time it was traced."""
    traced = []

    @tf.function
    def program(*arguments):
        traced.append(None)
        return function(*arguments)

    return program, traced


def for_all_sizes(layer, *example):
    """Return a program of (queries, keys, values, lens) for any number of each."""
    *arrays, lens = example
    signature = [tf.TensorSpec((None, None, x.shape[2]), x.dtype) for x in arrays]
    return tf.function(layer, input_signature=[*signature, tf.TensorSpec((None,), lens.dtype)])


def additive_scores(q, k, w_v, block=0):
    """Return the scores, whose blocks are always one query."""
    return ours.additive_scores(q, k, w_v)
