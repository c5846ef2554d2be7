"""tf.function, XLA and GradientTape see the same functions as an eager call, traced once."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from d2l_attention import tensorflow as ours
from tests.contract.comparing import close, refuses
from tests.contract.samples import MASKS, NAN
from tests.tensorflow.cases import LAYERS, B, D, M, N, V, batch, layer_of, normal

LENS = tf.constant([[2, 4], [0, 3], [1, 1]])  # three minibatches of two examples
every_layer = pytest.mark.parametrize("name", LAYERS)
OPEN = [tf.TensorSpec((None, None, size)) for size in (D, D, V)]  # queries, keys, values
LENGTHS = tf.TensorSpec((None,), tf.int32)


# ---- graphs


@every_layer
@pytest.mark.parametrize("compiled", [False, True])
def test_a_graph_gives_the_same_outputs_and_weights_and_is_traced_once(name, compiled):
    layer, arrays = layer_of(name), batch()

    @tf.function(jit_compile=compiled)
    def call(lens, *arrays):
        return layer(*arrays, lens, need_weights=True)

    for lens in LENS:
        want = layer(*arrays, lens, need_weights=True)
        for got, eager in zip(call(lens, *arrays), want, strict=True):
            close(got, eager)
    assert call.experimental_get_tracing_count() == 1


@every_layer
def test_one_graph_with_open_sizes_serves_every_batch(name):
    layer = layer_of(name)
    call = tf.function(lambda lens, *arrays: layer(*arrays, lens), input_signature=[LENGTHS, *OPEN])
    for b, n, m in ((2, 3, 4), (1, 1, 7), (5, 2, 1), (2, 0, 4), (0, 3, 4)):
        arrays = batch(b, n, m)
        lens = tf.range(b) % (m + 1)
        close(call(lens, *arrays), layer(*arrays, lens))
    assert call.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("lens", [(None,), (None, None)])
def test_one_graph_of_the_softmax_serves_every_batch_with_lengths_of_any_kind(lens):
    signature = [tf.TensorSpec((None,) * 3), tf.TensorSpec(lens, tf.int32)]
    softmax = tf.function(ours.masked_softmax, input_signature=signature)
    for b, n, m in ((2, 3, 4), (1, 1, 7), (0, 2, 2)):
        X, given = normal(b, n, m), tf.ones((b,) if len(lens) == 1 else (b, n), tf.int32)
        close(softmax(X, given), ours.masked_softmax(X, given))
    assert softmax.experimental_get_tracing_count() == 1


def test_eager_calls_with_other_sizes_trace_additive_scores_no_more_than_twice():
    layer = layer_of("additive")
    layer(*batch(1, 1, 1))
    before = ours.score_each.experimental_get_tracing_count()
    for sizes in ((2, 3, 4), (3, 4, 5), (4, 5, 6), (1, 7, 2), (5, 1, 3)):
        layer(*batch(*sizes))
    assert ours.score_each.experimental_get_tracing_count() - before <= 2


@pytest.mark.parametrize("mask", ["(n, m)", "(b, 1, m)"])
def test_a_graph_takes_masks(mask):
    X, keep = normal(B, N, M), tf.constant(MASKS[mask])
    close(tf.function(ours.masked_softmax)(X, None, keep), ours.masked_softmax(X, None, keep))


def test_a_graph_checks_shapes_and_types_of_lengths_but_not_their_range():
    X, softmax = normal(B, N, M), tf.function(ours.masked_softmax)
    assert softmax(X, tf.constant([9, 2])).shape == X.shape
    refuses(softmax, ValueError, "must have shape (2,)", X, tf.constant([1, 2, 3]))
    message = "valid_lens must hold integers, got float32"
    refuses(softmax, TypeError, message, X, tf.constant([1.0, NAN]))
    refuses(softmax, ValueError, "must lie in 0..4, got 2..9", X, [9, 2])  # a list has values


@every_layer
def test_a_layer_may_get_its_parameters_inside_a_graph(name):
    layer, x = type(layer_of(name)).from_config(layer_of(name).get_config()), normal(B, N, 6)
    call = tf.function(lambda x: layer(x, x, x))
    close(call(x), layer(x, x, x))
    close(call(x), layer(x, x, x))


# ---- gradients


def slopes(function, sources):
    with tf.GradientTape() as tape:
        tape.watch(sources)
        total = tf.reduce_sum(function(*sources) ** 2)
    return tape.gradient(total, sources)


@every_layer
@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_inside_and_outside_of_a_graph_are_the_same(name, compiled):
    layer, arrays = layer_of(name), batch()

    def call(*arrays):
        return layer(*arrays, valid_lens=[4, 0])

    want = slopes(call, arrays)
    inside = tf.function(lambda *arrays: slopes(call, list(arrays)), jit_compile=compiled)
    results = [inside(*arrays)]
    if not compiled:  # a tape outside of XLA cannot follow a loop inside
        results += [slopes(tf.function(call), arrays)]
    for got in results:
        for one, other in zip(got, want, strict=True):
            close(one, other, 1e-4)


EMPTY = [[0, 2, 3], [4, 1, 0]]  # lengths
SMOOTH = {  # function, and which arrays it takes
    "masked_softmax": (lambda X: ours.masked_softmax(X, EMPTY), "X"),
    "additive_scores": (ours.additive_scores, "qkw"),
    "pairwise_distances": (lambda q, k: ours.pairwise_distances(q[0], k[0] + 3), "qk"),
    "unit_vectors": (ours.unit_vectors, "q"),
}


@pytest.mark.parametrize(("function", "names"), SMOOTH.values(), ids=SMOOTH)
def test_first_derivatives_are_those_of_finite_differences(function, names):
    arrays = dict(zip("qkv", batch(dtype="float64"), strict=True))
    arrays |= {"X": normal(B, N, M, dtype="float64"), "w": normal(3, dtype="float64")}
    given = [arrays[name] for name in names]
    theory, practice = tf.test.compute_gradient(function, given)
    for one, other in zip(theory, practice, strict=True):
        close(one, other, 1e-6)


def test_second_derivatives_of_the_softmax_are_those_of_finite_differences():
    X = normal(B, N, M, dtype="float64")

    def slope(X):
        with tf.GradientTape() as tape:
            tape.watch(X)
            total = tf.reduce_sum(ours.masked_softmax(X, EMPTY) ** 2)
        return tape.gradient(total, X)

    (theory,), (practice,) = tf.test.compute_gradient(slope, [X])
    assert np.isfinite(theory).all()
    close(theory, practice, 1e-6)


def test_weights_are_differentiated_like_any_output():
    queries, keys, values = batch()

    def of_layer(queries):
        return ours.DotProductAttention()(queries, keys, values, need_weights=True)[1]

    def by_hand(queries):
        return tf.nn.softmax(tf.matmul(queries, keys, transpose_b=True) / D**0.5)

    close(slopes(of_layer, [queries])[0], slopes(by_hand, [queries])[0])


# ---- the cache


@pytest.mark.parametrize("compiled", [False, True])
def test_one_graph_fits_every_length_of_the_cache(compiled):
    x = normal(B, 6, 8)
    layer, cache = ours.MultiHeadAttention(8, 4), ours.KeyValueCache(B, 4, 6, 2)
    want = layer(x, x, x, causal=True)

    @tf.function(jit_compile=compiled)
    def step(token):
        return layer(token, token, token, causal=True, cache=cache)

    for i in range(6):
        close(step(x[:, i : i + 1])[:, 0], want[:, i])
    assert step.experimental_get_tracing_count() == 1


def test_a_cache_without_room_is_refused_and_left_alone():
    layer, x = ours.MultiHeadAttention(8, 4), normal(B, 4, 8)
    cache = ours.KeyValueCache(B, 4, 6, 2)
    layer(x, x, x, cache=cache)
    keys = cache.keys.numpy()
    message = "cache has 6 places, 4 taken: no room for 4 more tokens"
    for lens in (None, tf.constant([6, 6])):
        refuses(layer, ValueError, message, x, x, x, lens, cache=cache)
    close(cache.keys, keys, 0)
    assert int(cache.length) == 4
    small, message = ours.KeyValueCache(B, 4, 2, 2), "cache has 2 places: no room for 4 more tokens"
    refuses(tf.function(lambda x: layer(x, x, x, cache=small)), ValueError, message, x)


# ---- what is held


def test_additive_scores_hold_one_query_of_each_example_at_a_time():
    arrays = [tf.zeros((1, 256, 8)), tf.zeros((1, 256, 8)), tf.zeros(8)]

    def training(*arrays):
        return slopes(ours.additive_scores, list(arrays))

    table = 256 * 256 * 8 * 4
    assert ours.temporary_bytes(training, *arrays) < table / 2


# ---- Keras as a graph of layers


@every_layer
def test_a_functional_model_with_open_sizes_equals_the_layer(name):
    layer, arrays = layer_of(name), batch()
    inputs = [keras.Input((None, size)) for size in (D, D, V)]
    lens = keras.Input((), dtype="int32")
    model = keras.Model([*inputs, lens], layer(*inputs, lens))
    for row in LENS:
        close(model([*arrays, row]), layer(*arrays, row))
    assert model.output_shape[:2] == (None, None)
