"""What `temporary_bytes` counts in a graph, compared with counts by hand."""

import pytest
import tensorflow as tf

from d2l_attention import tensorflow as ours
from tests.contract.comparing import refuses

ONE = 64 * 64 * 4  # bytes of the tensor that all functions below are given
SMALL = 100  # bytes of counters and conditions


@tf.function
def inner(x):
    return tf.tanh(x @ x) + 1


@tf.function
def passing_on(x):
    return inner(x)


def twice_read(x):
    a, b = x + 1, x + 2
    return a * b * a  # with their product, three at a time


def chosen(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.tanh(x @ x) + x, lambda: x)


def in_array(x):
    array = tf.TensorArray(x.dtype, 3)
    for i in range(3):
        array = array.write(i, x + i)
    return tf.reduce_sum(array.stack(), 0)  # of three, and as many in the array


def one_of_two(x):
    return tf.switch_case(tf.cast(x[0, 0], tf.int32), [lambda: x + 1, lambda: tf.tanh(x @ x) + x])


def looped(x, rounds=3):
    return tf.foldl(lambda state, _: tf.tanh(state @ x), tf.range(rounds), x)


def trained(function, *options):
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(function(x, *options))
        return tape.gradient(loss, x)

    return gradient


@pytest.mark.parametrize(
    ("function", "tensors"),
    [
        (lambda x: x, 0),
        (lambda x: x + 1, 0),
        (lambda x: (x @ x) @ x, 1),
        (lambda x: (x + 1, tf.exp(x + 1)), 1),
        (lambda x: tf.reshape(tf.exp(x), (-1,)), 0),
        (lambda x: tf.reshape(tf.exp(x), (-1,))[None] * 2, 2),
        (lambda x: tf.identity(tf.reshape(x, (32, 128))) + 1, 0),
        (lambda x: tf.squeeze(tf.stop_gradient(tf.expand_dims(tf.exp(x), 0)), 0), 0),
        (lambda x: tf.identity_n([tf.exp(x)])[0], 0),
        (twice_read, 3),
        (inner, 2),
        (lambda x: inner(x) @ x, 2),
        (lambda x: passing_on(x) @ x, 2),
        (chosen, 2),
        (one_of_two, 2),
        (in_array, 6),
        (looped, 1),
        (lambda x: looped(x) @ x, 2),
        (lambda x: tf.map_fn(lambda row: tf.tanh(row), x), 2),  # rows apart, and their results
        (lambda x: tf.map_fn(tf.tanh, tf.reshape(x, (1, 64, 64))), 2),
        (
            lambda x: tf.foldl(
                lambda s, part: s + tf.reduce_sum(part), tf.reshape(x, (1, 64, 64)), 0.0
            ),
            1,
        ),
    ],
)
def test_bytes_are_those_between_arguments_and_results(function, tensors):
    held = ours.temporary_bytes(function, tf.ones((64, 64)))
    assert tensors * ONE <= held <= tensors * ONE + (3 * 64 * 4 + SMALL) * (tensors > 0)


def test_constants_and_variables_are_not_made_on_the_way():
    x = tf.ones((64, 64))
    w = tf.Variable(x)
    one = tf.constant(1.0, shape=(64, 64))
    assert ours.temporary_bytes(lambda x: (x @ w.value()) + one, x) == ONE
    assert ours.temporary_bytes(lambda x: x @ tf.constant(1.0, shape=(64, 64)), x) == 0
    assert ours.temporary_bytes(lambda x: x @ w, x) == 0


def test_a_type_counts_by_its_size():
    x = tf.ones((64, 64), tf.float64)
    assert ours.temporary_bytes(lambda x: (x @ x) @ x, x) == 2 * ONE
    assert ours.temporary_bytes(lambda x: tf.cast(x > 0, x.dtype), x) == ONE // 4


@pytest.mark.parametrize("wrap", [lambda function: function, tf.function])
def test_the_gradient_of_a_loop_holds_what_every_round_has_computed(wrap):
    x = tf.ones((64, 64))
    held = [ours.temporary_bytes(trained(wrap(looped), rounds), x) for rounds in (5, 25)]
    rest = [size - 2 * rounds * ONE for size, rounds in zip(held, (5, 25), strict=True)]
    assert 4 * ONE <= rest[0] <= 6 * ONE + SMALL  # beside a state and its tanh for each round
    assert rest[0] <= rest[1] <= rest[0] + 20 * SMALL


def test_what_cannot_be_counted_is_refused():
    def some(x):
        return tf.boolean_mask(x, x > 0) * 2 + 1

    def unknown_rounds(x):
        for _ in tf.range(tf.cast(x[0, 0], tf.int32)):
            x = tf.tanh(x @ x)
        return x

    x = tf.ones((64, 64))
    refuses(ours.temporary_bytes, ValueError, "every size must be known", some, x)
    refuses(ours.temporary_bytes, ValueError, "how often", trained(unknown_rounds), x)
    assert ours.temporary_bytes(unknown_rounds, x) >= ONE
